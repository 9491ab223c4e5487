#!/usr/bin/env python3
"""Says of each file whether it is canonical, with Python's standard library alone.

    python3 check.py FILE…       prints "ok FILE" or "refused FILE: reason"; exit 1 if any is refused

A file is canonical if Python's own writer gives back its bytes (sorted keys, no white space, no \\u beyond controls)
and the values keep to the profile: that is where Python's writer is laxer (-0, integers beyond 2^53, U+2028, null).
"""
import json
import re
import sys

MAX_BYTES, MAX_DEPTH, MAX_INT = 262144, 16, 2**53 - 1
KEY = re.compile(r"[a-z][a-z0-9_]*\Z", re.ASCII)
FORBIDDEN = re.compile("[\x7f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef"
                       + "".join(map(chr, (p << 16 | n for p in range(17) for n in (0xFFFE, 0xFFFF)))) + "]")


class Refused(Exception):
    pass


def pairs(members):
    keys = [k for k, _ in members]
    if len(set(keys)) != len(keys):
        raise Refused("duplicate key")
    return dict(members)


def number(token):
    raise Refused("number %s is no integer" % token[:40])


def integer(token):
    if token == "-0" or len(token) > 17 or abs(int(token)) > MAX_INT:
        raise Refused("integer %s" % token[:40])
    return int(token)


def profile(value, depth):
    if value is None:
        raise Refused("null")
    if isinstance(value, str) and FORBIDDEN.search(value):
        raise Refused("forbidden code point")
    if isinstance(value, (dict, list)):
        if depth > MAX_DEPTH:
            raise Refused("too deep")
        if isinstance(value, dict) and not all(KEY.match(k) for k in value):
            raise Refused("key")
        for item in value.values() if isinstance(value, dict) else value:
            profile(item, depth + 1)


def check(data):
    if len(data) > MAX_BYTES:
        raise Refused("too long")
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_float=number,
                           parse_int=integer, parse_constant=number)
    except (ValueError, RecursionError) as err:
        raise Refused(str(err))
    if not isinstance(value, dict):
        raise Refused("no object")
    profile(value, 1)
    again = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    if again != data:
        raise Refused("not the bytes that json.dumps gives")


def main(files):
    refused = 0
    for name in files:
        with open(name, "rb") as f:
            data = f.read()
        try:
            check(data)
            print("ok", name)
        except Refused as err:
            refused += 1
            print("refused %s: %s" % (name, ascii(str(err))))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
