# This part: the expectations of one test, and how each can be changed so that
# the test and its contradiction cannot both hold.

# Assertions of equality by a call; both sides are its first two arguments.
_EQUAL = {
    "assertEqual",
    "assertEquals",
    "assertListEqual",
    "assertDictEqual",
    "assertTupleEqual",
    "assertSetEqual",
    "assertSequenceEqual",
    "assertCountEqual",
    "assertMultiLineEqual",
    "assertAlmostEqual",
    "assert_equal",
    "assert_array_equal",
    "assert_allclose",
    "assert_almost_equal",
    "assert_frame_equal",
}
_MOCK_CALLS = {"assert_called_with", "assert_called_once_with"}
_OPPOSITES = {
    "assertTrue": "assertFalse",
    "assertIn": "assertNotIn",
    "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone",
}
_OPPOSITES.update({opposite: name for name, opposite in list(_OPPOSITES.items())})
# What a class of the test's own must be, to be expected there.
_RAISES = {
    "raises": "Exception",
    "assertRaises": "Exception",
    "assertRaisesRegex": "Exception",
    "warns": "UserWarning",
    "assertWarns": "UserWarning",
}
# An assertion is changed only where its failure surely reaches pytest. These
# contexts let exceptions through.
_OPEN = {
    "subTest",
    "catch_warnings",
    "warns",
    "patch",
    "object",
    "dict",
    "context",
    "open",
    "as_cwd",
    "TemporaryDirectory",
    "NamedTemporaryFile",
    "freeze_time",
}


def _conjuncts(test):
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for value in test.values for part in _conjuncts(value)]
    return [test]


def _sides(node):
    """The expressions that are compared for equality."""
    if isinstance(node, ast.Compare):
        places = [_Place(node.comparators, at) for at in range(len(node.comparators))]
        if all(isinstance(operator, ast.Eq) for operator in node.ops):
            return [_Place(node, "left")] + places
        is_truth = isinstance(getattr(node.comparators[0], "value", None), bool)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Is) and is_truth:
            return places
    if isinstance(node, ast.Call) and _called(node) in _EQUAL and len(node.args) >= 2:
        return [_Place(node.args, 0), _Place(node.args, 1)]
    return []


def _compared(node):
    """All sides of the equalities that are asserted below a node."""
    for below in ast.walk(node):
        if isinstance(below, ast.Assert):
            asserted = _conjuncts(below.test)
        else:
            asserted = [below.value] if isinstance(below, ast.Expr) else []
        for expression in asserted:
            yield from (side.get() for side in _sides(expression))


def _lets_through(handler):
    """Whether an `except` surely lets an AssertionError through."""
    named = getattr(handler.type, "elts", [handler.type])
    classes = [getattr(builtins, getattr(name, "id", ""), None) for name in named]
    return all(isinstance(c, type) and not issubclass(AssertionError, c) for c in classes)


class _Change:
    """`kind` is constant, exception, negation, near or end; of constants there are
    two sorts. A `natural` one leaves no sign of being a contradiction. Odd honest code
    may pass a near one."""

    def __init__(self, kind, natural, apply, sort=None):
        self.kind, self.natural, self.apply, self.sort = kind, natural, apply, sort or kind


class _Where:
    """A statement in its block. A `nested` one may not be reached."""

    def __init__(self, block, at, nested):
        self.block, self.at, self.nested = block, at, nested
        self.statement = block[at]


class _Expectations:
    """Of one test, in a syntax tree of its own: `changes` has all that can be
    changed."""

    def __init__(self, test, helpers, constants, rng):
        self.test, self.helpers, self.constants, self.rng = test, helpers, constants, rng
        self.changes = []
        names = [node for node in ast.walk(test) if isinstance(node, ast.Name)]
        self.loaded = [name for name in names if isinstance(name.ctx, ast.Load)]
        self.stored = [name.id for name in names if not isinstance(name.ctx, ast.Load)]
        self.parameters = [node.arg for node in ast.walk(test) if isinstance(node, ast.arg)]
        taken = self.stored + self.parameters
        self.flag = next(w for w in ("seen", "looked", "arrived", "been_there") if w not in taken)
        self.expected_only = {id(side) for side in _compared(test)}
        self.returns = any(isinstance(node, ast.Return) for node in ast.walk(test))
        if self.inputs_are_the_same():
            self.look(test.body, self.returns)

    def inputs_are_the_same(self):
        """Each time: hypothesis draws others, and the parameters of a set have
        other ids in the next process."""
        if any("given" in ast.unparse(decorator) for decorator in self.test.decorator_list):
            return False
        return not any(isinstance(rows, ast.Set) for _, rows in self.tables())

    def tables(self):
        """The decorators that parametrise the test, and their rows."""
        for decorator in self.test.decorator_list:
            if _called(decorator) == "parametrize" and len(decorator.args) > 1:
                rows = decorator.args[1]
                yield decorator, self.constants.get(getattr(rows, "id", ""), rows)

    # --- What is done to the test

    def add(self, kind, change, where, natural=True, sort=None):
        def apply():
            change()
            if where.nested:
                self.must_be_reached(where)

        self.changes.append(_Change(kind, natural and not where.nested, apply, sort))

    def must_be_reached(self, where):
        """An expectation that is never reached contradicts nothing."""
        at = where.block.index(where.statement)
        mark = [ast.parse(f"{self.flag} = {n}").body for n in range(3)]
        where.block[at : at + 1] = [*mark[1], where.statement, *mark[2]]
        reached = f"assert {self.flag} == 2, ('not reached', 'reached')[{self.flag}]"
        self.put_body(lambda body: mark[0] + [ast.Try(body, [], [], ast.parse(reached).body)])

    def put_body(self, changed):
        start = 1 if ast.get_docstring(self.test, clean=False) is not None else 0
        body = self.test.body[start:] or [ast.Pass()]
        self.test.body[start:] = changed(body)

    def end(self):
        """Where no expectation can be changed, the test must fail at its end,
        whichever way leads out of it."""

        def apply():
            fails = ast.parse("assert False").body
            if self.returns:
                self.put_body(lambda body: [ast.Try(body, [], [], fails)])
            else:
                self.put_body(lambda body: body + fails)

        return _Change("end", False, apply)

    # --- Where expectations are

    def look(self, block, nested):
        for at, statement in enumerate(block):
            where = _Where(block, at, nested)
            if isinstance(statement, ast.Assert):
                self.asserted(statement, where)
            elif isinstance(statement, ast.Expr):
                self.call(statement, where)
            elif isinstance(statement, (ast.With, ast.AsyncWith)):
                self.context(statement, where)
            elif isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.If)):
                self.look(statement.body, True)
                self.look(statement.orelse, True)
            elif isinstance(statement, ast.Try):
                if all(map(_lets_through, statement.handlers)):
                    self.look(statement.body, nested or bool(statement.handlers))
                self.look(statement.orelse, True)
                self.look(statement.finalbody, True)

    def asserted(self, statement, where):
        for part in _conjuncts(statement.test):
            self.equality(part, where)
            if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.In) and len(part.ops) == 1:
                self.member(_Place(part, "left"), _Place(part.comparators, 0), where)
        if _is_constant(statement.test):
            return
        # The same expression, never the opposite operator: an honest class may
        # have both == and !=.
        test = statement.test
        is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        turned = test.operand if is_not else ast.UnaryOp(ast.Not(), test)
        self.add("negation", lambda: setattr(statement, "test", turned), where)

    def call(self, statement, where):
        call = statement.value
        call = call.value if isinstance(call, ast.Await) else call
        name = _called(call)
        if name in _RAISES:
            self.raises(call, where)
        elif name in _OPPOSITES and isinstance(call.func, ast.Attribute):
            self.unittest_truth(call, name, where)
        elif self.equality(call, where):
            self.must_not_hold(statement, where)
        elif name in _MOCK_CALLS:
            self.arguments(_arguments_of(call), where)
            self.must_not_hold(statement, where)
        elif name and (name in self.helpers or name.lower().startswith("assert")):
            for parameter, at in self.helpers.get(name, []):
                places = [_Place(w, "value") for w in call.keywords if w.arg == parameter]
                if not places and at < len(call.args):
                    places = [_Place(call.args, at)]
                self.arguments(places, where)
            self.must_not_hold(statement, where)

    def unittest_truth(self, call, name, where):
        opposite = _OPPOSITES[name]
        self.add("negation", lambda: setattr(call.func, "attr", opposite), where)
        if name == "assertTrue" and call.args:
            self.equality(call.args[0], where)
        if name == "assertIn" and len(call.args) > 1:
            self.member(_Place(call.args, 0), _Place(call.args, 1), where)

    def context(self, statement, where):
        names = [_called(item.context_expr) for item in statement.items]
        for item, name in zip(statement.items, names):
            if name in _RAISES:
                self.raises(item.context_expr, where)
        if all(name in _OPEN for name in names):
            self.look(statement.body, where.nested)

    # --- What kinds of expectations there are

    def arguments(self, places, where):
        for place in places:
            if _is_constant(place.get()):
                self.constant(place, where)

    def constant(self, place, where):
        self.constants_of(functools.partial(self.put_other, place), where)

    def put_other(self, place, distance):
        new = _other(place.get(), self.rng, distance)
        return new and (lambda: place.put(new))

    def constants_of(self, change_by, where, has_near=False):
        for distance in (_FAR, _MEDIUM) + (_NEAR,) * has_near:
            change = change_by(distance)
            if change:
                kind = "near" if distance == _NEAR else "constant"
                self.add(kind, change, where, sort=distance)

    def equality(self, node, where):
        """Whether it is one. One side has to be no constant."""
        sides = _sides(node)
        is_exact = _called(node) in _EXACT or isinstance(node, ast.Compare)
        constants = [_is_constant(side.get()) for side in sides]
        if all(constants):
            return bool(sides)
        for side, is_constant in zip(sides, constants):
            if is_constant:
                self.constants_of(functools.partial(self.put_other, side), where, is_exact)
            elif isinstance(side.get(), ast.Name) and not any(constants):
                name = side.get().id
                self.constants_of(functools.partial(self.value_of, name), where, is_exact)
        return True

    def member(self, inside_place, place, where):
        """x in (constants): none of them any more. "text" in x: another text, with
        too many letters to be there by chance."""
        inside, container = inside_place.get(), place.get()
        text = getattr(inside, "value", None)
        letters = sum(c.isascii() and c.isalpha() for c in text) if isinstance(text, str) else 0
        if letters > 4 and not _is_constant(container):
            other = _other(inside, self.rng, _FAR)
            self.add("near", lambda: inside_place.put(other), where)
        if not isinstance(container, (ast.Tuple, ast.List, ast.Set)):
            return
        if not _is_constant(container) or _is_constant(inside) or not container.elts:
            return
        others = [_other(element, self.rng, _FAR) for element in container.elts]
        known = {ast.dump(element) for element in container.elts}
        if None in others or known & {ast.dump(other) for other in others}:
            return
        new = copy.copy(container)
        new.elts = others
        self.add("constant", lambda: place.put(new), where)

    def raises(self, call, where):
        """A class that the code cannot know; and a built-in one that is no
        relative of the expected one."""
        if not call.args:
            return
        base = _RAISES[_called(call)]
        place = _Place(call.args, 0)

        def refused():
            at = where.block.index(where.statement)
            where.block.insert(at, ast.parse(f"class Refused({base}):\n    pass").body[0])
            place.put(ast.Name("Refused", ast.Load()))

        self.add("exception", refused, where, natural=False, sort="unknown")
        expected = getattr(builtins, getattr(call.args[0], "id", ""), None)
        if not isinstance(expected, type) or base != "Exception":
            return
        strangers = [c for c in _EXCEPTIONS if not issubclass(c, expected) and not issubclass(expected, c)]
        named = [ast.Name(c.__name__, ast.Load()) for c in strangers]
        exotic = {"EOFError", "ZeroDivisionError", "BufferError"}
        exotic = [name for name in named if name.id in exotic]
        if exotic:
            stranger = self.rng.choice(exotic)
            self.add("exception", lambda: place.put(stranger), where)
        # An exception of several kinds is one of these too.
        if named:
            self.add("near", lambda: place.put(ast.Tuple(named, ast.Load())), where)

    def must_not_hold(self, statement, where):
        passes = ast.ExceptHandler(ast.Name("AssertionError", ast.Load()), None, [ast.Pass()])

        def apply():
            wrapped = ast.Try([statement], [passes], ast.parse("assert False").body, [])
            where.block[where.block.index(statement)] = wrapped
            where.statement = wrapped

        self.add("negation", apply, where, natural=False)

    def value_of(self, name, distance):
        """How to change the value of a name that is nothing but an expected
        side; `None` where it may be an input too."""
        uses = (node for node in self.loaded if node.id == name)
        if any(id(node) not in self.expected_only for node in uses):
            return None
        if name in self.parameters:
            return self.parameter(name, distance) if self.parameters.count(name) == 1 else None
        if self.stored.count(name) != 1:
            return None
        for node in ast.walk(self.test):
            if isinstance(node, ast.Assign) and [getattr(t, "id", None) for t in node.targets] == [name]:
                is_constant = _is_constant(node.value)
                return self.put_other(_Place(node, "value"), distance) if is_constant else None
            if isinstance(node, ast.For):
                several = isinstance(node.target, (ast.Tuple, ast.List))
                names = [getattr(t, "id", None) for t in (node.target.elts if several else [node.target])]
                if name in names:
                    return self.column(node.iter, names.index(name) if several else None, distance)
        return None

    def parameter(self, name, distance):
        if name in self.stored:
            return None
        for decorator, rows in self.tables():
            names = ast.literal_eval(decorator.args[0]) if _is_constant(decorator.args[0]) else []
            names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
            if name in names:
                own = copy.deepcopy(rows)
                change = self.column(own, names.index(name) if len(names) > 1 else None, distance)
                return change and (lambda: (decorator.args.__setitem__(1, own), change()))
        return None

    def column(self, rows, at, distance):
        """Changes one column of literal rows; the only one if `at` is `None`."""
        changes = []
        if not isinstance(rows, (ast.List, ast.Tuple)):
            return None
        for n, row in enumerate(rows.elts):
            if isinstance(row, ast.Call) and _called(row) == "param":
                holder, index = row.args, at or 0
            elif at is None:
                holder, index = rows.elts, n
            else:
                holder, index = getattr(row, "elts", []), at
            if index < len(holder) and _is_constant(holder[index]):
                changes.append(self.put_other(_Place(holder, index), distance))
        changes = [change for change in changes if change]
        return changes and (lambda: [change() for change in changes])


def _arguments_of(call):
    return [_Place(call.args, at) for at in range(len(call.args))] + [
        _Place(word, "value") for word in call.keywords
    ]
