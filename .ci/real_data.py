"""Holds reports on the published data sets to the expected outcome of each record. Usage: real_data.py DATA REPORTS"""
import json
import sys

data, out = sys.argv[1:]


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def math_flags(report):
    return [(f["code"], f["tier"]) for f in report["findings"] if f["stage"] == "math"]


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, expected {want!r}")
    print(f"{what}: {got}")


expected = lines(f"{data}/tatqa_dev.expected.jsonl")
reports = lines(f"{out}/tatqa")
check("tatqa reports", len(reports), 717)
high = [i + 1 for i, r in enumerate(reports) if ("math.mismatch", "high") in math_flags(r)]
check("tatqa high math flags on the records that are 10 % off", high, [e["line"] for e in expected if "ge_10pct" in e["calculations"]])
check("tatqa other math flags", [f for r in reports for f in math_flags(r) if f != ("math.mismatch", "high")], [("math.coarse_rounding", "low")])

reports = lines(f"{out}/gsm8k")
check("gsm8k reports", len(reports), 500)
check("gsm8k calculations", sum(len(s["calculations"]) for s in lines(f"{data}/gsm8k_train_500.jsonl")), 1665)
check("gsm8k math flags", [f for r in reports for f in math_flags(r)], [])

submissions, reports = lines(f"{data}/mlperf_v07_600.jsonl"), lines(f"{out}/mlperf")
check("mlperf reports", len(reports), 600)
check("mlperf throughputs", sum(len(s["calculations"]) for s in submissions), 128)
check("mlperf math flags", [f for r in reports for f in math_flags(r)], [])
status = [c["status"] for s, r in zip(submissions, reports) if s["calculations"] for c in r["checks"] if c["id"] in ("math.samples_per_second", "math.rederivation")]
check("mlperf statuses of re-derived throughputs", sorted(set(status)), ["pass"])
