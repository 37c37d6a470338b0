# This part: calls of the package whose answers tests compare with constants, and
# the same calls with one input changed a little.

import itertools
import math

# Of one call; the oracle answers all, and the first that tell something are asked.
_CHANGED = 12
_ALL_CHANGED = 1500  # of a suite, but at least three of one call
_ROWS = 40  # of one table
_CALLS = 10  # of one function
_ALL_CALLS = 300  # of a suite


# Assertions that hold for equal values alone.
_EXACT = _EQUAL - {
    "assertCountEqual",
    "assertAlmostEqual",
    "assert_allclose",
    "assert_almost_equal",
    "assert_frame_equal",
}


class _Names:
    """The meaning of names in a file of tests."""

    def __init__(self, tree, own):
        # The package's, with its own name of each; tests call it by functions of
        # theirs too.
        self.package = {}
        self.known = set(dir(builtins)) | {"__file__", "__name__"}
        self.has_all = False
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] in own:
                        name = alias.asname or alias.name.split(".")[0]
                        self.package[name] = alias.name if alias.asname else name
            elif isinstance(node, ast.ImportFrom):
                module = node.module or ""
                if not node.level and module.split(".")[0] in own:
                    self.has_all |= any(alias.name == "*" for alias in node.names)
                    for alias in node.names:
                        self.package[alias.asname or alias.name] = f"{module}.{alias.name}"
        for statement in tree.body:
            self.known |= _stored(statement)
            if isinstance(statement, ast.FunctionDef):
                self.package.setdefault(statement.name, statement.name)

    def called(self, call, local):
        """The package's name of what is called, `None` where it is not the
        package's. `local` has the variables: the package's name of an object, empty
        where it is not known, and `None` for other values."""
        words, node = [], call.func
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Attribute):
                words.insert(0, node.attr)
                node = node.value
            elif isinstance(node, ast.Call):
                node = node.func
            elif isinstance(node, ast.Subscript):
                node = node.value
            else:
                return None
        if node.id in local:
            name = local[node.id]
        else:
            is_unknown = self.has_all and node.id not in self.known
            name = self.package.get(node.id) or (node.id if is_unknown else None)
        return None if name is None else ".".join(filter(None, [name] + words)) or None

    def value(self, node, local):
        """The package's name of a value, as `called` has it."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Await)):
            node = node.value
        return self.called(node, local) if isinstance(node, ast.Call) else None


def _stored(statement):
    """The names that a statement gives a value."""
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return names


def _loaded(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _assigned(target, value):
    """A row's values to its names, each by a statement of its own."""
    targets, values = getattr(target, "elts", None), getattr(value, "elts", None)
    if targets and values and len(targets) == len(values):
        return [one for pair in zip(targets, values) for one in _assigned(*pair)]
    return [ast.Assign([target], value, lineno=0)]


def _reorders(decorator):
    """Whether its rows may run in another order than the others'."""
    words = {word.arg for word in getattr(decorator, "keywords", [])}
    is_table = _called(decorator) == "parametrize"
    return is_table and (len(decorator.args) > 2 or not words.isdisjoint({"scope", "indirect"}))


def _as_effect(statement):
    """What an assertion does beside asserting."""
    if isinstance(statement, ast.Assert):
        return ast.Expr(statement.test)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and getattr(getattr(call.func, "value", None), "id", "") == "self":
        return ast.Expr(ast.Tuple(call.args, ast.Load()))
    return statement


def _membership(expression):
    """What is looked for, and the constants that it may be."""
    sides = None, None
    if isinstance(expression, ast.Compare) and [type(o) for o in expression.ops] == [ast.In]:
        sides = expression.left, expression.comparators[0]
    elif _called(expression) == "assertIn" and len(expression.args) > 1:
        sides = expression.args[:2]
    one, container = sides
    is_known = isinstance(container, (ast.Tuple, ast.List, ast.Set)) and _is_constant(container)
    return (one, container.elts) if is_known and not _is_constant(one) else (None, [])


class _Calls:
    """Of one test: `found` has its calls, `not_asked` the reasons for others."""

    def __init__(self, test, names, constants, helpers):
        self.names, self.constants, self.helpers = names, constants, helpers
        self.found, self.not_asked = [], collections.Counter()
        self.parameters = {node.arg for node in ast.walk(test.args) if isinstance(node, ast.arg)}
        expectations = _Expectations(test, {}, constants, random.Random(0))
        self.inputs_are_the_same = expectations.inputs_are_the_same()
        # pytest lets the decorator next to the function vary last.
        tables = self.rows(expectations)[::-1]
        self.number = math.prod(map(len, tables))
        self.is_reordered = any(map(_reorders, test.decorator_list))
        for self.row, rows in zip(range(_ROWS), itertools.product(*tables)):
            self.look(test.body, itertools.chain(*rows))

    def rows(self, expectations):
        """Tables of the values of parameters, as statements."""
        tables = []
        for decorator, rows in expectations.tables():
            names = ast.literal_eval(decorator.args[0]) if _is_constant(decorator.args[0]) else []
            names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
            target = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
            target = target if len(names) > 1 else target.elts[0] if names else None
            rows = rows if isinstance(rows, (ast.List, ast.Tuple)) and target else ast.List([])
            plain = lambda row: ast.Tuple(row.args, ast.Load()) if len(names) > 1 else row.args[0]
            rows = [plain(row) if _called(row) == "param" else row for row in rows.elts]
            tables.append([_assigned(target, row) for row in rows])
        return [table for table in tables if table]

    def look(self, block, before):
        before = list(before)
        for statement in block:
            for asked, expected in self.compared(statement):
                self.add(asked, expected, before)
            rows = getattr(statement, "iter", None)
            rows = self.constants.get(getattr(rows, "id", ""), rows)
            if isinstance(statement, ast.For) and isinstance(rows, (ast.List, ast.Tuple)):
                for row in rows.elts[:_ROWS]:
                    self.look(statement.body, before + _assigned(statement.target, row))
            elif {_called(item.context_expr) for item in getattr(statement, "items", [])} == {"subTest"}:
                self.look(statement.body, before)
            elif hasattr(statement, "body"):
                inside = (node for node in ast.walk(statement) if isinstance(node, ast.stmt))
                compared = [pair for node in inside for pair in self.compared(node)]
                self.not_asked["inside a block that may not be reached"] += len(compared)
            before.append(_as_effect(statement))

    def compared(self, statement):
        """The sides that are compared with constants, and what exactly they equal;
        `None` where it may be less exact."""
        if isinstance(statement, ast.Assert):
            asserted = _conjuncts(statement.test)
        else:
            asserted = [statement.value] if isinstance(statement, ast.Expr) else []
        for expression in asserted:
            called = _called(expression)
            if called == "assertTrue" and expression.args:
                asserted += _conjuncts(expression.args[0])
            one, known = _membership(expression)
            if one is not None:
                yield one, known[0] if len(known) == 1 else None
            sides = [side.get() for side in _sides(expression)]
            is_exact = isinstance(expression, ast.Compare) or called in _EXACT
            if called in self.helpers:
                # What it does with them is unknown.
                sides, is_exact = expression.args, False
            for at, side in enumerate(sides):
                others = sides[:at] + sides[at + 1 :]
                expected = [o for o in others if _is_constant(o) or isinstance(o, ast.Name)]
                if expected and not _is_constant(side):
                    yield side, expected[0] if is_exact else None

    def add(self, asked, expected, before):
        local = self.variables(before)
        statements = self.needed(asked, before, local)
        functions = [self.function(node, local) for node in [asked] + statements[::-1]]
        function = next(filter(None, functions), None)
        if isinstance(asked, ast.Name) and not function:
            return  # the expected side
        free = set().union(*map(_loaded, [asked] + statements)) - set(local)
        why = None
        if not self.inputs_are_the_same:
            why = "inputs that differ from run to run"
        elif "self" in free:
            why = "needs the test's object"
        elif free & self.parameters:
            why = "needs a fixture"
        elif not function:
            why = "no call of the package"
        elif free - self.names.known and not self.names.has_all:
            why = "needs names that are not in the file"
        elif not list(self.inputs([*statements, asked], local)):
            why = "no literal input"
        if why:
            self.not_asked[why] += 1
        else:
            pinned = expected and self.constant(expected, before, local)
            self.found.append(_Call(self, function, statements, asked, local, pinned))

    def constant(self, expected, before, local):
        """What is expected; `None` where the package may make that too."""
        statements = self.needed(expected, before, local)
        nodes = [expected, *statements]
        names = set().union(*map(_loaded, nodes)) - set(local)
        nodes += [self.constants[name] for name in names & set(self.constants)]
        package = set(self.names.package) - set(local)
        if any(self.function(node, local) or _loaded(node) & package for node in nodes):
            return None
        return _text(statements, expected)

    def variables(self, before):
        local = {}
        for statement in before:
            local.update(dict.fromkeys(_stored(statement), ""))
            if isinstance(statement, ast.Assign):
                name = getattr(statement.targets[0], "id", None)
                local[name] = self.names.value(statement.value, local)
        return local

    def needed(self, asked, before, local):
        """The statements that give names of the expression their values, or use
        their objects."""
        wanted, needed = _loaded(asked) & set(local), []
        for statement in before[::-1]:
            loaded = _loaded(statement)
            if (loaded | _stored(statement)) & wanted:
                wanted |= loaded & set(local)
                needed.insert(0, statement)
        return needed

    def function(self, node, local):
        """The outermost call of the package."""
        for below in ast.walk(node):
            name = isinstance(below, ast.Call) and self.names.called(below, local)
            if name:
                return name
        return None

    def inputs(self, nodes, local):
        """The literals that the package may get."""
        seen = set()
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            calls = (n for n in ast.walk(node) if isinstance(n, ast.Call))
            calls = [call for call in calls if self.names.called(call, local)]
            within = [part for call in calls for part in _arguments(call)]
            within += [node.value] if isinstance(node, ast.Assign) else []
            for below in itertools.chain(*map(ast.walk, within)):
                value = below.value if isinstance(below, ast.Constant) else None
                if _slightly_other(value, random) is not None and id(below) not in seen:
                    seen.add(id(below))
                    yield below


def _slightly_other(value, rng):
    """Another literal of the same type; `None` where there is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value + rng.choice([1, 2, 3, 10, -1, -2 * value or 5])
    if isinstance(value, float):
        return value * rng.choice([1.5, 0.75, 1.1]) if value else 0.5
    if isinstance(value, bytes):
        new = _slightly_other(value.decode("latin-1"), rng)
        return new and new.encode("latin-1")
    if not isinstance(value, str):
        return None
    places = [at for at, c in enumerate(value) if c.isascii() and c.isalnum()]
    if not places:
        return None
    at = rng.choice(places)
    alike = "0123456789" if value[at].isdigit() else "aeinorst"
    alike = alike.upper() if value[at].isupper() else alike
    return value[:at] + rng.choice(alike.replace(value[at], "")) + value[at + 1 :]


def _text(statements, expression):
    block = ast.Module(statements, [])
    return [ast.unparse(ast.fix_missing_locations(block)), ast.unparse(expression)]


class _Call:
    """Statements, and the expression behind them that a constant is compared with."""

    def __init__(self, calls, function, statements, asked, local, expected):
        self.calls, self.function, self.local = calls, function, local
        self.nodes, self.expected = [*statements, asked], expected
        # Of so many; pytest knows whether there are others.
        self.row = None if calls.is_reordered else [calls.row, calls.number]

    def question(self, rng, changed):
        """Its forms: as it is, and changed."""
        forms = [_text(self.nodes[:-1], self.nodes[-1])]
        for _ in range(3 * changed):
            new = copy.deepcopy(self.nodes)
            one = rng.choice(list(self.calls.inputs(new, self.local)))
            one.value = _slightly_other(one.value, rng)
            form = _text(new[:-1], new[-1])
            if form not in forms and len(forms) <= changed:
                forms.append(form)
        return {"function": self.function, "forms": forms, "expected": self.expected, "row": self.row}


def _questions(files, own, seed, beside):
    """Questions of all files, few of each function, and how many calls are not
    asked, by reason."""
    found, not_asked = {}, collections.Counter()
    for path, text in sorted(files.items()):
        tree = ast.parse(text)
        names = _Names(tree, own)
        modules = _imported(tree, beside) + [tree]
        assigned = (n for n in tree.body if isinstance(n, ast.Assign) and len(n.targets) == 1)
        constants = {n.targets[0].id: n.value for n in assigned if isinstance(n.targets[0], ast.Name)}
        for name, test, own_class in _tests_of(tree):
            try:
                calls = _Calls(test, names, constants, _helpers_of(modules, own_class))
            except (SyntaxError, ValueError, TypeError, LookupError, RecursionError):
                not_asked["in a test that cannot be taken apart"] += 1
                continue
            not_asked.update(calls.not_asked)
            for call in calls.found:
                found.setdefault(call.function, []).append((path, name, call))
    rng, drawn = random.Random(seed), []
    for function in sorted(found):
        some = rng.sample(found[function], len(found[function]))
        drawn += [(at, call) for at, call in enumerate(some)]
    drawn.sort(key=lambda one: one[0])
    asked = [call for at, call in drawn if at < _CALLS][:_ALL_CALLS]
    not_asked["one of many of its function"] += len(drawn) - len(asked)
    changed = max(3, min(_CHANGED, _ALL_CHANGED // max(1, len(asked))))
    questions = [
        {"file": path, "test": f"{path}::{name}", **call.question(rng, changed)}
        for path, name, call in asked
    ]
    return questions, {why: calls for why, calls in sorted(not_asked.items()) if calls}
