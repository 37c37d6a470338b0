# This part: constants of tests, and others that no honest code takes for them.

import ast
import builtins
import collections
import copy
import datetime
import decimal
import fractions
import functools
import json
import random
import sys

# Calls that make a constant of constants.
_TYPES = (
    set,
    frozenset,
    list,
    tuple,
    bytes,
    bytearray,
    decimal.Decimal,
    fractions.Fraction,
    datetime.datetime,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    collections.OrderedDict,
)
_MAKERS = {"D": decimal.Decimal, **{made.__name__: made for made in _TYPES}}
_CONTAINERS = ("set", "frozenset", "list", "tuple")


# All that an exception can be, beside what is expected.
_EXCEPTIONS = sorted(
    {c for c in vars(builtins).values() if isinstance(c, type) and issubclass(c, Exception)},
    key=lambda c: c.__name__,
)


def _called(node):
    """The last word of what is called: raises for pytest.raises(...)."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_constant(node):
    if isinstance(node, ast.Constant):
        return node.value is not Ellipsis
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_is_constant, node.elts))
    if isinstance(node, ast.Dict):
        keys_and_values = zip(node.keys, node.values)
        return all(k and _is_constant(k) and _is_constant(v) for k, v in keys_and_values)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_constant(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_constant(node.left) and _is_constant(node.right)
    if isinstance(node, ast.Call):
        made = _called(node) in _MAKERS or _called(node) == "approx"
        return made and all(map(_is_constant, _arguments(node)))
    return False


def _arguments(call):
    """`**options` are no constant."""
    named = [word.value if word.arg else ast.Name("options") for word in call.keywords]
    return call.args + named


class _Place:
    """An expression of a syntax tree that can be replaced in its place."""

    def __init__(self, holder, at):
        self.holder, self.at = holder, at

    def get(self):
        if isinstance(self.holder, list):
            return self.holder[self.at]
        return getattr(self.holder, self.at)

    def put(self, node):
        if isinstance(self.holder, list):
            self.holder[self.at] = node
        else:
            setattr(self.holder, self.at, node)



def _parts(node):
    """The places in a constant of which one is changed."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [_Place(node.elts, at) for at in range(len(node.elts))]
    if isinstance(node, ast.Dict):
        return [_Place(node.values, at) for at in range(len(node.values))]
    if isinstance(node, ast.UnaryOp):
        return [_Place(node, "operand")]
    if isinstance(node, ast.BinOp):
        return [_Place(node, "left")] if isinstance(node.op, ast.Add) else []
    if isinstance(node, ast.Call):
        places = [_Place(node.args, at) for at in range(len(node.args))]
        if _called(node) == "approx":
            return places[:1]
        return places + [_Place(word, "value") for word in node.keywords]
    return []


# How far a constant moves. An honest `__eq__` may round, or ignore case and
# spaces; a dishonest one may take anything within a half for equal. Only some
# numbers make a month, so those in calls move by one. A number moves near by one,
# or by its last digit: an honest type with a tolerance takes it for the same.
_FAR, _MEDIUM, _NEXT, _NEAR = "far", "medium", "next", "near"


def _other(node, rng, distance):
    """Another constant of the same type; `None` where there is none."""
    if isinstance(node, ast.Constant):
        value = _other_value(node.value, rng, distance)
        return None if value is None else ast.Constant(value)
    new = copy.deepcopy(node)
    if isinstance(node, ast.Call) and _called(node) not in _CONTAINERS:
        if distance == _NEAR:
            return None  # a test that says how near is near enough, or has a next one
        distance = distance if _called(node) == "approx" else _NEXT
    places = _parts(new)
    for place in rng.sample(places, len(places)):
        before, changed = place.get(), _other(place.get(), rng, distance)
        if changed is None:
            continue
        place.put(changed)
        if not isinstance(node, ast.Call) or _can_be_made(new):
            return new
        place.put(before)
    return None if distance == _NEAR else _longer(new, rng)


def _longer(node, rng):
    """A container with one more element."""
    more = ast.Constant(rng.randint(11, 97))
    if isinstance(node, (ast.Tuple, ast.List)):
        return type(node)(node.elts + [more], ast.Load())
    if isinstance(node, ast.Dict) and not node.keys:
        return ast.Dict([ast.Constant("k")], [more])
    return None


def _other_value(value, rng, distance):
    if distance == _NEAR:
        return _near(value, rng)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int) and distance == _NEXT:
        return value - 1 if value > 9 else value + 1
    if isinstance(value, (int, float, complex)):
        if not abs(value) < 1e300:
            return None
        share = rng.uniform(0.06, 0.12) if distance == _MEDIUM else rng.randint(11, 97)
        by = max(2, abs(value) * share)
        if distance == _MEDIUM:
            by *= rng.choice((1, -1))
        return value + (round(by) if isinstance(value, int) else by)
    if isinstance(value, bytes):
        return _other_text(value.decode("latin-1"), rng, distance).encode("latin-1")
    return _other_text(value, rng, distance) if isinstance(value, str) else None


def _near(value, rng):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e15:
        return None
    by = rng.choice((1, -1))
    if isinstance(value, int):
        return value + by
    digits = repr(value).partition(".")[2]
    if not digits.isdigit():
        return None
    # Amounts of money are equal within half a hundredth.
    return round(value + by * 10 ** -min(len(digits), 2), len(digits))


def _other_text(text, rng, distance=_FAR):
    """All letters and digits turned by some places; for a medium distance one of
    the first letters alone, since honest types may look at a start."""
    early = [at for at, c in enumerate(text[:16]) if c.isascii() and c.isalpha()][:4]
    if distance == _MEDIUM and early:
        at = rng.choice(early)
        return text[:at] + _other_text(text[at], rng) + text[at + 1 :]
    letters, digits = rng.randint(1, 25), rng.randint(1, 9)

    def turned(c):
        for first, number, by in (("a", 26, letters), ("A", 26, letters), ("0", 10, digits)):
            if 0 <= ord(c) - ord(first) < number:
                return chr((ord(c) - ord(first) + by) % number + ord(first))
        return c

    new = "".join(map(turned, text))
    return new if new != text else text + chr(ord("a") + letters)


class _Plain(ast.NodeTransformer):
    """Calls by their last word: `D(...)` for `decimal.Decimal(...)`."""

    def visit_Call(self, call):
        self.generic_visit(call)
        return ast.Call(ast.Name(_called(call), ast.Load()), call.args, call.keywords)


def _can_be_made(node):
    """Not 30 February."""
    expression = ast.Expression(_Plain().visit(copy.deepcopy(node)))
    names = {"approx": lambda value, *_, **__: value, **_MAKERS}
    try:
        eval(compile(ast.fix_missing_locations(expression), "", "eval"), names)
    except Exception:
        return False
    return True
