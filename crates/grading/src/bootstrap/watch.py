# This part: whether the test runner is still the one that was loaded.

import builtins
import operator
import types

# What honest tests and libraries replace.
_REPLACED_BUILTINS = "open print input __import__ breakpoint help exit quit _".split()

# Verified around every test; everything else now and then.
_CRITICAL = (
    "_pytest.runner _pytest.reports _pytest.skipping _pytest.raises"
    " _pytest.python_api _pytest.assertion unittest.case"
).split()


# pytest's own plugins for old interfaces replace these after the session began.
_REPLACED_BY_PYTEST = ("_pytest.config.Config._getini_unknown_type",)


def _functions(value):
    """The plain functions behind an entry of a module or class."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, property):
        return [f for f in (value.fget, value.fset) if isinstance(f, types.FunctionType)]
    return [value] if isinstance(value, types.FunctionType) else []


def _entries(name, namespace, module):
    for key, value in list(namespace.items()):
        functions = _functions(value)
        label = name + "." + key
        if functions:
            for function in functions:
                kept = (function, function.__code__, function.__defaults__)
                yield (label, namespace, key, value) + kept
        elif isinstance(value, type):
            yield (label, namespace, key, value, None, None, None)
            if value.__module__ == module and key == value.__name__:
                yield from _entries(label, vars(value), module)


class _Swaps:
    """The watched functions, and whether one of them got other code or defaults.
    Python tells when that happens. To ask each function instead is slow, since
    Python tells that as well."""

    ATTRIBUTES = ("__code__", "__defaults__")

    def __init__(self):
        self.watched = set()
        self.happened = False


class _Snapshot:
    """Entries as they were. Looks are many and nearly all find nothing, so such
    a look runs in C alone. Its tools are defaults, which are watched too."""

    def __init__(self, entries):
        self.entries = entries
        kept = {}
        for _, namespace, key, value, *_ in entries:
            kept.setdefault(id(namespace), (namespace, {}))[1][key] = value
        # An itemgetter of one key gives no tuple, so the first is asked for twice.
        self.places = [
            (namespace, operator.itemgetter(*names, next(iter(names))), [*names.values()])
            for namespace, names in kept.values()
        ]

    def is_in_place(self, all=all, map=map, same=operator.is_):
        try:
            for namespace, values, kept in self.places:
                if not all(map(same, values(namespace), kept)):
                    return False
        except KeyError:
            return False
        return True


class _Watch:
    """Remembers the functions and classes of the test runner."""

    def __init__(self, swaps):
        self.swaps = swaps
        everything, critical = [], []
        self.told = set(_REPLACED_BY_PYTEST)
        for name, module in sorted(sys.modules.items()):
            if module is None or not self.is_the_runner(name):
                continue
            entries = list(_entries(name, vars(module), name))
            everything += entries
            if name in _CRITICAL or name.startswith("_pytest.assertion"):
                critical += entries
        # This program itself: whoever finds it could change what it tells.
        own = list(_entries("the platform", globals(), __name__))
        self.all = _Snapshot(everything + own)
        self.critical = _Snapshot(critical + own)
        swaps.watched.update(id(entry[4]) for entry in self.all.entries if entry[4] is not None)
        kept = {n: value for n, value in vars(builtins).items() if n not in _REPLACED_BUILTINS}
        self.builtins = {n: value for n, value in kept.items() if callable(value)}
        runner = {n: vars(m) for n, m in sys.modules.items() if m and self.is_the_runner(n)}
        self.hidden = {n: names.keys() & self.builtins.keys() for n, names in runner.items()}
        self.modules = [[n, names, len(names)] for n, names in runner.items()]

    @staticmethod
    def is_the_runner(name):
        top = name.partition(".")[0]
        if top == "unittest":
            return name != "unittest.mock"
        return top in ("_pytest", "pytest", "pluggy")

    def changed(self, snapshot):
        """Names of what is no longer as it was, each told once."""
        if snapshot is self.critical and not self.swaps.happened and snapshot.is_in_place():
            return
        for label, namespace, key, value, function, code, defaults in snapshot.entries:
            same = namespace.get(key) is value and (
                function is None
                or (function.__code__ is code and function.__defaults__ is defaults)
            )
            if not same and label not in self.told:
                self.told.add(label)
                yield label

    def hidden_builtins(self):
        """Names that the runner's modules have instead of built-in ones, and
        had not."""
        for known in self.modules:
            module, names, size = known
            if len(names) == size:
                continue
            known[2] = len(names)
            hidden = names.keys() & self.builtins.keys()
            for name in hidden - self.hidden[module]:
                yield "%s.%s" % (module, name)
            self.hidden[module] = hidden

    def changed_builtins(self):
        for name, value in self.builtins.items():
            if getattr(builtins, name, None) is not value and name not in self.told:
                self.told.add(name)
                yield "builtins." + name
