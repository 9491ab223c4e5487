#!/bin/sh
# The same work in referee, conftest and opa: a schema, three recomputed calculations and six gates over N submissions of 1.6 KB
# (default 1,000), each tool the fastest of R runs (default 5), and then one document cold, a hundred times. Prints markdown tables.
# All are built as their releases are, without cgo; conftest and opa are installed through the Go module proxy into bench/.peers, at
# the versions below.
#
# What the peers do not do is left out, not added: no decimals (Rego computes in floats), no positions, no proof, no evidence.
set -eu
cd "$(dirname "$0")/.."
n=${1:-1000}
runs=${2:-5}
conftest=v0.71.1
opa=v1.22.2
peers=$PWD/bench/.peers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export CGO_ENABLED=0
go build -trimpath -o "$work/referee" ./cmd/referee
go build -o "$work/make" ./bench/make
mkdir -p "$peers"
[ -x "$peers/conftest" ] || GOBIN=$peers go install github.com/open-policy-agent/conftest@$conftest
[ -x "$peers/opa" ] || GOBIN=$peers go install github.com/open-policy-agent/opa@$opa

mkdir "$work/docs"
"$work/make" "$n" "$work/docs"
"$work/make" "$n" - > "$work/docs.jsonl"

# measure NAME WANT PATTERN COMMAND…: the least wall time, processor time and peak memory of the runs. The output must hold PATTERN as
# often as there are wrong numbers, so that no tool is fast by not looking.
measure() {
	name=$1 want=$2 count=$3
	shift 3
	: > "$work/times"
	for _ in $(seq "$runs"); do
		/usr/bin/time -a -o "$work/times" -f '%e %U %S %M' sh -c '"$@" > "$0" 2> /dev/null || true' "$work/out" "$@"
	done
	figures=$(awk 'NR == 1 || $1 < wall {wall = $1} NR == 1 || $2 + $3 < cpu {cpu = $2 + $3} NR == 1 || $4 < peak {peak = $4}
		END {printf "%.2f | %.2f | %d", wall, cpu, peak / 1024}' "$work/times")
	got=$(grep -o "$count" "$work/out" | wc -l)
	[ "$got" -eq "$want" ] || { echo "compare: $name finds $got wrong numbers, not $want" >&2; exit 1; }
	printf '| %s | %s | %s |\n' "$name" "$figures" "$got"
}

wrong=$((n / 4))
sheet="--flight-sheets bench/sheets --sheet bench-deal --format json"
cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
printf '%s, %s CPUs, %s, %s\n\n' "${cpu:-$(uname -m)}" "$(nproc)" "$(go env GOVERSION)" "$(date -u +%Y-%m-%d)"
printf '| %s submissions | seconds | processor seconds | peak MB | wrong numbers found |\n| --- | --- | --- | --- | --- |\n' "$n"
# The words are the tools' own flags: they must be split.
# shellcheck disable=SC2086
measure "referee, one .jsonl" "$wrong" '"code":"math.mismatch","rule_ids"' "$work/referee" audit "$work/docs.jsonl" $sheet
# shellcheck disable=SC2086
measure "referee, $n files" "$wrong" '"code":"math.mismatch","rule_ids"' "$work/referee" audit "$work"/docs/*.json $sheet
measure "conftest $conftest, $n files" "$wrong" 'claims [0-9.]*; recomputed' "$peers/conftest" test --no-color --output json --policy bench/conftest "$work"/docs/*.json
measure "opa $opa exec, $n files" "$wrong" 'claims [0-9.]*; recomputed' "$peers/opa" exec --bundle bench/conftest --decision main/deny "$work"/docs

# cold NAME COMMAND…: the least and the median of a hundred starts, in milliseconds, by the clock around the process.
cold() {
	name=$1
	shift
	python3 - "$name" "$@" <<'PY'
import subprocess, sys, time
def once():
    start = time.monotonic()
    subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return 1e3 * (time.monotonic() - start)
times = sorted(once() for _ in range(100))
print(f"| {sys.argv[1]} | {times[0]:.1f} | {times[50]:.1f} |")
PY
}

one=$(ls "$work"/docs/*.json | head -1)
printf '\n| one document, cold | least, ms | median, ms |\n| --- | --- | --- |\n'
# shellcheck disable=SC2086
cold "referee" "$work/referee" audit "$one" $sheet
cold "of that, starting" "$work/referee" version
cold "conftest $conftest" "$peers/conftest" test --no-color --output json --policy bench/conftest "$one"
cold "opa $opa exec" "$peers/opa" exec --bundle bench/conftest --decision main/deny "$one"
