# This part: what the code under test reaches for. Python tells an audit hook
# whatever name or detour the code uses, and a hook cannot be taken back.

import _thread

_REACHES = {
    "sys._getframe": "reads the stack",
    "sys._current_frames": "reads the stack",
    "sys._current_exceptions": "reads the stack",
    "gc.get_objects": "reads the heap",
    "gc.get_referrers": "reads the heap",
    "gc.get_referents": "reads the heap",
    "sys.settrace": "traces execution",
    "sys.setprofile": "traces execution",
    "sys.monitoring.register_callback": "traces execution",
    "ctypes.dlopen": "reaches below Python",
    "os.kill": "ends processes",
    "os.killpg": "ends processes",
    "os.exec": "replaces the process",
    "os.fork": "copies the process",
}
_FRAMES = {"tb_frame", "gi_frame", "cr_frame", "ag_frame"}
# Functions of the standard library that hand on what they get.
_HANDED_ON = {
    "inspect.py": None,
    "logging/__init__.py": {"currentframe", "<lambda>"},
    "traceback.py": {"walk_stack", "walk_tb", "_walk_tb_with_full_positions"},
}
_IMPORTERS = ("_frozen_importlib", "_frozen_importlib_external")
_READERS = {"io.py", "codecs.py", "inspect.py", "linecache.py", "pathlib.py", "tokenize.py"}


class _Reach:
    def __init__(self, code, tests, test_files):
        self.code = code
        self.tests = tests
        self.test_files = test_files
        self.library = os.path.dirname(os.__file__)
        self.importers = [vars(sys.modules[name]) for name in _IMPORTERS]
        self.busy = set()
        self.told = set()
        self.get_frame = sys._getframe
        self.abspath = os.path.abspath

    def hook(self, event, arguments):
        what = _REACHES.get(event)
        if what is None:
            if event == "object.__getattr__":
                if arguments[1] not in _FRAMES:
                    return
                what = "reads the stack"
            elif event == "object.__setattr__":
                if arguments[1] != "__code__":
                    return
                what = "looks into functions"
            elif event == "open":
                if not self.is_test_file(arguments[0]):
                    return
                what = "reads the tests"
            else:
                return
        thread = _thread.get_ident()
        if thread in self.busy:
            return
        self.busy.add(thread)
        try:
            self.asked(what, self.get_frame(1))
        except Exception:
            pass
        finally:
            self.busy.discard(thread)

    def is_test_file(self, path):
        if not isinstance(path, str) or not path.endswith(".py"):
            return False
        return self.abspath(path) in self.test_files

    def asked(self, what, frame):
        while frame is not None and self.hands_on(what, frame):
            frame = frame.f_back
        # A name of a file can be made up, our own globals cannot.
        if frame is None or frame.f_globals is globals():
            return
        place = self.abspath(frame.f_code.co_filename)
        if not _below(place, self.code) or _below(place, self.tests):
            return
        by = place[len(self.code) + 1 :]
        if (what, by) not in self.told:
            self.told.add((what, by))
            _tell("reached", what=what, by="%s:%d" % (by[:200], frame.f_lineno))

    def hands_on(self, what, frame):
        if what == "reads the tests" and any(frame.f_globals is own for own in self.importers):
            return True
        code = frame.f_code
        if not code.co_filename.startswith(self.library):
            return False
        name = code.co_filename[len(self.library) + 1 :]
        if what == "reads the tests":
            return name in _READERS or name.startswith("pathlib/")
        functions = _HANDED_ON.get(name, ())
        return functions is None or code.co_name in functions


class _TestFiles:
    """The files of the tests, as they were before any of the code ran."""

    def __init__(self, tests):
        self.known = {}
        for folder, _, names in os.walk(tests):
            python = [name for name in names if name.endswith(".py")]
            # Other folders hold data, which tests may write.
            if any(name.startswith("test") or name.endswith("_test.py") for name in python):
                for name in python:
                    path = os.path.join(folder, name)
                    self.known[path] = self.digest(path)
        self.told = set()

    @staticmethod
    def digest(path):
        try:
            with open(path, "rb") as file:
                return hmac.new(b"", file.read(), "sha256").digest()
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
