#!/usr/bin/env python3
"""Turns the commands of a dry run of make, on standard input, into a compilation database (compile_commands.json)."""
import json
import os
import re
import shlex
import sys

entries = []
for line in sys.stdin:
    source = re.search(r" -c (?:-o \S+ )?(\S+\.cpp)\b", line)
    if source:
        entries.append({"directory": os.getcwd(), "file": source[1], "arguments": shlex.split(line.split("&&")[-1])})
json.dump(entries, sys.stdout, indent=1)
