#!/bin/sh
# Says of each file whether it is canonical, with jq 1.6 or later and nothing else but cmp and wc.
#
#     sh check.sh FILE...      prints "ok FILE" or "refused FILE: reason"; exit 1 if any is refused
#
# Three looks, because jq's comparison (the bytes equal `jq -cS .`) does not see everything:
#   wc       the size
#   jq -cS   white space, order, duplicate keys, escapes, invalid UTF-8 and lone surrogates (jq replaces them, so the
#            bytes differ), byte order mark, trailing bytes, NaN
#   check.jq what jq -cS prints as it came: -0, 1.0, integers beyond 2^53 (jq 1.7 keeps the token), U+2028, U+2029,
#            bidirectional controls and non-characters, null, keys, depth, a root that is no object
# Nothing of the corpus is left unseen: both runners must reach the verdicts of index.json.
here=$(dirname "$0")
status=0

reason() {
	[ "$(wc -c <"$1")" -le 262144 ] || { echo "too long"; return; }
	why=$(jq -s -f "$here/check.jq" "$1" 2>&1 >/dev/null) || { echo "${why:-jq: not JSON}" | head -n 1; return; }
	jq -cjS . "$1" 2>/dev/null | cmp -s - "$1" || echo "not the bytes that jq -cS gives"
}

for file in "$@"; do
	why=$(reason "$file")
	if [ -z "$why" ]; then
		echo "ok $file"
	else
		echo "refused $file: $why"
		status=1
	fi
done
exit $status
