# This part: cheap walls. An audit decides later whether tests were passed by
# what they test; each wall can be left away where a task's own tests need that.

import builtins
import contextlib
import linecache
import pathlib


class _Sources:
    """The source of test modules, in memory alone: pytest makes the modules from
    here, and the code finds empty files. pytest gets the lines to show a failure
    for as long as it makes its report."""

    def __init__(self, tests):
        import _pytest.assertion.rewrite as rewrite

        sources, self.lines = {}, {}
        for folder, _, names in os.walk(tests):
            for name in names:
                path = os.path.join(folder, name)
                is_module = name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
                if is_module and not os.path.islink(path):
                    sources[path] = source = self.take(path)
                    lines = source.decode(errors="replace").splitlines(True)
                    self.lines[path] = len(source), None, lines, path
        rewrite_test = rewrite._rewrite_test

        class Path(type(pathlib.Path())):
            def read_bytes(self):
                return sources[str(self)]

        def rewrite_from_memory(path, *arguments):
            return rewrite_test(Path(path) if str(path) in sources else path, *arguments)

        rewrite._rewrite_test = rewrite_from_memory
        # Bytecode has all constants of a test.
        rewrite._write_pyc = lambda *_: False

    @staticmethod
    def take(path):
        times = os.stat(path)
        with open(path, "rb+") as file:
            source = file.read()
            file.truncate(0)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return source

    @contextlib.contextmanager
    def shown(self):
        linecache.cache.update(self.lines)
        try:
            yield
        finally:
            for path in self.lines:
                linecache.cache.pop(path, None)


class _TestFiles:
    """The files of the tests, as they were before any of the code ran."""

    def __init__(self, tests):
        self.known = {}
        for folder, _, names in os.walk(tests):
            python = [name for name in names if name.endswith(".py")]
            # Other folders hold data, which tests may write.
            if any(name.startswith("test") or name.endswith("_test.py") for name in python):
                paths = [os.path.join(folder, name) for name in python]
                self.known.update((path, self.digest(path)) for path in paths)
        self.told = set()

    @staticmethod
    def digest(path, open=open):
        try:
            with open(path, "rb") as file:
                return hashlib.sha256(file.read()).digest()
        except OSError:
            return None

    def changed(self, paths):
        for path in paths:
            if path not in self.told and self.digest(path) != self.known[path]:
                self.told.add(path)
                yield path

    def before_import(self, path):
        """Bytecode that lies beside a test file would be run instead of it."""
        folder, name = os.path.split(path)
        folder = os.path.join(folder, "__pycache__")
        stem = name[: -len(".py")] + "."
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                if name.startswith(stem):
                    os.remove(os.path.join(folder, name))


def _hide_current_test():
    """pytest names the test that runs in an environment variable, in which code
    could look it up. The value keeps its form."""
    import _pytest.runner as runner

    name = "PYTEST_CURRENT_TEST"
    names = {}

    def update(item, when):
        if when:
            known = names.setdefault(id(item), (item, "%016x" % random.getrandbits(64)))[1]
            os.environ[name] = "tests/test_%s.py::test_%s (%s)" % (known[:8], known[8:], when)
        else:
            os.environ.pop(name, None)

    if hasattr(runner, "_update_current_test_var"):
        runner._update_current_test_var = update


# Some stand there under several names.
_BUILTIN_EXCEPTIONS = {
    kind
    for kind in vars(builtins).values()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception
}


def _is_many_kinds(kind):
    """Whether an exception is four kinds of Python's that have nothing to do
    with each other. Honest ones of three exist, for callers of earlier versions."""
    kinds = [known for known in _BUILTIN_EXCEPTIONS if issubclass(kind, known)]
    leaves = [k for k in kinds if not any(o is not k and issubclass(o, k) for o in kinds)]
    return len(leaves) >= 4


def _ask_about_exceptions():
    """What a test expects to be raised must be of one kind."""
    import unittest.case
    told = set()

    def asking(leave):
        def __exit__(self, kind, value, traceback):
            __tracebackhide__ = True  # noqa: F841
            if kind is not None and kind not in told and _is_many_kinds(kind):
                told.add(kind)
                _tell("many_kinds", type=("%s.%s" % (kind.__module__, kind.__qualname__))[:300])
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


__unittest = True  # keeps the frames of this program out of tracebacks
