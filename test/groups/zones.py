#!/usr/bin/env python3
"""Days and hours of moments with a time zone (doc/formulas.md, 8.11), in all zones that the server knows, where their clocks are turned.

First by arithmetic, over all turns: no day since 1900 lies between two multiples of 12 hours of UTC, no hour since 1970 between two of 15
minutes; and what one turn leaves out no other does within two weeks, so that two days have all hours and two weeks all weekdays. Then through the server, at a turn of each zone: the groups that are listed are those that the minutes around the turn have.
"""
import pathlib
import struct
import sys

from run import DATABASE, Tap, Connection, ROLE, prepare

ZONEINFO = pathlib.Path("/usr/share/zoneinfo")
SINCE_1900, SINCE_1970, UNTIL_2037 = -2208988800, 0, 2114380800
DAY, HOUR, MINUTE = 86400, 3600, 60


def turns(data):
    """Moments at which the offset changes: (moment, offset before, offset from then on), in seconds."""
    def header(at):
        return struct.unpack(">6l", data[at + 20:at + 44])
    isgmt, isstd, leaps, times, types, letters = header(0)
    at = 44 + times * 5 + types * 6 + letters + leaps * 8 + isstd + isgmt
    isgmt, isstd, leaps, times, types, letters = header(at)
    at += 44
    moments = struct.unpack(f">{times}q", data[at:at + 8 * times])
    kinds = data[at + 8 * times:at + 9 * times]
    at += 9 * times
    offsets = [struct.unpack(">l", data[at + 6 * i:at + 6 * i + 4])[0] for i in range(types)]
    before = offsets[0]
    for moment, kind in zip(moments, kinds):
        if offsets[kind] != before:
            yield moment, before, offsets[kind]
        before = offsets[kind]


def missed(turn, length, step):
    """Stretches of local time around a turn that no multiple of step meets, and whose value no other moment has."""
    moment, before, after = turn
    first, last = moment - 3 * DAY, moment + 3 * DAY
    cuts = {moment} | {at - before for at in range((first + before) // length * length, moment + before, length) if first <= at - before < moment}
    cuts |= {at - after for at in range((moment + after) // length * length, last + after, length) if moment <= at - after < last}
    met, all_values = set(), set()
    for begin, end in zip(sorted(cuts), sorted(cuts)[1:]):
        value = (begin + (before if begin < moment else after)) // length
        all_values.add(value)
        if -(-begin // step) * step < end:
            met.add(value)
    return all_values - met


def is_odd(turn):
    moment, before, after = turn
    return (after - before) % HOUR != 0 or (moment + before) % HOUR != 0


def leave_out_twice(all_turns):
    """Turns forward that come within two weeks of the one before, or leave out more than a day."""
    forward = [turn for turn in all_turns if turn[2] > turn[1]]
    return [turn for before, turn in zip([(-10 ** 10, 0, 0)] + forward, forward) if turn[0] - before[0] < 14 * DAY or turn[2] - turn[1] > DAY]


def chosen(all_turns):
    late = [turn for turn in all_turns if SINCE_1970 < turn[0] < UNTIL_2037]
    return ([turn for turn in late if is_odd(turn)] or late)[-1:]


def lists_differ(owner, analyst, zone, turn):
    low, high = turn[0] - 30 * HOUR - 7 * MINUTE, turn[0] + 30 * HOUR + 11 * MINUTE
    owner.must(f"SELECT dp_set_bounds('z', 'at', to_timestamp({low}), to_timestamp({high}))")
    series = f"(SELECT to_timestamp({low} + {MINUTE} * i) AS at FROM generate_series(0, {(high - low) // MINUTE}) i) s"
    for key in (f"date_trunc('hour', at AT TIME ZONE '{zone}')", f"(at AT TIME ZONE '{zone}')::date"):
        shown = {row[0] for row in analyst.must(f"SELECT {key}, count(*) FROM z_dp GROUP BY 1")}
        possible = {row[0] for row in owner.must(f"SELECT DISTINCT {key} FROM {series}")}
        if shown != possible:
            yield f"{zone}, {key} around {turn}: {sorted(shown ^ possible)[:3]}"


def main():
    owner, analyst = prepare()
    owner.must("CREATE TABLE z (at timestamptz NOT NULL); SELECT dp_protect('z', 'z_dp'); SELECT dp_set_odometer('z', 'none')")
    owner.must(f"SELECT dp_grant('z_dp', '{ROLE}', tau => 0, candidates => '{{0.001}}', epsilon_max => 0.001)")
    tap, seen, days, hours, lists, twice, count = Tap(), set(), [], [], [], [], 0
    for (zone,) in owner.must("SELECT name FROM pg_timezone_names WHERE name !~ '^(posix|right)' ORDER BY 1"):
        path = ZONEINFO / zone
        data = path.read_bytes() if path.is_file() else b""
        if not data.startswith(b"TZif") or data in seen:
            continue
        seen.add(data)
        all_turns = [turn for turn in turns(data) if SINCE_1900 < turn[0] < UNTIL_2037]
        count += len(all_turns)
        days += [f"{zone} {turn}" for turn in all_turns if missed(turn, DAY, 12 * HOUR)]
        hours += [f"{zone} {turn}" for turn in all_turns if turn[0] > SINCE_1970 and missed(turn, HOUR, 15 * MINUTE)]
        twice += [f"{zone} {turn}" for turn in leave_out_twice([turn for turn in all_turns if turn[0] > SINCE_1970])]
        for turn in chosen(all_turns):
            lists += lists_differ(owner, analyst, zone, turn)
    print(f"# {len(seen)} zones, {count} turns of their clocks")
    tap.report("there are zones", [] if len(seen) > 200 else [f"{len(seen)}"])
    tap.report("each day since 1900 has a multiple of 12 hours", days)
    tap.report("each hour since 1970 has a multiple of 15 minutes", hours)
    tap.report("no two turns since 1970 leave out an hour within two weeks, or one a day and more", twice)
    tap.report("hours and days around a turn are those that minutes have", lists)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
