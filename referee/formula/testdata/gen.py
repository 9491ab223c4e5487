#!/usr/bin/env python3
"""Writes vectors.json: formulas in Python's own syntax with values computed by Python's parser (ast, eval) over decimal at 60
digits; // and % through fractions. Precedence, associativity and signs are therefore CPython's, not ours."""
import ast
import json
import random
from decimal import Context, Decimal, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN
from fractions import Fraction

random.seed(4711)
C = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999)
D28 = Context(prec=28, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999)


class Undefined(Exception):
    pass


class N:
    """A number whose operators are those of the language at 60 digits."""

    def __init__(self, d):
        self.d = d if isinstance(d, Decimal) else Decimal(d)
        if self.d != 0 and abs(self.d.adjusted()) > 400:  # the language refuses these: not this file's business
            raise ArithmeticError

    def __add__(self, o): return N(C.add(self.d, o.d))
    def __sub__(self, o): return N(C.subtract(self.d, o.d))
    def __mul__(self, o): return N(C.multiply(self.d, o.d))
    def __neg__(self): return N(C.minus(self.d))
    def __pos__(self): return self

    def __truediv__(self, o):
        if o.d == 0:
            raise Undefined
        return N(C.divide(self.d, o.d))

    def __floordiv__(self, o):
        if o.d == 0:
            raise Undefined
        return N(Decimal(Fraction(self.d) // Fraction(o.d)))

    def __mod__(self, o):
        if o.d == 0:
            raise Undefined
        a, b = Fraction(self.d), Fraction(o.d)
        m = a - b * (a // b)
        return N(C.divide(Decimal(m.numerator), Decimal(m.denominator)))

    def __pow__(self, o):
        if abs(o.d) > 10000:
            raise ArithmeticError
        if o.d == 0:
            return N(1)
        if self.d == 0 and o.d < 0 or self.d < 0 and o.d != o.d.to_integral_value():
            raise Undefined
        return N(C.power(self.d, o.d))


def flat(args):
    out = []
    for a in args:
        out.extend(a if isinstance(a, list) else [a])
    return out


def total(*a):
    s = N(0)
    for x in flat(a):
        s = s + x
    return s


def npv(rate, *flows):
    s = N(0)
    for i, f in enumerate(flat(flows)):
        s = s + f / (N(1) + rate) ** N(i)
    return s


def irr(*flows):
    flows, lo, hi = flat(flows), Decimal("-0.9"), Decimal(10)
    first = npv(N(lo), flows).d > 0
    for _ in range(200):
        mid = C.divide(C.add(lo, hi), Decimal(2))
        if (npv(N(mid), flows).d > 0) == first:
            lo = mid
        else:
            hi = mid
    return N(hi)


def positive(f):
    def g(x):
        if x.d <= 0:
            raise Undefined
        return N(f(x.d))
    return g


def root(x):
    if x.d < 0:
        raise Undefined
    return N(C.sqrt(x.d))


FUNCTIONS = {
    "abs": lambda x: N(C.abs(x.d)), "min": lambda *a: min(flat(a), key=lambda x: x.d), "max": lambda *a: max(flat(a), key=lambda x: x.d),
    "sum": total, "avg": lambda *a: total(*a) / N(len(flat(a))), "len": lambda x: N(len(x)),
    "round": lambda x, n=N(0): N(x.d.quantize(Decimal(1).scaleb(-int(n.d)), rounding=ROUND_HALF_EVEN, context=C)),
    "sqrt": root, "exp": lambda x: N(C.exp(x.d)), "ln": positive(C.ln), "log10": positive(C.log10),
    "log": lambda x, b=None: N(C.ln(x.d)) if b is None else N(C.divide(C.ln(x.d), C.ln(b.d))),
    "floor": lambda x: N(x.d.to_integral_value(rounding=ROUND_FLOOR)), "ceil": lambda x: N(x.d.to_integral_value(rounding=ROUND_CEILING)),
    "pow": lambda a, b: a ** b, "pmt": lambda r, n, pv: pv / n if r.d == 0 else r * pv / (N(1) - (N(1) + r) ** -n), "npv": npv, "irr": irr,
}


class Literals(ast.NodeTransformer):
    def __init__(self, src):
        self.src = src

    def visit_Constant(self, node):
        text = ast.get_source_segment(self.src, node)
        return ast.copy_location(ast.Call(ast.Name("__n", ast.Load()), [ast.Constant(text)], []), node)


def evaluate(src, inputs):
    tree = ast.fix_missing_locations(Literals(src).visit(ast.parse(src, mode="eval")))
    env = {k: [N(x) for x in v] if isinstance(v, list) else N(v) for k, v in inputs.items()}
    return eval(compile(tree, "f", "eval"), {"__builtins__": {}, "__n": N, **FUNCTIONS}, env).d


out = []


def put(src, **inputs):
    try:
        v = evaluate(src, inputs)
    except Undefined:
        out.append({"src": src, "inputs": inputs, "want": "ErrUndefined"})
        return
    if v != 0 and abs(v.adjusted()) > 100:
        return
    v = D28.plus(v).normalize(D28)
    out.append({"src": src, "inputs": inputs, "want": "0" if v == 0 else str(v)})


for s in ["1+2*3", "(1+2)*3", "2**3**2", "-2**2", "2**-1", "(-2)**2", "2**-1**2", "-2**-2", "2*-3", "7//2", "-7//2", "7//-2", "-7%3", "7 % -3", "10 % 3", "10%3", "1-2-3", "8/4/2", "8//3*3",
          "8%5*2", "- - 3", "+-+3", "1.5e3", "1E-3*2", ".5+5.", "2*3%4", "-3%5", "1/3", "2/3*3", "0.1+0.2", "1e22+1-1e22", "round(2.5)", "round(3.5)", "round(-2.5)", "round(2.675, 2)", "round(1250, -2)",
          "round(0.125, 2)", "floor(-2.5)", "ceil(-2.5)", "ceil(2.1)", "abs(-3)", "min(3, 1, 2)", "max(3, 1, 2)", "sum(1, 2, 3.5)", "avg(1, 2, 4)", "sqrt(2)", "exp(1)", "ln(10)", "log(10)", "log(8, 2)", "log10(1000)",
          "log10(2)", "pow(2, 10)", "pow(2, 0.5)", "2**0.5", "8**(1/3)", "sqrt(-1)", "ln(0)", "1/0", "0**-1", "0**0", "1//0", "1%0", "(-8)**0.5", "1_000*2", "(1)", "((2))", "2**1300/2**1290", "pmt(0, 12, 1200)"]:
    put(s)
put("12 * loan * (rate/12) / (1 - (1 + rate/12)**(-360))", loan="9300000", rate="0.065")
put("12 * loan * (rate/12) / (1 - (1 + rate/12)**(-amort_months))", loan="7250000.50", rate="0.0575", amort_months="300")
put("12 * pmt(rate/12, 360, loan)", loan="9300000", rate="0.065")
put("noi / ads", noi="882512.81", ads="706052.45")
put("(2/3 * n**3 + 3/2 * n**2) / t / 1e12", n="1000000", t="12345.678")
put("npv(r, cf)", r="0.08", cf=["-1000", "300", "420", "680"])
put("npv(r, -1000, 300, 420, 680)", r="0.08")
put("npv(r, cf) + cf0", r="0.1", cf=["0", "500", "700"], cf0="-1000")
put("irr(cf)", cf=["-1000", "300", "420", "680"])
put("irr(-9300000, 450000, 460000, 470000, 480000, 10900000)")
put("sum(rents) / len(rents)", rents=["1200", "1350.50", "999.99"])
put("avg(rents) - min(rents) + max(rents, 5000)", rents=["1200", "1350.50", "999.99"])
put("max(0, ten_cd - 1.10*ten_le)", ten_cd="5400", ten_le="5000")
put("a - b - c", a="1", b="2", c="3")

names = {"a": "3.7", "b": "-2.25", "c": "0.0825", "n": "12", "big": "123456789.125"}


def expression(depth):
    k = random.random()
    if depth == 0 or k < 0.12:
        return random.choice([random.choice(list(names)), str(random.randint(0, 40)), f"{random.uniform(0, 10):.{random.randint(1, 6)}f}", random.choice(["1.5e2", "2E-1", ".75", "3."])])
    if k < 0.2:
        return random.choice("+-") + expression(depth - 1)
    if k < 0.3:
        return "(" + expression(depth - 1) + ")"
    if k < 0.4:
        f = random.choice(["abs", "min", "max", "sum", "avg", "floor", "ceil", "sqrt"])
        return f + "(" + ", ".join(expression(depth - 1) for _ in range(1 if f in ("abs", "floor", "ceil", "sqrt") else random.randint(1, 3))) + ")"
    if k < 0.47:
        return expression(depth - 1) + random.choice(["**", " ** "]) + random.choice(["2", "3", "-1", "-2", "-2**2", "2**2", "(1)", "+3"])
    op = random.choice(["+", "-", "*", "/", "//", "%"])
    space = random.choice(["", " "])
    return expression(depth - 1) + space + op + space + expression(depth - 1)


while len(out) < 900:
    s = expression(random.randint(1, 5))
    if len(s) > 160 or "% -" in s or "%-" in s or "%+" in s or "% +" in s:  # a sign behind a glued % is refused as a percent sign
        continue
    try:
        before = len(out)
        put(s, **names)
    except (ArithmeticError, ValueError):
        continue
    # Drop what 40 digits cannot decide: floors and remainders of values that 60 digits only just reach, and cancellation.
    if len(out) > before and ("//" in s or "%" in s or "floor" in s or "ceil" in s):
        old = C.prec
        C.prec = 38
        try:
            v = D28.plus(evaluate(s, names)).normalize(D28)
            if ("0" if v == 0 else str(v)) != out[-1]["want"]:
                out.pop()
        except Undefined:
            if out[-1]["want"] != "ErrUndefined":
                out.pop()
        except ArithmeticError:
            out.pop()
        C.prec = old
with open(__file__.rsplit("/", 1)[0] + "/vectors.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(v) for v in out) + "\n]\n")
print(len(out), "vectors")
