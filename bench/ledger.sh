#!/bin/sh
# Measures what docs/performance.md says of verifying a ledger; bench/append.sh measures appending. Everything is made and removed in a temporary directory.
#
#   bench/ledger.sh [RECEIPTS]     100,000 by default, which needs about 1 GB of disk and some minutes
#
# "cold" means that nothing is remembered from before; the files are in the system's cache, for both sides alike.
set -eu
cd "$(dirname "$0")/.."
n=${1:-100000}
git=$(command -v git)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM

echo "# $(date -u +%F), $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(free -g | awk '/^Mem:/ {print $2}') GB, load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "# $($git --version), $(go version | cut -d' ' -f3), referee $(git rev-parse --short HEAD)"
go build -o "$dir/genledger" ./bench/genledger

seconds() { # runs a command and prints the name, wall and processor seconds (its own and its children's)
    name=$1; shift
    python3 - "$name" "$@" <<'PY'
import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(["sh", "-c", sys.argv[2]], check=True, stdout=subprocess.DEVNULL)
wall = time.monotonic() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{sys.argv[1]:<34} {wall:7.2f} s wall {used.ru_utime + used.ru_stime:7.2f} s processor   {used.ru_maxrss // 1024:5d} MiB the largest process")
PY
}

big=$dir/$n.git
$git init -q --bare "$big"
"$dir/genledger" -receipts "$n" | $git --git-dir="$big" fast-import --quiet --done
$git --git-dir="$big" ls-tree -r ledger:receipts | awk '{print $3}' > "$dir/ids"
echo "# a ledger of $n receipts of $($git --git-dir="$big" cat-file --batch-check='%(objectsize)' < "$dir/ids" | awk '{s += $1} END {printf "%.1f", s / NR / 1024}') KiB, $($git --git-dir="$big" rev-list --count ledger) commits, $(du -sm "$big" | cut -f1) MB packed"

echo "## verify, cold; beside it git cat-file --batch | sha256sum over the same receipts"
for i in 1 2 3; do
    seconds "referee, with git" "'$dir/genledger' -verify '$big' -git '$git'"
    seconds "git cat-file --batch | sha256sum" "'$git' --git-dir='$big' cat-file --batch < '$dir/ids' | sha256sum"
done
"$dir/genledger" -verify "$big" -git "$git"
seconds "referee, without git" "'$dir/genledger' -verify '$big'"
"$dir/genledger" -verify "$big"

echo "## verify since a pin"
"$dir/genledger" -since "$big" -git "$git"
"$dir/genledger" -since "$big"

if command -v jq > /dev/null; then
    echo "## sha256sum and jq alone, over the first 10,000 receipts"
    mkdir "$dir/files"
    $git --git-dir="$big" archive ledger receipts/000 | tar -xm -C "$dir/files"
    find "$dir/files" -name '0000*.json' | sort | head -10000 > "$dir/list"
    seconds "xargs sha256sum" "xargs sha256sum < '$dir/list' | awk '{n = split(\$2, p, \"/\"); if (substr(p[n], 11, 64) != \$1) {print \$2; exit 1}}'"
    seconds "jq, the chain" "xargs cat < '$dir/list' | jq -n -e -r 'reduce inputs as \$r (-1; if \$r.seq == . + 1 and \$r.log.count == \$r.seq then \$r.seq else error(\"seq\") end)'"
fi
