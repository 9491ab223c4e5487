"""Multiplies one non-zero result of each submission by a factor, written with all the product's decimals, and checks the flags that follow
(S2): 1.005 none, 1.015 low, 1.05 mid, 1.2 high. Usage: perturb.py SUBMISSIONS OUT | perturb.py --check OUT"""
import json
import sys
from decimal import Decimal

FACTORS = {"1.005": None, "1.015": "low", "1.05": "mid", "1.2": "high"}


def write(source, out):
    total = 0
    for factor in FACTORS:
        with open(source, encoding="utf-8") as f, open(f"{out}/gsm8k-{factor}.jsonl", "w", encoding="utf-8") as g, open(f"{out}/gsm8k-{factor}.where", "w") as w:
            for line in f:
                calculations = json.loads(line, parse_float=Decimal)["calculations"]
                for i, c in enumerate(calculations):
                    if c["result"] == 0:
                        continue
                    submission = json.loads(line, parse_float=Decimal)
                    product = Decimal(c["result"]) * Decimal(factor)
                    submission["calculations"][i]["result"] = f"@{product}@"
                    text = json.dumps(submission, default=lambda number: f"@{number}@")
                    g.write(text.replace('"@', "").replace('@"', "") + "\n")
                    w.write(f"{i}\n")
                    total += 1
    print(f"perturbed: {total} submissions")


def check(out):
    for factor, tier in FACTORS.items():
        with open(f"{out}/perturbed-{factor}") as f, open(f"{out}/gsm8k-{factor}.where") as w:
            for n, (line, i) in enumerate(zip(f, w, strict=True), 1):
                got = [(x["tier"], x["pointer"]) for x in json.loads(line)["findings"] if x["stage"] == "math"]
                want = [(tier, f"/calculations/{int(i)}/result")] if tier else []
                if got != want:
                    sys.exit(f"factor {factor}, line {n}: {got}, expected {want}")
        print(f"factor {factor}: {n} submissions, each {tier or 'without a flag'}")


if sys.argv[1] == "--check":
    check(sys.argv[2])
else:
    write(sys.argv[1], sys.argv[2])
