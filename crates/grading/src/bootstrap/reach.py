# This part: what the code under test reaches for. Python tells an audit hook
# whatever name or detour the code uses, and a hook cannot be taken back.

import _thread
import re
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
    "sys.addaudithook": "traces execution",
    "code.__new__": "looks into functions",
    "os.kill": "ends processes",
    "os.killpg": "ends processes",
    "os.exec": "replaces the process",
    "os.fork": "copies the process",
    "os.system": "starts processes",
    "os.posix_spawn": "starts processes",
    "os.spawn": "starts processes",
    "subprocess.Popen": "starts processes",
    "pty.spawn": "starts processes",
}
# ctypes has a dozen events; all of them go around Python.
_BELOW = "ctypes."
_FRAMES = {"tb_frame", "gi_frame", "cr_frame", "ag_frame"}
# Functions of the standard library that hand on what they get.
_HANDED_ON = {
    "inspect.py": None,
    "bdb.py": None,
    "pdb.py": None,
    "trace.py": None,
    "code.py": None,
    "profile.py": None,
    "cProfile.py": None,
    "asyncio/base_tasks.py": None,
    "asyncio/tasks.py": {"get_stack", "print_stack"},
    "asyncio/subprocess.py": None,
    "asyncio/base_subprocess.py": None,
    "asyncio/base_events.py": {"subprocess_shell", "subprocess_exec"},
    "asyncio/unix_events.py": {"_make_subprocess_transport", "_start"},
    "logging/__init__.py": {"currentframe", "<lambda>"},
    "traceback.py": {
        "walk_stack", "walk_tb", "_walk_tb_with_full_positions",
        "extract_stack", "print_stack", "format_stack",
    },
    "subprocess.py": None,
    "os.py": None,
    "pkgutil.py": None,
    "ctypes/__init__.py": None,
}
# A file is read for the code, whatever function of the standard library opens
# it, but not when an honest message shows the lines of a test.
_SHOWS_LINES = {
    "traceback.py": None,
    "warnings.py": {"_showwarnmsg", "_showwarnmsg_impl"},
    "logging/__init__.py": None,
}
_BY_ANY_FUNCTION = {"reads the tests", "reads the kernel's files", "hides code"}
# These of `inspect` look at all modules, for their files alone.
_ONLY_FILES = {"getmodule", "getfile"}
_CHECK_EVERY = 64  # events
_OWN_NAME = r"(?<!dirname\()(?<!abspath\()(?<!realpath\()(?<!Path\()\b__file__\b"


def _reached(code, tests, test_files):
    """Returns a function that tells what code under test reached for, given the
    frame that asked Python for it."""
    files = frozenset(test_files)
    library = os.path.dirname(os.__file__) + "/"
    importers = [vars(sys.modules[name]) for name in ("_frozen_importlib", "_frozen_importlib_external")]
    handed_on, shows_lines = dict(_HANDED_ON), dict(_SHOWS_LINES)
    own, tell, told = globals(), _tell, set()
    any_function, only_files = frozenset(_BY_ANY_FUNCTION), frozenset(_ONLY_FILES)

    def has(functions_of, name, function):
        functions = functions_of.get(name, ())
        return functions is None or function in functions

    def in_library(place):
        """The path below the standard library, if it is there."""
        if place.startswith("<frozen "):
            return place[len("<frozen ") : -1] + ".py"
        if place.startswith(library) and "-packages/" not in place:
            return place[len(library) :]
        return None

    def hands_on(what, frame):
        for names in importers:
            if frame.f_globals is names:
                return True
        name = in_library(frame.f_code.co_filename)
        if name is None:
            return False
        function = frame.f_code.co_name
        if what in any_function:
            return not has(shows_lines, name, function)
        if what == "reads the tests' modules" and function in only_files:
            return False
        return has(handed_on, name, function)

    def asked(what, frame):
        """Whether code under test did."""
        if frame.f_globals is own:
            return False
        if what == "looks into functions" and any(frame.f_globals is of for of in importers):
            return False  # a module's code is loaded from a file
        while frame is not None and hands_on(what, frame):
            frame = frame.f_back
        # A name of a file can be made up, our own globals cannot.
        if frame is None or frame.f_globals is own:
            return False
        place = frame.f_code.co_filename
        if place.startswith("/"):
            if not place.startswith(code + "/") or place in files:
                return False
            if place.startswith(tests + "/") and ".." not in place:
                return False
            place = place[len(code) + 1 :]
        elif in_library(place) is not None:
            return False
        if (what, place) not in told:
            told.add((what, place))
            tell("reached", what=what, by="%s:%d" % (place[:200], frame.f_lineno))
        return True

    return asked


def _audit_hook(asked, code, tests, test_files, intact, insides):
    """Returns the hook. Nothing refers to it but Python itself: code has to
    reach for the heap or the stack to find it, and is heard doing so."""
    reaches, frames, below = dict(_REACHES), frozenset(_FRAMES), _BELOW
    is_test_file = test_files.has
    is_test_function, is_of_kernel = test_files.has_function, _is_of_kernel
    tell, get_frame, get_ident = _tell, sys._getframe, _thread.get_ident
    is_of, text, function_kind, item_of = isinstance, str, types.FunctionType, _is_of_pytest
    watched, replaced, of_function = insides.watched, insides.replaced, insides.NAMES
    busy, told = set(), set()
    check_every, events = _CHECK_EVERY, 0

    def reach(event, arguments):
        what = reaches.get(event)
        if what is not None:
            return what
        if event == "object.__getattr__":
            of, name = arguments[0], arguments[1]
            if name in frames:
                return "reads the stack"
            test = name == "__code__" and is_of(of, function_kind) and is_test_function(of)
            return "reads the tests' modules" if test else None
        if event == "object.__setattr__":
            of, name = arguments[0], arguments[1]
            if name in of_function and id(of) in watched:
                replaced.append(of)
            if name == "__code__":
                return "looks into functions"
            return "reaches for the test runner" if name == "__class__" and item_of(of) else None
        if event == "open":
            if is_test_file(arguments[0]):
                return "reads the tests"
            return "reads the kernel's files" if is_of_kernel(arguments[0]) else None
        if event == "compile":
            # Under the name of a test file it would pass for a test.
            name = arguments[1]
            if not is_of(name, text) or not name.startswith(code + "/"):
                return None
            return None if name.endswith(".py") and not name.startswith(tests + "/") else "hides code"
        return "reaches below Python" if event.startswith(below) else None

    def hook(event, arguments):
        nonlocal events
        events += 1
        if event == "builtins.id" and events % check_every:
            return
        thread = get_ident()
        if thread in busy:
            return
        what = reach(event, arguments)
        if what is None and events % check_every:
            return
        busy.add(thread)
        try:
            by_code = what is not None and asked(what, get_frame(1))
            if (by_code or not events % check_every) and not intact() and "changed" not in told:
                told.add("changed")
                tell("patched", what="the platform's own program", test="an event of Python")
        except Exception:
            pass
        finally:
            busy.discard(thread)

    return hook


def _is_of_kernel(path, stat=os.stat, kernel=os.stat("/proc").st_dev):
    try:
        return stat(path).st_dev == kernel
    except (OSError, TypeError, ValueError):
        return False


def _is_of_pytest(value):
    return type(value).__module__.startswith("_pytest.")


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
    places, hooks = [], []

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
        for attributes_of, name, value in hooks:
            if attributes_of.get(name) != value:
                return False
        return attributes.get("tell") is tell

    tell = _tell

    def add_places(manager):
        relay = vars(manager.hook)
        hooks.append((vars(manager), "_inner_hookexec", vars(manager).get("_inner_hookexec")))
        for name, caller in list(relay.items()):
            if hasattr(caller, "get_hookimpls"):
                hooks.append((relay, name, caller))
                for place in caller.get_hookimpls():
                    if place.plugin is session:
                        places.append((caller.get_hookimpls, place, place.function))

    return intact, add_places


class _TestFiles:
    """The files of the tests, as they were before any of the code ran."""

    def __init__(self, tests):
        self.known = {}
        self.places = set()
        for folder, _, names in os.walk(tests):
            python = [name for name in names if name.endswith(".py")]
            # Other folders hold data, which tests may write.
            if any(name.startswith("test") or name.endswith("_test.py") for name in python):
                for name in python:
                    path = os.path.join(folder, name)
                    self.known[path] = self.digest(path)
                    if os.path.getsize(path) and not self.gives_itself(path):
                        self.places.add(self.place(path))
        self.told = set()

    @staticmethod
    def gives_itself(path):
        """Whether the tests in a file let the code read that file: they have its
        name for more than finding its folder."""
        with open(path, errors="replace") as file:
            return re.search(_OWN_NAME, file.read()) is not None

    @staticmethod
    def place(path, stat=os.stat):
        """Which file it is, whatever name leads there."""
        found = stat(path)
        return found.st_dev, found.st_ino

    def has(self, path):
        try:
            return self.place(path) in self.places
        except (OSError, TypeError, ValueError):
            return False

    def has_function(self, function):
        name = function.__name__
        return name.startswith("test") and function.__globals__.get("__file__") in self.known

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

    def forget_lines(self):
        """pytest reads a test's lines to show a failure; the code may not find
        them in memory."""
        for path in self.known.keys() & linecache.cache.keys():
            linecache.cache.pop(path, None)


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
