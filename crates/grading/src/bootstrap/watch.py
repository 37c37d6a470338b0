# This part: whether the test runner is still the one that was loaded.

import builtins
import types
from operator import is_ as _is_same

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


class _Entries(list):
    """Entries of several namespaces, and a quick look at all of them."""

    def __init__(self, entries):
        super().__init__(entries)
        columns = {}
        for _, namespace, key, value, *_ in self:
            _, names, values = columns.setdefault(id(namespace), (namespace.get, [], []))
            names.append(key)
            values.append(value)
        self.columns = list(columns.values())

    def are_same(self):
        return all([all(map(_is_same, map(get, names), values)) for get, names, values in self.columns])


def _frozen_clocks(code):
    """What freezegun, where the image has it, puts in place of the clocks of all
    modules."""
    try:
        import freezegun.api as api
    except Exception:
        return ()
    if _below(os.path.abspath(api.__file__), code):
        return ()
    own = (value for value in vars(api).values() if isinstance(value, type))
    return tuple(value for value in own if value.__module__ == api.__name__)


class _Watch:
    """Remembers the functions and classes of the test runner."""

    def __init__(self, session, frozen_clocks):
        self.frozen_clocks = frozen_clocks
        self.is_intact = _integrity(session)
        all_entries, critical = [], []
        self.told = set(_REPLACED_BY_PYTEST)
        for name, module in sorted(sys.modules.items()):
            if module is None or not self.is_the_runner(name):
                continue
            entries = list(_entries(name, vars(module), name))
            all_entries += entries
            if name in _CRITICAL or name.startswith("_pytest.assertion"):
                critical += entries
        # This program itself: whoever finds it could change what it tells.
        own = list(_entries("the platform", globals(), __name__))
        self.all = _Entries(all_entries + own)
        self.critical = _Entries(critical + own)
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

    def changed(self, entries):
        """Names of what is no longer as it was, each told once."""
        labels = []
        if not entries.are_same():
            labels += [
                label
                for label, of, key, value, *_ in entries
                if of.get(key) is not value and not self.is_frozen(value, of.get(key))
            ]
        labels += self.changed_inside(entries)
        if not self.is_intact():
            labels.append("the platform's own program")
        for label in labels:
            if label not in self.told:
                self.told.add(label)
                yield label

    def is_frozen(self, value, now):
        if getattr(value, "__module__", None) != "datetime":
            return False
        return any(now is clock for clock in self.frozen_clocks)

    @staticmethod
    def changed_inside(entries):
        for label, _, _, _, function, code, defaults in entries:
            if function is not None:
                if function.__code__ is not code or function.__defaults__ is not defaults:
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


def _integrity(session):
    """Returns a function that tells whether this program is as it was, and has its
    places among pytest's plugins."""
    own, tell, attributes = globals(), _tell, vars(session)
    kinds = (types.FunctionType, type)
    names = [(key, value) for key, value in own.items() if isinstance(value, kinds)]
    classes = [
        (kind, key, value)
        for kind in [value for _, value in names if value.__module__ == __name__ and isinstance(value, type)]
        for key, value in vars(kind).items()
        if isinstance(value, (types.FunctionType, staticmethod))
    ]
    cells, pending = [], [tell]
    while pending:
        function = pending.pop()
        for cell in function.__closure__ or ():
            value = cell.cell_contents
            if not isinstance(value, int) and all(cell is not known for known, _ in cells):
                cells.append((cell, value))
                if isinstance(value, types.FunctionType):
                    pending.append(value)
    manager = session.manager
    relay = vars(manager.hook)
    hooks = [(vars(manager), "_inner_hookexec", vars(manager).get("_inner_hookexec"))]
    callers = [(name, caller) for name, caller in relay.items() if hasattr(caller, "get_hookimpls")]
    hooks += [(relay, name, caller) for name, caller in callers]
    places = [
        (caller.get_hookimpls, place, place.function)
        for _, caller in callers
        for place in caller.get_hookimpls()
        if place.plugin is session
    ]

    def is_intact():
        return (
            all([own.get(key) is value for key, value in names])
            and all([kind.__dict__.get(key) is value for kind, key, value in classes])
            and all([cell.cell_contents is value for cell, value in cells])
            and all([place in among() and place.function is function for among, place, function in places])
            and all([of.get(name) == value for of, name, value in hooks])
            and attributes.get("tell") is tell
        )

    return is_intact
