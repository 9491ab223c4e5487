#!/usr/bin/env python3
"""A second computation of `referee summary` over predictions of three models for the three FLY-EVAL++ tasks.

  python3 summary.py DIR

writes samples, gold and records, and what the summary of each model and task must hold, into DIR:
  TASK.samples.jsonl  TASK.gold.jsonl  TASK.records.jsonl  summary.expected.json     TASK is s1, m1 or m3

The models add noise to each field of the right answer, 0.1, 0.25 and 0.45 of its largest step; the second one answers
every tenth question with words. Facts are counted by reference.py. Errors are decimals. Percentiles are nearest-rank:
the smallest value with at least p per cent of the values at or below it. Rates of what is right are rounded down, rates
of what is wrong are rounded up, both to one decimal. Standard library only; the same files at every run.
"""
import json
import random
import sys
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import reference

MODELS = {"sigma-0.2": 0.2, "sigma-0.5-words": 0.5, "sigma-0.9": 0.9}
SAMPLES, WITHOUT_GOLD = 40, 4
SHEETS = {"s1": "fly-s1-next-second", "m1": "fly-m1-window", "m3": "fly-m3-trajectory"}
WORDS = "I cannot say."


def noisy(rng, sigma, state):
    return {f: round(v + rng.gauss(0, sigma / 2) * reference.FIELDS[f][2], 6) for f, v in state.items()}


def error(field, x, y):
    d = abs(Decimal(str(x)) - Decimal(str(y)))
    if field in reference.ANGLES:
        d = min(d % 360, 360 - d % 360)
    return d


def floor_percent(n, d):
    return float(Fraction(n * 1000 // d, 10))


def ceil_percent(n, d):
    return float(Fraction(-(-n * 1000 // d), 10))


def spread(values):
    """n, mean, the nearest-rank percentiles and the greatest of a list."""
    values = sorted(values)

    def rank(p):
        at = 1
        while at * 100 < p * len(values):
            at += 1
        return float(values[at - 1])

    mean = sum(Fraction(v) for v in values) / len(values)
    rounded = (Decimal(mean.numerator) / Decimal(mean.denominator)).quantize(Decimal("0.000001"), ROUND_HALF_EVEN)
    return {"n": len(values), "mean": float(rounded), "p50": rank(50), "p95": rank(95), "p99": rank(99),
            "max": float(values[-1])}


def tail(answers):
    """Errors of answers: by field, of whole answers in percent of the limits, and how many exceed those."""
    if not answers:
        return None
    fields, means, over = {}, [], 0
    for predicted, gold in answers:
        shares = []
        for p, g in zip(predicted, gold):
            for f in reference.FIELDS:
                d = error(f, p[f], g[f])
                limit = Decimal(str(reference.FIELDS[f][2]))
                shares.append(Fraction(d) / Fraction(limit) * 100)
                one = fields.setdefault(f, {"values": [], "exceeding": 0})
                one["values"].append(d)
                one["exceeding"] += d > limit
        means.append(sum(shares) / len(shares))
    out = {"samples": len(answers), "mean_error": spread(means), "fields": {}}
    for f, one in fields.items():
        out["fields"][f] = dict(spread(one["values"]), exceeding=one["exceeding"],
                                exceedance=ceil_percent(one["exceeding"], len(one["values"])))
        over += one["exceeding"]
    count = sum(len(one["values"]) for one in fields.values())
    return dict(out, errors=count, exceeding=over, exceedance=ceil_percent(over, count))


# failure mode: the families of facts whose failure it is. Words instead of an answer are a failure of the protocol.
MODES = {"invalid_number": {"numeric_validity"}, "implausible_value": {"range_sanity"},
         "discontinuity": {"jump_dynamics"}, "contradiction": {"cross_field_consistency", "physics_constraint"},
         "unsafe_state": {"safety_constraint"}}


def summarise(answers):
    """Of one model and task: answers are (predicted or None, gold or None, facts or None)."""
    n = len(answers)
    held = [a for a in answers if a[0] is not None]
    eligible = [a for a in held if a[2].count("critical") == 0]
    families = {}
    for _, _, facts in held:
        for family, outcomes in facts.by.items():
            one = families.setdefault(family, {"held": 0, "warning": 0, "critical": 0})
            for o in outcomes:
                one["held" if o == "pass" else o] += 1
    for one in families.values():
        one["rate"] = floor_percent(one["held"], sum(one.values()))
    modes = {"protocol_failure": n - len(held)}
    for mode, of in MODES.items():
        modes[mode] = sum(any(o != "pass" for f in of for o in a[2].by.get(f, [])) for a in held)
    with_gold = [(p, g) for p, g, _ in held if g]
    return {"samples": n, "readable": len(held), "eligible": len(eligible), "availability": floor_percent(len(held), n),
            "eligibility": floor_percent(len(eligible), n), "families": families,
            "failure_modes": {m: {"samples": k, "rate": ceil_percent(k, n)} for m, k in modes.items()},
            "conditional_error": tail([(p, g) for p, g, _ in eligible if g]), "available_error": tail(with_gold)}


def make(folder, task):
    rng = random.Random("referee summary " + task)
    count = 3 if task == "m3" else 1
    samples, golds, records, truth, out = [], [], [], {}, {}
    for i in range(SAMPLES):
        name = f"{task}-{i:06d}"
        window = [reference.cruise(rng) for _ in range(1 if task == "s1" else 3)]
        gold = [reference.cruise(rng) for _ in range(count)]
        truth[name] = window[-1], gold, i < SAMPLES - WITHOUT_GOLD
        samples.append({"id": name, "current_second": window[0]} if task == "s1" else {"id": name, "window": window})
        if truth[name][2]:
            golds.append({"id": name, "next_second": gold[0]} if count == 1 else {"id": name, "next_seconds": gold})
    for model, sigma in MODELS.items():
        answers = []
        for i, (name, (before, gold, known)) in enumerate(truth.items()):
            predicted = [noisy(rng, sigma, g) for g in gold]
            answer = {f: [s[f] for s in predicted] for f in reference.FIELDS} if count == 3 else predicted[0]
            words = model.endswith("words") and i % 10 == 0
            records.append({"id": name, "question": "What comes next?", "response": WORDS if words else
                            json.dumps(answer), "model": model, "timestamp": "2026-11-01T10:00:00Z"})
            facts = None if words else reference.judge(before, predicted)
            answers.append((None if words else predicted, gold if known else None, facts))
        out[model] = summarise(answers)
    reference.write(folder, task, "samples", samples)
    reference.write(folder, task, "gold", golds)
    reference.write(folder, task, "records", records)
    return out


if __name__ == "__main__":
    expected = {SHEETS[task]: make(sys.argv[1], task) for task in SHEETS}
    with open(f"{sys.argv[1]}/summary.expected.json", "w") as file:
        json.dump(expected, file)
