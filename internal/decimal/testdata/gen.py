#!/usr/bin/env python3
"""Writes vectors.json: expected values of internal/decimal from mpmath at 1,300 digits (series, roots, powers, rates)
and from Python's decimal and fractions (arithmetic, floor division, rounding). Nothing here comes from the Go code."""
import json
import random
from decimal import Context, Decimal, ROUND_HALF_EVEN
from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 1300
random.seed(20261)
D40 = Context(prec=40, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999)
D28 = Context(prec=28, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999)
out = []


def put(fn, args, value):
    """value: an mpf or a Decimal; stored with 40 digits."""
    if isinstance(value, mpf):
        value = Decimal(mp.nstr(value, 120, strip_zeros=False))
    v = D40.plus(value)
    ok = v == 0 or -400 <= v.adjusted() <= 400
    out.append({"fn": fn, "args": args, "want": str(v) if ok else "ErrTooLarge"})


def ratio(fr):
    return D40.divide(Decimal(fr.numerator), Decimal(fr.denominator)) if fr.denominator != 1 else D40.plus(Decimal(fr.numerator))


def literal(digits, low, high):
    n = random.randint(1, digits)
    m = str(random.randint(1, 9)) + "".join(random.choice("0123456789") for _ in range(n - 1))
    e = random.randint(low, high)
    return ("-" if random.random() < 0.4 else "") + m + "e" + str(e - n + 1)


args = ["0.1", "1", "2", "0.5", "3.141592653589793238462643383279502884197", "1e-30", "1e-300", "1e22", "1e300", "123456789.123456789",
        "-2.5", "0.7853981633974483096156608458198757210493", "6.283185307179586476925286766559005768394", "1e399", "7e-400", "-1e-12"]
args += [literal(34, -20, 30) for _ in range(60)]
for a in args:
    x = mpf(a)
    put("sin", [a], mp.sin(x))
    put("cos", [a], mp.cos(x))
    put("degrees", [a], x * 180 / mp.pi)
    put("radians", [a], x * mp.pi / 180)
    if x > 0:
        put("ln", [a], mp.log(x))
        put("log10", [a], mp.log10(x))
        put("sqrt", [a], mp.sqrt(x))
    if abs(x) < 1000:
        put("exp", [a], mp.exp(x))
for a in ["1.00000000000000000000000000000000000001", "0.9999999999999999999999999999999999999", "1000", "1e-400", "9.999e399", "3", "3.0000001", "1e12"]:
    put("ln", [a], mp.log(mpf(a)))
    put("log10", [a], mp.log10(mpf(a)))
for a in ["4", "2", "1e-400", "1e400", "152399025", "0.0001", "1e399", "2e-399"]:
    put("sqrt", [a], mp.sqrt(mpf(a)))
for _ in range(60):
    y, x = literal(34, -10, 10), literal(34, -10, 10)
    put("atan2", [y, x], mp.atan2(mpf(y), mpf(x)))
for y, x in [("0", "-1"), ("0", "1"), ("1", "0"), ("-1", "0"), ("1", "1"), ("-1", "-1"), ("1e-390", "-1e390"), ("1e390", "1e-390"), ("0", "0"), ("1e-200", "1e100")]:
    put("atan2", [y, x], mp.atan2(mpf(y), mpf(x)))
for _ in range(40):
    a, n = literal(20, -3, 2), random.randint(-150, 150)
    put("pow", [a, str(n)], mpf(a) ** n)
for _ in range(40):
    a, b = literal(20, -3, 3).lstrip("-"), literal(10, -3, 1)
    put("pow", [a, b], mpf(a) ** mpf(b))
for a, b in [("1.0004", "-360"), ("1.00541666666666666666666666666666666667", "-360"), ("1.0001", "10000"), ("1.0001", "-10000"), ("2", "1328"), ("2", "1329"),
             ("10", "400"), ("10", "401"), ("10", "-400"), ("10", "-401"), ("4", "0.5"), ("27", "-1.5"), ("0.5", "2000"), ("0", "0"), ("-2", "3"), ("0", "2.5")]:
    put("pow", [a, b], mpf(a) ** mpf(b))
for _ in range(150):
    a, b = literal(34, -30, 30), literal(34, -30, 30)
    fa, fb = Fraction(a), Fraction(b)
    put("add", [a, b], ratio(fa + fb))
    put("sub", [a, b], ratio(fa - fb))
    put("mul", [a, b], ratio(fa * fb))
    put("quo", [a, b], ratio(fa / fb))
    put("floordiv", [a, b], ratio(Fraction(fa // fb)))
    put("mod", [a, b], ratio(fa % fb))
for a, b in [("-7", "2"), ("7", "-2"), ("-7", "-2"), ("6", "3"), ("-6", "3"), ("0", "-3"), ("0.3", "0.1"), ("-1e-300", "7"), ("1e300", "7e-90"), ("1e300", "7e-300")]:
    fa, fb = Fraction(a), Fraction(b)
    put("floordiv", [a, b], ratio(Fraction(fa // fb)))
    put("mod", [a, b], ratio(fa % fb))
for a, p in [("2.5", 0), ("3.5", 0), ("-2.5", 0), ("0.125", 2), ("0.135", 2), ("1250", -2), ("1350", -2), ("49", -2), ("50", -2), ("51", -2), ("-51", -2), ("150", -2), ("5e-1", 0),
             ("1.0049999", 2), ("1e300", 5), ("1e-300", 5), ("1e30", -500), ("99.995", 2), ("0.5000000000000000000000000000000001", 0), ("12.3", 400)]:
    unit = Fraction(10) ** -p
    put("round", [a, str(p)], ratio(round(Fraction(a) / unit) * unit))  # Fraction.__round__ is half-even
for a in ["2.5", "-2.5", "3", "-3", "0", "1e-300", "-1e-300", "1e300", "123456789012345678901234567890.5"]:
    put("floor", [a], ratio(Fraction(Fraction(a).__floor__())))
    put("ceil", [a], ratio(Fraction(Fraction(a).__ceil__())))


mp.dps = 250  # the rates need no 1,300 digits


def pmt(r, n, pv):
    r, n, pv = mpf(r), mpf(n), mpf(pv)
    return pv / n if r == 0 else r * pv / (1 - (1 + r) ** -n)


for r, n, pv in [("0.005", "360", "250000"), ("0", "12", "1200"), ("0.065", "30", "9300000"), ("1e-12", "360", "100"), ("-0.001", "24", "1000"), ("0.01", "12.5", "1000"), ("0.004", "360", "-5")]:
    put("pmt", [r, n, pv], pmt(r, n, pv))
for n, r, pv in [("360", "0.005", "250000"), ("12", "0.5", "7"), ("1", "0.2", "100"), ("10000", "0.3", "100"), ("360", "0.00000001", "1000"), ("5000", "0.9", "1e30")]:
    p = D40.plus(Decimal(mp.nstr(pmt(r, n, pv), 120)))
    root = mp.findroot(lambda q: mpf(pv) * q - mpf(str(p)) * (1 - (1 + q) ** -mpf(n)), (mpf(r) * mpf("0.999"), mpf(r) * mpf("1.001")), solver="anderson", tol=mpf("1e-160"), maxsteps=200)
    put("rate", [n, str(p), pv], root)
flows = [["-100", "110"], ["-1000", "300", "420", "680"], ["-9300000", "450000", "460000", "470000", "480000", "10900000"], ["1000", "-300", "-300", "-600"],
         ["-100", "0", "0", "50"], ["-1"] + ["0"] * 500 + ["5000"], ["-1"] + ["0"] * 1000 + ["1e90"], ["-100", "1100"], ["-1000", "100.1"], ["-250000"] + ["1498.876313"] * 360]
for cf in flows:
    g = lambda u: sum(mpf(c) * u ** i for i, c in enumerate(cf))
    lo, hi = mpf(1) / 11, mpf(10)
    for _ in range(480):  # bisection in u = 1/(1+r), another variable than the Go code's
        mid = (lo + hi) / 2
        if mp.sign(g(mid)) == mp.sign(g(lo)):
            lo = mid
        else:
            hi = mid
    put("irr", cf, 1 / lo - 1)
    for r in ["0.08", "0", "-0.5", "0.123456789"]:
        if len(cf) < 100:
            put("npv", [r] + cf, sum(mpf(c) / (1 + mpf(r)) ** i for i, c in enumerate(cf)))

with open(__file__.rsplit("/", 1)[0] + "/vectors.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(v) for v in out) + "\n]\n")
print(len(out), "vectors")
