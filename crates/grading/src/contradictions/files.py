# This part: files of tests in pieces, of which each test has several forms.

_MOST = 5  # contradictions of one test


def _tests_of(tree, path=(), own_class=None):
    """The name inside the file, the test and its class."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name.startswith("test"):
                yield "::".join((*path, node.name)), node, own_class
        elif isinstance(node, ast.ClassDef):
            yield from _tests_of(node, (*path, node.name), node)


def _helpers_of(holders, own_class):
    """Functions that assert, with the parameters that are nothing but an
    expected side there, and their places."""
    found = {}
    for holder in holders + ([own_class] if own_class else []):
        for function in holder.body:
            if not isinstance(function, ast.FunctionDef) or function.name.startswith("test"):
                continue
            nodes = list(ast.walk(function))
            if any(isinstance(node, ast.Assert) or _called(node) in _EQUAL for node in nodes):
                skipped = 1 if holder is own_class else 0
                found[function.name] = _expected_parameters(function, nodes, skipped)
    return found


def _expected_parameters(function, nodes, skipped):
    if any(isinstance(node, ast.Return) for node in nodes):
        return []
    always = [s for s in function.body if isinstance(s, (ast.Assert, ast.Expr))]
    always = {getattr(side, "id", None) for side in _compared(ast.Module(always, []))}
    sides = {id(side) for side in _compared(function)}

    def is_expected(name):
        uses = (node for node in nodes if isinstance(node, ast.Name) and node.id == name)
        return name in always and all(id(node) in sides for node in uses)

    names = [argument.arg for argument in function.args.args][skipped:]
    return [(name, at) for at, name in enumerate(names) if is_expected(name)]


def _imported(tree, sources):
    """The modules beside the tests that a file of tests imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((getattr(node, "module", None) or "").split("."))
            names.update(alias.name for alias in node.names)
    return [ast.parse(text) for stem, text in sorted(sources.items()) if stem in names]


def _chosen(expectations):
    """At most two changes that only who learns what is expected can pass, a near
    one, then negations, and the end of the test where nothing else is."""
    strong = [c for c in expectations.changes if c.kind in ("constant", "exception")]
    weak = [c for c in expectations.changes if c.kind == "negation"]
    near = [c for c in expectations.changes if c.kind == "near"]
    for changes in (strong, weak, near):
        expectations.rng.shuffle(changes)
        changes.sort(key=lambda change: not change.natural)
    # Of two sorts, if there are two.
    first_of_sort = {change.sort: change for change in reversed(strong)}
    strong.sort(key=lambda change: first_of_sort[change.sort] is not change)
    most = strong[:2] + near[:1]
    return most + weak[: _MOST - 1 - len(most)] + [expectations.end()]


def _forms(text, number, seed, sources):
    """A file in which every test has its change of this number, if there is one:
    its pieces, and {place of a piece: (test, change)}."""
    tree, changed = ast.parse(text), {}
    assigned = (n for n in tree.body if isinstance(n, ast.Assign) and len(n.targets) == 1)
    constants = {n.targets[0].id: n.value for n in assigned if isinstance(n.targets[0], ast.Name)}
    modules = _imported(tree, sources) + [tree]
    mark = "piece of " + seed
    for at, (name, test, own_class) in enumerate(list(_tests_of(tree))):
        rng = random.Random(seed + name)
        helpers = _helpers_of(modules, own_class)
        choices = _chosen(_Expectations(test, helpers, constants, rng))
        change = choices[number] if number is not None and number < len(choices) else None
        if change is not None:
            change.apply()
        changed[2 * at + 1] = (name, change)
        block = (own_class or tree).body
        place = block.index(test)
        marking = ast.Expr(ast.Constant(mark))
        block[place : place + 1] = [marking, test, marking]
    lines = ast.unparse(ast.fix_missing_locations(tree)).split("\n")
    pieces = [[]]
    for line in lines:
        if mark in line:
            pieces.append([])
        else:
            pieces[-1].append(line)
    return ["".join(line + "\n" for line in piece) for piece in pieces], changed


def _pieces(text, seed, sources):
    """Texts, and in the place of each test its forms."""
    pieces, tests = _forms(text, None, seed, sources)
    for at, (name, _) in tests.items():
        pieces[at] = {"test": name, "as_written": pieces[at], "contradictions": []}
    for number in range(_MOST):
        changed, tests = _forms(text, number, seed, sources)
        for at, (_, change) in tests.items():
            if change is not None:
                form = {"kind": change.kind, "natural": change.natural, "text": changed[at]}
                pieces[at]["contradictions"].append(form)
    return pieces


def _main():
    asked = json.loads(sys.stdin.buffer.readline())
    files, skipped, parsed = {}, {}, {}
    for path, text in asked["files"].items():
        try:
            files[path] = _pieces(text, asked["seed"], asked["beside"])
            parsed[path] = text
        except (SyntaxError, ValueError, RecursionError) as error:
            skipped[path] = f"{type(error).__name__}: {error}"[:200]
    questions, not_asked = _questions(parsed, set(asked["own"]), asked["seed"], asked["beside"])
    data, words = _data(asked.get("data", {}), asked["seed"])
    files.update(data)
    made = {"files": files, "skipped": skipped, "words": words, "questions": questions, "not_asked": not_asked}
    sys.stdout.write(json.dumps(made))


_main()
