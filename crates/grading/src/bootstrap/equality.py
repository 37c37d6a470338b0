# This part: objects that equal whatever they are compared with.

import ast

_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_FOLDED = (list, tuple, dict, set, frozenset)


class _Equality:
    """Asks objects of the code's own types, which equalled a plain value,
    whether they equal another one too."""

    def __init__(self, code, tests):
        self.code = code
        self.tests = tests
        self.known = {}
        self.found = set()

    def is_the_codes(self, kind):
        known = self.known.get(kind)
        if known is None:
            module = sys.modules.get(kind.__module__)
            place = os.path.abspath(getattr(module, "__file__", None) or "/")
            known = _below(place, self.code) and not _below(place, self.tests)
            # A type that claims to live in a module which does not have it.
            if not known and module is not None:
                top = kind.__qualname__.partition(".")[0]
                known = top != "<locals>" and not hasattr(module, top)
            self.known[kind] = known
        return known

    def pairs(self, left, right, depth):
        kind = type(left)
        if kind in _PLAIN or depth > 3:
            return
        if kind in (list, tuple) and type(right) is kind and len(left) == len(right):
            for a, b in list(zip(left, right))[:200]:
                yield from self.pairs(a, b, depth + 1)
        elif kind is dict and type(right) is dict:
            for key in list(left)[:200]:
                if key in right:
                    yield from self.pairs(left[key], right[key], depth + 1)
        elif type(right) in _PLAIN or type(right) in _FOLDED:
            yield left, right

    def compared(self, left, right):
        for a, b in ((left, right), (right, left)):
            for odd, plain in self.pairs(a, b, 0):
                kind = type(odd)
                if kind in self.found or not self.is_the_codes(kind):
                    continue
                if self.equals_others(odd, plain):
                    self.found.add(kind)
                    name = "%s.%s" % (kind.__module__, kind.__qualname__)
                    _tell("equality", type=name[:300])

    @staticmethod
    def equals_others(odd, plain):
        """Whether an object that equalled a plain value equals values near it or
        far from it too, or no longer equals it."""
        far = ("\x00%x" % random.getrandbits(64), random.getrandbits(64), [object()])
        return (
            all(_equal(odd, other) for other in far)
            or any(_equal(odd, other) for other in _near(plain))
            or not _equal(odd, plain)
        )


def _equal(left, right):
    try:
        return bool(left == right)
    except Exception:
        return False


def _near(plain):
    """Other values of the same type, farther away than any tolerance."""
    kind = type(plain)
    if kind is bool:
        return [not plain]
    if kind in (int, float):
        step = 1 + abs(plain) // 2
        return [plain + step, plain - step]
    if kind in (str, bytes):
        more = "%x" % random.getrandbits(64)
        more = more if kind is str else more.encode()
        return [plain + more, more + plain]
    if kind in (list, tuple):
        return [plain + kind([object()])]
    return []


def _is_equality(statement):
    value = statement.value if isinstance(statement, ast.Assign) else None
    return (
        isinstance(value, ast.Compare)
        and len(value.ops) == 1
        and isinstance(value.ops[0], ast.Eq)
        and isinstance(value.left, (ast.Name, ast.Constant))
        and isinstance(value.comparators[0], (ast.Name, ast.Constant))
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id.startswith("@py_assert")
    )


class _Ask(ast.NodeTransformer):
    """Adds a question after each equality of a rewritten assertion."""

    def visit_Assign(self, node):
        if not _is_equality(node):
            return node
        module = ast.Name("@pytest_ar", ast.Load())
        ask = ast.Attribute(module, "_swe_ci_compared", ast.Load())
        result = ast.Name(node.targets[0].id, ast.Load())
        operands = [node.value.left, node.value.comparators[0]]
        call = ast.Expr(ast.Call(ask, [result] + operands, []))
        # Old versions of pytest say where a node begins and not where it ends.
        for part in ast.walk(call):
            part.lineno = part.end_lineno = node.lineno
            part.col_offset = part.end_col_offset = node.col_offset
        return [node, call]


def _ask_about_equality(equality):
    import unittest
    import _pytest.assertion.rewrite as rewrite

    def quietly(equal, left, right):
        try:
            if equal:
                equality.compared(left, right)
        except Exception:
            pass

    rewrite_asserts = rewrite.rewrite_asserts

    def rewrite_and_ask(tree, *arguments, **named):
        rewrite_asserts(tree, *arguments, **named)
        _Ask().visit(tree)

    rewrite._swe_ci_compared = quietly
    rewrite.rewrite_asserts = rewrite_and_ask
    # A pytest that a test starts must not find what only this one can run.
    rewrite._write_pyc = lambda *_: False

    assert_equal = unittest.TestCase.assertEqual

    def assertEqual(self, first, second, msg=None):
        __unittest = True  # noqa: F841 (keeps this frame out of tracebacks)
        assert_equal(self, first, second, msg)
        quietly(True, first, second)

    unittest.TestCase.assertEqual = assertEqual
