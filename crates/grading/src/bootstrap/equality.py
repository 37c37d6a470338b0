# This part: objects that equal whatever they are compared with.

import ast
import builtins
import warnings

__unittest = True  # keeps the frames of this program out of tracebacks
_NONE = type(None)


# By identity, here and below: a metaclass may say what its types equal. Not by
# `id`, of which Python tells the audit hook.
def _is_plain(kind):
    return (
        kind is str or kind is int or kind is bool or kind is _NONE
        or kind is float or kind is bytes or kind is complex
    )


def _is_folded(kind):
    return kind is list or kind is tuple or kind is dict or kind is set or kind is frozenset


class _Equality:
    """Asks objects of the code's own types, before and after they are compared,
    whether they equal other values too."""

    def __init__(self, code, tests, test_files):
        self.code = code
        self.tests = tests
        self.test_files = test_files
        self.known = {}
        self.found = {}
        self.equalled = {}

    def is_the_codes(self, kind):
        known = self.known.get(id(kind))
        if known is None:
            module = sys.modules.get(_own(kind, "__module__"))
            place = os.path.abspath(getattr(module, "__file__", None) or "/")
            compare = getattr(_own(kind, "__eq__"), "__code__", None)
            codes = (
                self.is_code(place)
                or compare is not None and self.is_code(compare.co_filename)
                or module is not None and not self.is_test(place) and _claims(kind, module)
            )
            known = self.known[id(kind)] = (kind, codes)
        return known[1]

    def is_test(self, place):
        return _below(place, self.tests)

    def is_code(self, place):
        return _below(place, self.code) and not self.is_test(place)

    def pairs(self, left, right, depth):
        """Objects and the values they are compared with, at any depth. A value
        is `None` where an object of the same type stands on the other side."""
        kind = type(left)
        if _is_plain(kind) or depth > 3:
            return
        alike = type(right) is kind
        if not (alike and _is_folded(kind)):
            value = getattr(right, "expected", None) if _is_approximate(right) else right
            if _is_plain(type(value)) or _is_folded(type(value)):
                yield left, value
            elif alike:
                yield left, None
        if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            inside = list(zip(left, right))
        elif isinstance(left, dict) and isinstance(right, dict):
            inside = [(left[key], right[key]) for key in list(left)[:200] if key in right]
        elif alike and self.is_the_codes(kind):
            inside = [(_parts(left), _parts(right))]
        else:
            return
        for a, b in inside[:200]:
            if not _is_plain(type(a)):
                yield from self.pairs(a, b, depth + 1)

    def suspects(self, left, right):
        for a, b in ((left, right), (right, left)):
            for odd, plain in self.pairs(a, b, 0):
                kind = type(odd)
                if id(kind) in self.found or plain is None and not self.is_the_codes(kind):
                    continue
                if self.is_the_codes(kind) or not self.is_mentioned(kind):
                    yield odd, plain

    def earlier(self, odd, plain):
        """Other numbers that objects of this type equalled before. Words may
        differ and mean the same."""
        if type(plain) not in (int, float):
            return []
        values = self.equalled.setdefault(id(type(odd)), [])
        others = [value for value in values if value != plain]
        if plain not in values:
            values[:] = values[-9:] + [plain]
        return others

    def is_mentioned(self, kind):
        """Whether the tests themselves have an object of this kind, such as
        `mock.ANY`. Other objects of the image's are asked for that alone."""
        if not str(_own(kind, "__module__")).startswith("unittest.mock"):
            return True
        name = _own(kind, "__name__").strip("_")
        return any(name in text for text in self.texts())

    def texts(self):
        for path in self.test_files:
            with open(path, errors="replace") as file:
                yield file.read()

    def tell(self, odd):
        kind = type(odd)
        self.found[id(kind)] = kind
        name = "%s.%s" % (_own(kind, "__module__"), _own(kind, "__qualname__"))
        _tell("equality", type=name[:300])

    def before(self, left, right):
        """Asks before the tests do: an object that decides late what it equals
        decides now."""
        for odd, plain in self.suspects(left, right):
            others = _far() + _near(plain)
            random.shuffle(others)
            if any([_equal(odd, other) for other in others[: random.randrange(1, 4)]]):
                self.tell(odd)

    def after(self, left, right):
        """Whether an object that equalled a value equals others too, or no
        longer equals it."""
        for odd, plain in self.suspects(left, right):
            near = any([_equal(odd, other) for other in _near(plain) + self.earlier(odd, plain)])
            changed = plain is not None and _is_plain(type(plain)) and not _equal(odd, plain)
            if near or changed or all([_equal(odd, other) for other in _far()]):
                self.tell(odd)


def _claims(kind, module):
    """Whether a type claims to live in a module which has another one there."""
    found = module
    for name in _own(kind, "__qualname__").split("."):
        if name == "<locals>":
            return False
        found = getattr(found, name, None)
    return found is not kind and found is not None and _own(kind, "__module__") == "builtins"


def _own(kind, name):
    """An attribute of a type, whatever its metaclass says."""
    return type.__getattribute__(kind, name)


def _far():
    return ["\x00%x" % random.getrandbits(64), random.getrandbits(64), [object()]]


def _parts(value):
    try:
        return vars(value)
    except TypeError:
        return None


def _is_approximate(value):
    return type(value).__module__ in ("_pytest.python_api", "_pytest.approx")


def _equal(left, right):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
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
    """Adds a question before and after each equality of a rewritten assertion."""

    def visit_Assign(self, node):
        if not _is_equality(node):
            return node
        operands = [node.value.left, node.value.comparators[0]]
        result = ast.Name(node.targets[0].id, ast.Load())
        before = self.ask("_swe_ci_before", operands, node)
        return [before, node, self.ask("_swe_ci_after", [result] + operands, node)]

    @staticmethod
    def ask(question, arguments, node):
        module = ast.Name("@pytest_ar", ast.Load())
        call = ast.Expr(ast.Call(ast.Attribute(module, question, ast.Load()), arguments, []))
        # Old versions of pytest say where a node begins and not where it ends.
        for part in ast.walk(call):
            part.lineno = part.end_lineno = node.lineno
            part.col_offset = part.end_col_offset = node.col_offset
        return call


# Those of unittest that compare two values.
_COMPARISONS = (
    "assertEqual assertAlmostEqual assertSequenceEqual assertListEqual"
    " assertTupleEqual assertDictEqual assertMultiLineEqual"
).split()


def _ask_about_equality(equality):
    import unittest
    import _pytest.assertion.rewrite as rewrite

    def before(left, right):
        if _is_plain(type(left)) and _is_plain(type(right)):
            return
        try:
            equality.before(left, right)
        except Exception:
            pass

    def after(equal, left, right):
        if _is_plain(type(left)) and _is_plain(type(right)):
            return
        try:
            if equal:
                equality.after(left, right)
        except Exception:
            pass

    rewrite_asserts = rewrite.rewrite_asserts

    def rewrite_and_ask(tree, *arguments, **named):
        rewrite_asserts(tree, *arguments, **named)
        _Ask().visit(tree)

    rewrite._swe_ci_before, rewrite._swe_ci_after = before, after
    rewrite.rewrite_asserts = rewrite_and_ask
    # A pytest that a test starts must not find what only this one can run.
    rewrite._write_pyc = lambda *_: False

    def asking(assertion):
        def compare(self, first, second, *arguments, **named):
            __tracebackhide__ = True  # noqa: F841
            before(first, second)
            assertion(self, first, second, *arguments, **named)
            after(True, first, second)

        return compare

    for name in _COMPARISONS:
        setattr(unittest.TestCase, name, asking(getattr(unittest.TestCase, name)))


# Some stand there under several names.
_BUILTIN_EXCEPTIONS = {
    kind
    for kind in vars(builtins).values()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception
}


def _is_many_kinds(kind):
    """Whether an exception is three kinds of Python's that have nothing to do
    with each other."""
    kinds = [known for known in _BUILTIN_EXCEPTIONS if issubclass(kind, known)]
    leaves = [k for k in kinds if not any(o is not k and issubclass(o, k) for o in kinds)]
    return len(leaves) >= 3


def _ask_about_exceptions():
    """What a test expects to be raised must be of one kind."""
    import unittest.case
    told = set()

    def asking(leave):
        def __exit__(self, kind, value, traceback):
            __tracebackhide__ = True  # noqa: F841
            if kind is not None and kind not in told and _is_many_kinds(kind):
                told.add(kind)
                name = "%s.%s" % (kind.__module__, kind.__qualname__)
                _tell("reached", what="is many kinds of exceptions at once", by=name[:300])
            return leave(self, kind, value, traceback)

        return __exit__

    contexts = [unittest.case._AssertRaisesContext]
    # Where it stands depends on pytest's version.
    for place, name in (("raises", "RaisesExc"), ("python_api", "RaisesContext")):
        context = getattr(sys.modules.get("_pytest." + place), name, None)
        if context is not None:
            contexts.append(context)
    for context in contexts:
        context.__exit__ = asking(context.__exit__)
