#!/usr/bin/env python3
"""Checks META.json against the PGXN meta spec 1.0.0 and against the tree; prints what is wrong, and fails then."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Semantic versions, as the spec wants them: three numbers, perhaps a suffix.
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([a-zA-Z][-0-9A-Za-z]*|-[0-9A-Za-z.-]+)?")
TERM = re.compile(r"[^\s/\\\x00-\x1f]{2,}")
LICENSES = {"agpl_3", "apache_1_1", "apache_2_0", "artistic_1", "artistic_2", "bsd", "freebsd", "gfdl_1_2", "gfdl_1_3",
            "gpl_1", "gpl_2", "gpl_3", "lgpl_2_1", "lgpl_3_0", "mit", "mozilla_1_0", "mozilla_1_1", "openssl", "perl_5",
            "postgresql", "qpl_1_0", "ssleay", "sun", "zlib", "open_source", "restricted", "unrestricted", "unknown"}
SPEC = "https://pgxn.org/meta/spec.txt"
REQUIRED = {"abstract", "maintainer", "license", "provides", "name", "version", "meta-spec"}
OPTIONAL = {"description", "generated_by", "tags", "no_index", "prereqs", "release_status", "resources"}
PHASES = {"configure", "build", "test", "runtime", "develop"}
RELATIONS = {"requires", "recommends", "suggests", "conflicts"}


def is_text(value):
    return isinstance(value, str) and value.strip() != ""


def texts(value):
    """A text, or a list of them: as a list, [] if it is neither."""
    values = value if isinstance(value, list) else [value]
    return values if values and all(is_text(one) for one in values) else []


def check_keys(meta):
    yield from (f"{key} is missing" for key in REQUIRED - meta.keys())
    yield from (f"{key} is not of the spec" for key in meta.keys() - REQUIRED - OPTIONAL
                if not key.lower().startswith("x_"))


def check_values(meta):
    if not TERM.fullmatch(meta["name"]):
        yield "name"
    for key in ("abstract", "description"):
        if key in meta and not is_text(meta[key]):
            yield key
    if not VERSION.fullmatch(meta["version"]):
        yield "version is not a semantic version"
    if not texts(meta["maintainer"]):
        yield "maintainer"
    if not set(texts(meta["license"])) & LICENSES or set(texts(meta["license"])) - LICENSES:
        yield "license"
    if meta.get("release_status", "stable") not in ("stable", "testing", "unstable"):
        yield "release_status"
    if any(not is_text(tag) or len(tag) > 255 or "/" in tag or "\\" in tag for tag in meta.get("tags", [])):
        yield "tags"
    spec = meta["meta-spec"]
    if spec.get("version") != "1.0.0" or spec.get("url", SPEC) != SPEC:
        yield "meta-spec"


def check_prereqs(meta):
    for phase, relations in meta.get("prereqs", {}).items():
        if phase not in PHASES or not relations.keys() <= RELATIONS:
            yield f"prereqs: {phase}"
            continue
        for relation in relations.values():
            yield from (f"prereqs: {term} {version}" for term, version in relation.items()
                        if not TERM.fullmatch(term) or not (version == 0 or VERSION.fullmatch(str(version))))


def check_provides(meta):
    if not meta["provides"]:
        yield "provides is empty"
    for name, extension in meta["provides"].items():
        control = ROOT / f"{name}.control"
        if not control.exists():
            yield f"{control.name} is not there"
            continue
        default, = re.findall(r"^default_version = '(.*)'", control.read_text(), re.MULTILINE)
        if not extension.get("version") == meta["version"] == default:
            yield f"{name}: version {extension.get('version')}, distribution {meta['version']}, default {default}"
        if extension.get("file") != f"src/{name}--{default}.sql":
            yield f"{name}: file is {extension.get('file')}"
        yield from (f"{name}: {key} {extension[key]} is not there" for key in ("file", "docfile")
                    if key in extension and not (ROOT / extension[key]).is_file())
        if not TERM.fullmatch(name) or not is_text(extension.get("abstract", "-")):
            yield f"{name}: abstract"


def faults():
    meta = json.loads((ROOT / "META.json").read_text())
    missing = list(check_keys(meta))
    if missing:
        return missing
    return [fault for check in (check_values, check_prereqs, check_provides) for fault in check(meta)]


if __name__ == "__main__":
    found = faults()
    print("\n".join(f"META.json: {fault}" for fault in found), file=sys.stderr, end="\n" if found else "")
    sys.exit(1 if found else 0)
