#!/usr/bin/env python3
"""A second computation of FLY-EVAL++ for the sheets fly-s1-next-second, fly-m1-window and fly-m3-trajectory.

  python3 reference.py DIR

writes samples, gold, records that are wrong in known ways, and what each record must come to, into DIR:
  TASK.samples.jsonl  TASK.gold.jsonl  TASK.records.jsonl  TASK.expected.jsonl     TASK is s1, m1 or m3

It shares no code and no data with the engine: limits, steps and scores are stated here, from the paper and the facts in
docs/sources.md. Standard library only; the same files at every run.
"""
import json
import math
import random
import sys

# field: lowest, highest, largest step in a second, value of the level cruise that all samples are near
FIELDS = {
    "Latitude (WGS84 deg)": (-90, 90, 0.002, 40.1003),
    "Longitude (WGS84 deg)": (-180, 180, 0.002, -88.1994),
    "GPS Altitude (WGS84 ft)": (0, 10000, 67, 3520),
    "GPS Ground Track (deg true)": (0, 360, 20, 88),
    "Magnetic Heading (deg)": (0, 360, 20, 84),
    "GPS Velocity E (m/s)": (-130, 130, 5, 51.4),
    "GPS Velocity N (m/s)": (-130, 130, 5, 1.8),
    "GPS Velocity U (m/s)": (-20, 20, 4, 0.5),
    "GPS Ground Speed (kt)": (0, 250, 10, 100),
    "Roll (deg)": (-60, 60, 15, 4),
    "Pitch (deg)": (-30, 30, 6, 3),
    "Turn Rate (deg/sec)": (-20, 20, 10, 0.6),
    "Slip/Skid": (-1, 1, 1, 0.02),
    "Normal Acceleration (G)": (-2, 4, 0.8, 1.02),
    "Lateral Acceleration (G)": (-1, 1, 0.4, 0.01),
    "Vertical Speed (fpm)": (-4000, 4000, 600, 110),
    "Indicated Airspeed (kt)": (-2, 200, 12, 104),
    "Baro Altitude (ft)": (-1500, 20000, 100, 3310),
    "Pressure Altitude (ft)": (-1500, 20000, 100, 3402),
}
ANGLES = {"GPS Ground Track (deg true)", "Magnetic Heading (deg)"}
ALT, BARO = "GPS Altitude (WGS84 ft)", "Baro Altitude (ft)"
TRACK, SPEED = "GPS Ground Track (deg true)", "GPS Ground Speed (kt)"
EAST, NORTH, UP = "GPS Velocity E (m/s)", "GPS Velocity N (m/s)", "GPS Velocity U (m/s)"
VS, IAS, PITCH, ROLL = "Vertical Speed (fpm)", "Indicated Airspeed (kt)", "Pitch (deg)", "Roll (deg)"
MAE_KNOTS = [(0, 100), (5, 90), (20, 70), (50, 50), (100, 30), (200, 15), (300, 5)]
RMSE_KNOTS = [(0, 100), (10, 90), (50, 70), (100, 50), (200, 30), (300, 15), (400, 5)]
KT_PER_MS = 1.94384


def cruise(rng, spread=0.02):
    """A state near the level cruise: each field within spread of its largest step."""
    return {f: round(value + rng.uniform(-spread, spread) * step, 6) for f, (_, _, step, value) in FIELDS.items()}


def apart(field, x, y):
    d = abs(x - y)
    if field in ANGLES:
        d = d % 360
        d = min(d, 360 - d)
    return d


def graded(ratio, critical=1.5):
    """pass, warning or critical, of a value that is this many times what is allowed."""
    return "pass" if ratio <= 1 else "warning" if ratio <= critical else "critical"


def beyond(d, warn, critical):
    return "pass" if d <= warn else "warning" if d <= critical else "critical"


def if_not(holds, severity):
    return "pass" if holds else severity


class Facts:
    """Verified facts by family."""

    def __init__(self):
        self.by = {}

    def add(self, family, *outcomes):
        self.by.setdefault(family, []).extend(outcomes)

    def count(self, outcome):
        return sum(list(v).count(outcome) for v in self.by.values())

    def constraint(self):
        held, warned, failed = (self.count(o) for o in ("pass", "warning", "critical"))
        return 100 * 0.5 * held / (0.5 * held + warned + 3 * failed)


def single(facts, state):
    """Facts about one second."""
    for f, (low, high, _, _) in FIELDS.items():
        facts.add("numeric_validity", graded(abs(state[f]) / 1e6))
        facts.add("range_sanity", graded(abs(state[f] - (low + high) / 2) / ((high - low) / 2)))


def steps(facts, family, before, after, factor=1):
    for f, (_, _, step, _) in FIELDS.items():
        facts.add(family, graded(apart(f, before[f], after[f]) / (step * factor)))


def relations(facts, states):
    """Facts between the fields of each second. A task of several seconds grades all by the worst of them."""
    def each(family, distance, warn, critical):
        worst = max(distance(s) for s in states)
        severity = "critical" if worst > critical else "warning"
        facts.add(family, *["pass" if distance(s) <= warn else severity for s in states])

    each("cross_field_consistency", lambda s: abs(s[ALT] - s[BARO]), 500, 1000)
    each("cross_field_consistency", lambda s: abs(s[SPEED] - KT_PER_MS * math.hypot(s[EAST], s[NORTH])), 5, 15)
    each("cross_field_consistency",
         lambda s: apart(TRACK, s[TRACK], math.degrees(math.atan2(s[EAST], s[NORTH]))), 10, 30)
    each("safety_constraint", lambda s: -s[VS], 2000, 3000)
    for s in states:
        facts.add("safety_constraint",
                  if_not(30 <= s[IAS] <= 180, "critical"),
                  if_not(not (s[IAS] < 50 and s[PITCH] > 15 and s[VS] < 500), "critical"),
                  if_not(-1000 <= s[ALT] <= 15000, "critical"))
        facts.add("physics_constraint",
                  if_not(abs(s[ROLL]) <= 60 and abs(s[PITCH]) <= 60, "critical"),
                  if_not(abs(s[VS]) <= (2000 if s[ALT] < 1000 else 5000), "warning"),
                  if_not(abs(s[PITCH]) <= 15 or abs(s[UP]) >= 0.05 * abs(s[PITCH]), "warning"))


def judge(before, predicted):
    """All facts about the predicted seconds after a known one."""
    facts = Facts()
    for state in predicted:
        single(facts, state)
    steps(facts, "jump_dynamics", before, predicted[0])
    for a, b in zip(predicted, predicted[1:]):
        steps(facts, "jump_dynamics", a, b)
        steps(facts, "physics_constraint", a, b, factor=2)
    relations(facts, predicted)
    if len(predicted) > 1:
        climb = (predicted[-1][ALT] - predicted[0][ALT]) / (len(predicted) - 1) * 60
        mean = sum(s[VS] for s in predicted) / len(predicted)
        facts.add("physics_constraint", if_not(abs(climb - mean) <= 600, "warning"))
    return facts


def by_segments(knots, x):
    if x >= knots[-1][0]:
        return knots[-1][1]
    for (x0, y0), (x1, y1) in zip(knots, knots[1:]):
        if x <= x1:
            return y0 + (x - x0) * (y1 - y0) / (x1 - x0)


def errors(predicted, gold):
    """Errors in percent of the largest step: mean, root of the mean square, and the score of both."""
    all_ = [100 * apart(f, p[f], g[f]) / FIELDS[f][2] for p, g in zip(predicted, gold) for f in FIELDS]
    mae = sum(all_) / len(all_)
    rmse = math.sqrt(sum(e * e for e in all_) / len(all_))
    return mae, rmse, 0.6 * by_segments(MAE_KNOTS, mae) + 0.4 * by_segments(RMSE_KNOTS, rmse)


# names of the derived values that hold the error of each field in its own unit, in the order of FIELDS
ERROR_NAMES = ["lat", "lon", "gps_alt", "track", "hdg", "ve", "vn", "vu", "gs", "roll", "pitch", "turn", "slip", "nacc",
               "lacc", "vs", "ias", "baro_alt", "press_alt"]


def raw_errors(predicted, gold):
    """Errors as the source pools them: unlike units in one mean, angles not wrapped; and by field, shortest arc."""
    pooled = [abs(p[f] - g[f]) for p, g in zip(predicted, gold) for f in FIELDS]
    mae = sum(pooled) / len(pooled)
    rmse = math.sqrt(sum(e * e for e in pooled) / len(pooled))
    by_field = {"error_" + name: sum(apart(f, p[f], g[f]) for p, g in zip(predicted, gold)) / len(gold)
                for name, f in zip(ERROR_NAMES, FIELDS)}
    return mae, rmse, 0.6 * by_segments(MAE_KNOTS, mae) + 0.4 * by_segments(RMSE_KNOTS, rmse), by_field


def protocol(answer, count):
    """Values present, of those asked for, and whether the answer has the length asked for. answer: {field: list}."""
    have = sum(min(len(answer.get(f, [])), count) for f in FIELDS)
    longest = max((len(v) for v in answer.values()), default=0)
    return have, len(FIELDS) * count, longest == count


def cut(length):
    def change(answer):
        for f in answer:
            answer[f] = (answer[f] + answer[f])[:length]
    return change


def ragged(answer):
    answer[ALT] = answer[ALT][:-1]


def without(*fields):
    def change(answer):
        for f in fields:
            del answer[f]
    return change


# answers that can be read and are not what was asked for: what each does to the lists of a right answer
MISSHAPEN = {
    "leaves-roll-out": without(ROLL),
    "leaves-angles-out": without(*ANGLES),
}
MISSHAPEN_SERIES = {
    "two-seconds": cut(2),
    "four-seconds": cut(4),
    "one-second": cut(1),
    "ragged-altitude": ragged,
}


def moved(**by):
    names = {"alt": ALT, "baro": BARO, "track": TRACK, "speed": SPEED, "vs": VS, "ias": IAS, "pitch": PITCH,
             "roll": ROLL, "up": UP}

    def change(states):
        for s in states:
            for k, v in by.items():
                s[names[k]] = v(s[names[k]]) if callable(v) else v
    return change


def plus(d):
    return lambda x: round(x + d, 6)


def last_only(change):
    return lambda states: change(states[-1:])


# the models: what each does to a right answer
WRONG = {
    "exact": lambda states: None,
    "a-little-high": moved(alt=plus(9), ias=plus(1.5)),
    "far-off": moved(alt=plus(60), vs=plus(400), pitch=plus(4)),
    "altitude-jumps": moved(alt=plus(90)),
    "altitude-leaps": moved(alt=plus(140)),
    "baro-drifts": moved(baro=plus(-320)),
    "baro-wrong": moved(baro=plus(-900)),
    "speed-drifts": moved(speed=plus(8)),
    "speed-wrong": moved(speed=plus(20)),
    "track-drifts": moved(track=plus(14)),
    "descends": moved(vs=-2400),
    "dives": moved(vs=-3200),
    "too-fast": moved(ias=190),
    "stalls": moved(ias=45, pitch=18, vs=300),
    "upside-down": moved(roll=70),
    "pitch-without-climb": moved(pitch=16),
    "out-of-range": moved(roll=-75),
    "last-second-high": last_only(moved(alt=plus(75))),
}
SAMPLES = 7


def write(folder, task, name, rows):
    with open(f"{folder}/{task}.{name}.jsonl", "w") as out:
        for row in rows:
            out.write(json.dumps(row, separators=(",", ":")) + "\n")


def make(folder, task):
    rng = random.Random("referee " + task)
    count = 3 if task == "m3" else 1
    samples, golds, records, expected = [], [], [], []
    truth = {}
    for i in range(SAMPLES):
        name = f"{task}-{i:06d}"
        window = [cruise(rng) for _ in range(1 if task == "s1" else 3)]
        gold = [cruise(rng) for _ in range(count)]
        truth[name] = window[-1], gold
        samples.append({"id": name, "current_second": window[0]} if task == "s1" else {"id": name, "window": window})
        if i < SAMPLES - 1:  # the last one has no gold
            golds.append({"id": name, "next_second": gold[0]} if count == 1 else {"id": name, "next_seconds": gold})
    known = {g["id"] for g in golds}
    for model, wrong in WRONG.items():
        for name, (before, gold) in truth.items():
            predicted = [dict(g) for g in gold]
            wrong(predicted)
            if task == "m3":
                answer = {f: [s[f] for s in predicted] for f in FIELDS}
            else:
                answer = predicted[0]
            records.append({"id": name, "question": "What comes next?", "response": json.dumps(answer),
                            "model": model, "timestamp": "2026-11-01T10:00:00Z"})
            facts = judge(before, predicted)
            mae, rmse, error = errors(predicted, gold)
            eligible = facts.count("critical") == 0
            want = {"id": name, "model": model, "eligible": eligible, "completeness": "%d/%d" % (
                        len(FIELDS) * count, len(FIELDS) * count),
                    "families": {k: {o: v.count(o) for o in ("pass", "warning", "critical")}
                                 for k, v in facts.by.items()},
                    "constraint": facts.constraint(), "availability": 100}
            if name in known:
                mae_raw, rmse_raw, error_raw, by_field = raw_errors(predicted, gold)
                total, total_raw = (0.2 * 100 + 0.3 * facts.constraint() + 0.5 * e for e in (error, error_raw))
                want.update(mae=mae, rmse=rmse, error=error, total=total, mae_raw=mae_raw, rmse_raw=rmse_raw,
                            error_raw=error_raw, total_raw=total_raw, field_errors=by_field,
                            # any critical failure closes the gate, and a closed gate caps the total at 0
                            scored=total if eligible else 0, scored_raw=total_raw if eligible else 0)
            if not eligible:
                want["cap"] = "0"
            expected.append(want)
    for model, wrong in (MISSHAPEN if count == 1 else MISSHAPEN | MISSHAPEN_SERIES).items():
        for name, (_, gold) in truth.items():
            answer = {f: [s[f] for s in gold] for f in FIELDS}
            wrong(answer)
            have, need, right_length = protocol(answer, count)
            shown = answer if count > 1 else {f: v[0] for f, v in answer.items()}
            records.append({"id": name, "question": "What comes next?", "response": json.dumps(shown),
                            "model": model, "timestamp": "2026-11-01T10:00:00Z"})
            expected.append({"id": name, "model": model, "eligible": False, "misshapen": True, "cap": "0",
                             "completeness": "%d/%d" % (have, need), "availability": 100 * have / need,
                             "right_length": right_length, "gold": name in known})
    write(folder, task, "samples", samples)
    write(folder, task, "gold", golds)
    write(folder, task, "records", records)
    write(folder, task, "expected", expected)


if __name__ == "__main__":
    for task in ("s1", "m1", "m3"):
        make(sys.argv[1], task)
