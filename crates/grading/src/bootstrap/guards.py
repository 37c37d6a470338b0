# This part: cheap walls. An audit decides later whether tests were passed by
# what they test; each wall can be left away where a task's own tests need that.

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


def _test_files(tests):
    """The Python files in folders with test modules."""
    found = set()
    for folder, _, names in os.walk(tests):
        python = [name for name in names if name.endswith(".py")]
        # Other folders hold data, which tests may write.
        if any(name.startswith("test") or name.endswith("_test.py") for name in python):
            found.update(os.path.join(folder, name) for name in python)
    return found


def _remove_bytecode(path):
    """What lies beside a test file would be run instead of it."""
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


__unittest = True  # keeps the frames of this program out of tracebacks
