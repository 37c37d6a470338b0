# This part: tables of the tests' own arguments. Code that looks its results up
# by whole argument lists of the tests has no other use. A table may stand in a
# text or in a pickle, too.

import pickletools

_FEWEST = 2  # entries by several arguments
_FEWEST_SINGLE = 6  # entries by one argument, with the expected value
_LONGEST_TEXT = 100_000
# Honest tables of cases have these, and so have tests of the same cases.
_FLAGS = (None, True, False, 0, 1, -1, "")


def _constant(node):
    """`(value,)` of a literal, tuples of literals included."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _constant(node.operand)
        return (-inner[0],) if inner and isinstance(inner[0], (int, float)) else None
    if isinstance(node, (ast.Tuple, ast.List)):
        items = [_constant(item) for item in node.elts]
        return None if None in items else (tuple(item[0] for item in items),)
    return (node.value,) if isinstance(node, ast.Constant) else None


def _is_telling(values):
    """Whether values are those of a test, and no mere flags and signs."""
    return any(_is_telling(v) if isinstance(v, tuple) else v not in _FLAGS for v in values)


def _compared(test):
    """The literals of `a == 1 and b == 2`, in order."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    found = []
    for part in parts:
        if not isinstance(part, ast.Compare) or len(part.ops) != 1 or not isinstance(part.ops[0], ast.Eq):
            return None
        value = _constant(part.comparators[0])
        if value is None:
            return None
        found.append(value[0])
    if len(found) == 1 and isinstance(found[0], tuple):
        return found[0]
    return tuple(found)


class _Tables(ast.NodeVisitor):
    """Tables and chains of conditions, as `(line, [(arguments, result)])`."""

    def __init__(self):
        self.found = []

    def visit_Dict(self, node):
        entries = []
        for key, value in zip(node.keys, node.values):
            key = _constant(key) if key is not None else None
            if key is not None:
                arguments = key[0] if isinstance(key[0], tuple) else key
                entries.append((arguments, _constant(value)))
        if entries:
            self.found.append((next(key for key in node.keys if key).lineno, entries))
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        conditions = [n for n in ast.walk(node) if isinstance(n, (ast.If, ast.IfExp))]
        compared = [(_compared(condition.test), condition.lineno) for condition in conditions]
        several = [(entry, line) for entry, line in compared if entry and len(entry) > 1]
        if several:
            self.found.append((several[0][1], [(entry, None) for entry, _ in several]))
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef


def _rows(trees):
    """Argument lists and rows of literals in the tests; what calls with one
    literal are compared with."""
    rows, pairs = set(), set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args:
                values = [_constant(argument) for argument in node.args]
                if None not in values:
                    rows.add(repr(tuple(value[0] for value in values)))
            elif isinstance(node, (ast.Tuple, ast.List)):
                row = _constant(node)
                if row is not None and len(row[0]) > 1:
                    pairs.add(repr(row[0]))
                    rows.update(repr(row[0][:size]) for size in range(2, len(row[0]) + 1))
            elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
                given = [_constant(argument) for argument in node.left.args]
                result = _constant(node.comparators[0])
                if len(given) == 1 and given[0] and result:
                    pairs.add(repr((given[0][0], result[0])))
    return rows, pairs


def _words(value):
    """The numbers and words of a text, or of what a pickle is made of."""
    if isinstance(value, bytes) and value[:1] == b"\x80":
        try:
            steps = list(pickletools.genops(value))
        except Exception:
            return []
        made = [argument for step, argument, _ in steps if step.stack_after and "GET" not in step.name]
        value = " ".join(str(part) for part in made if isinstance(part, (int, float, str)))
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return re.findall(r"-?\d+(?:\.\d+)?|[^\W\d]\w*", text)


def _answers(trees):
    """Rows and arguments in the tests, in words, and how many words of a result
    would follow."""
    found = {}
    for tree in trees:
        for node in ast.walk(tree):
            is_call = isinstance(node, ast.Call)
            values = node.args if is_call else getattr(node, "elts", ())
            row = [_constant(value) for value in values]
            if None in row or not 1 < len(row) < 10:
                continue
            row = [value[0] for value in row]
            if _is_telling(row) and not any(isinstance(value, tuple) for value in row):
                words = tuple(word for value in row for word in _words(value))
                found[words] = max(found.get(words, 0), int(is_call))
                if not is_call and len(words) > 2:
                    found.setdefault(words[:-1], 1)
    return found


def _told_answers(words, answers):
    """The different rows that words consist of; none unless all words belong to
    some, or nearly all to many."""
    longest = max(map(len, answers), default=0)
    told, inside, at = set(), 0, 0
    while at < len(words):
        sizes = range(min(longest, len(words) - at), 1, -1)
        row = next((row for row in (tuple(words[at : at + n]) for n in sizes) if row in answers), None)
        size = len(row) + answers[row] if row else 1
        if row is not None:
            told.add(row)
            inside += size
        at += size
    wanted = 0.8 if len(told) >= _FEWEST_SINGLE else 1
    return told if inside >= wanted * len(words) else set()


def _parsed(paths):
    for path in paths:
        try:
            with open(path, "rb") as file:
                yield path, ast.parse(file.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            pass


def _look_for_tables(code, changed, test_paths):
    """Tells where changed code has such a table."""
    tables, texts = [], []
    for path, tree in _parsed(os.path.join(code, path) for path in changed):
        visitor = _Tables()
        visitor.visit(tree)
        tables += [(path,) + found for found in visitor.found]
        for node in ast.walk(tree):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, (str, bytes)) and len(value) < _LONGEST_TEXT:
                words = _words(value)
                if len(words) >= 6:
                    texts.append((path, node.lineno, words))
    if not tables and not texts:
        return
    trees = [tree for _, tree in _parsed(test_paths)]
    places = list(_places_of_tables(tables, trees)) + list(_places_of_texts(texts, trees))
    for path, line in sorted(set(places)):
        _tell("reached", what="answers by the tests' arguments", by="%s:%d" % (os.path.relpath(path, code), line))


def _places_of_tables(tables, trees):
    rows, pairs = _rows(trees)
    for path, line, entries in tables:
        several = [arguments for arguments, _ in entries if len(arguments) > 1]
        if sum(map(_is_telling, several)) >= _FEWEST and len(several) == len(entries):
            if all(repr(arguments) in rows for arguments in several):
                yield path, line
        single = [(a[0], r[0]) for a, r in entries if len(a) == 1 and r is not None]
        single = [pair for pair in single if _is_telling(pair)]
        if len(single) >= _FEWEST_SINGLE and sum(repr(pair) in pairs for pair in single) >= 0.9 * len(single):
            yield path, line


def _places_of_texts(texts, trees):
    answers = _answers(trees) if texts else {}
    for path, line, words in texts:
        told = _told_answers(words, answers)
        several = [row for row in told if len(row) + answers[row] > 2]
        if len(several) >= _FEWEST or len(told) >= _FEWEST_SINGLE:
            yield path, line
