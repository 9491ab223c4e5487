#!/bin/sh
# Measures appending as docs/performance.md reports it: on this machine, and over loopback by git http-backend. Every receipt is of a pull
# request of its own. Everything is made and removed in a temporary directory.
#
#   bench/append.sh [RECEIPTS...]     10 1000 100000 1000000 by default: about 1.5 GB of disk, and ten minutes on an idle machine
#
# A ledger of 1,000 and more is measured again 500 entries earlier, where its newest directories are half full. The tree of a ledger is all
# that an append meets of its size, so the older receipts are small ones, and 5,000 of them are in one commit.
# The ledger is packed with a reverse index, as git 2.41 and later do by themselves: without one, every request makes git sort all objects.
set -eu
cd "$(dirname "$0")/.."
test $# -gt 0 || set -- 10 1000 100000 1000000
git=$(command -v git)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM

echo "# $(date -u +%F), $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(free -g | awk '/^Mem:/ {print $2}') GB, load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "# $($git --version), $(go version | cut -d' ' -f3), referee $(git rev-parse --short HEAD)"
go build -o "$dir/genledger" ./bench/genledger
for size; do
    $git init -q --bare "$dir/$size.git"
    $git --git-dir="$dir/$size.git" config http.receivepack true
    $git --git-dir="$dir/$size.git" config uploadpack.allowFilter true
    "$dir/genledger" -receipts "$size" -per 1 -findings 1 -together 5000 | $git --git-dir="$dir/$size.git" fast-import --quiet --done
    $git --git-dir="$dir/$size.git" -c pack.writeReverseIndex=true repack -adq
done
for round in 1 2 3; do
    for size; do
        for drop in 0 500; do
            test "$drop" -eq 0 || test "$size" -ge 1000 || continue
            echo "## round $round, load $(cut -d' ' -f1 /proc/loadavg): on this machine; over git http-backend"
            "$dir/genledger" -append "$dir/$size.git" -git "$git" -per 1 -drop "$drop"
            "$dir/genledger" -append "$dir/$size.git" -git "$git" -per 1 -drop "$drop" -http
        done
    done
done
