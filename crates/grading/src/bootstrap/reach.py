# This part: what the code under test reaches for. Python tells an audit hook
# whatever name or detour the code uses, and a hook cannot be taken back.

import _thread
import types

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
    "code.__new__": "looks into functions",
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
_READERS = {"io.py", "codecs.py", "inspect.py", "linecache.py", "pathlib.py", "tokenize.py"}
_CHECK_EVERY = 64  # events


def _audit_hook(code, tests, test_files, intact):
    """Returns the hook. Nothing refers to it but Python itself: code has to
    reach for the heap or the stack to find it, and is heard doing so."""
    reaches, frames, readers = dict(_REACHES), frozenset(_FRAMES), frozenset(_READERS)
    handed_on = dict(_HANDED_ON)
    files = frozenset(test_files)
    file_names = frozenset(path.rpartition("/")[2] for path in files) - {"__init__.py"}
    library = os.path.dirname(os.__file__) + "/"
    importers = [vars(sys.modules[name]) for name in ("_frozen_importlib", "_frozen_importlib_external")]
    own, tell, get_frame, get_ident = globals(), _tell, sys._getframe, _thread.get_ident
    is_of, text = isinstance, str
    busy, told = set(), set()
    check_every, events = _CHECK_EVERY, 0

    def is_test_file(path):
        if not is_of(path, text):
            return False
        if path.startswith("/") and ".." not in path:
            return path in files
        return path.rpartition("/")[2] in file_names

    def hands_on(what, frame):
        for names in importers:
            if frame.f_globals is names:
                return True
        place = frame.f_code.co_filename
        if not place.startswith(library):
            return False
        name = place[len(library) :]
        if what == "reads the tests":
            return name in readers or name.startswith("pathlib/")
        functions = handed_on.get(name, ())
        return functions is None or frame.f_code.co_name in functions

    def asked(what, frame):
        while frame is not None and hands_on(what, frame):
            frame = frame.f_back
        # A name of a file can be made up, our own globals cannot.
        if frame is None or frame.f_globals is own:
            return
        place = frame.f_code.co_filename
        if place.startswith("/"):
            if not place.startswith(code + "/") or place in files:
                return
            if place.startswith(tests + "/") and ".." not in place:
                return
            place = place[len(code) + 1 :]
        if (what, place) not in told:
            told.add((what, place))
            tell("reached", what=what, by="%s:%d" % (place[:200], frame.f_lineno))

    def reach(event, arguments):
        what = reaches.get(event)
        if what is not None:
            return what
        if event == "object.__getattr__":
            return "reads the stack" if arguments[1] in frames else None
        if event == "object.__setattr__":
            return "looks into functions" if arguments[1] == "__code__" else None
        if event == "open":
            return "reads the tests" if is_test_file(arguments[0]) else None
        if event == "compile":
            # Under the name of a test file it would pass for a test.
            named = is_of(arguments[1], text) and arguments[1].startswith(tests + "/")
            return "hides code" if named else None
        return None

    def hook(event, arguments):
        nonlocal events
        events += 1
        what = reach(event, arguments)
        if what is None and events % check_every:
            return
        thread = get_ident()
        if thread in busy:
            return
        busy.add(thread)
        try:
            if what is not None:
                asked(what, get_frame(1))
            if not intact() and "changed" not in told:
                told.add("changed")
                tell("patched", what="the platform's own program", test="an event of Python")
        except Exception:
            pass
        finally:
            busy.discard(thread)

    return hook


def _integrity(session):
    """Returns a function that tells whether this program is as it was, and one
    that adds its places among pytest's plugins."""
    own, attributes = globals(), vars(session)
    kinds = (types.FunctionType, type)
    names = [(key, value) for key, value in own.items() if isinstance(value, kinds)]
    classes = [
        (kind, key, value)
        for kind in [value for _, value in names if value.__module__ == __name__ and isinstance(value, type)]
        for key, value in vars(kind).items()
        if isinstance(value, (types.FunctionType, staticmethod))
    ]
    cells, pending = [], [_tell]
    while pending:
        function = pending.pop()
        for cell in function.__closure__ or ():
            value = cell.cell_contents
            if not isinstance(value, int) and all(cell is not known for known, _ in cells):
                cells.append((cell, value))
                if isinstance(value, types.FunctionType):
                    pending.append(value)
    places = []

    def intact():
        for key, value in names:
            if own.get(key) is not value:
                return False
        for kind, key, value in classes:
            if kind.__dict__.get(key) is not value:
                return False
        for cell, value in cells:
            if cell.cell_contents is not value:
                return False
        for among, place, function in places:
            if place not in among() or place.function is not function:
                return False
        return attributes.get("tell") is tell

    tell = _tell

    def add_places(manager):
        for caller in vars(manager.hook).values():
            if hasattr(caller, "get_hookimpls"):
                for place in caller.get_hookimpls():
                    if place.plugin is session:
                        places.append((caller.get_hookimpls, place, place.function))

    return intact, add_places


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
