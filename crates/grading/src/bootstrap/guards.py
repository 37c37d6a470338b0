# This part: modules that tell when code under test takes something out of them.
# Honest code has no business with the test runner or the modules of the tests,
# and gets there under any name.

import linecache

_RUNNER = ("_pytest", "pytest", "pluggy")
# Ways around what Python tells of itself.
_DETOURS = {
    "_posixsubprocess": ("starts processes", {"fork_exec"}),
    "faulthandler": ("reads the stack", {"dump_traceback", "dump_traceback_later", "register"}),
}


def _guarded(asked, what, names=None):
    """A kind of module. What all modules have tells nothing."""
    get_frame, kind = sys._getframe, types.ModuleType
    get, put, drop = kind.__getattribute__, kind.__setattr__, kind.__delattr__

    def matters(name):
        if names is not None:
            return name in names
        return name in ("__dict__", "__file__") or not name.startswith("__")

    class Module(kind):
        def __getattribute__(self, name):
            if matters(name):
                asked(what, get_frame(1))
            return get(self, name)

        def __setattr__(self, name, value):
            if matters(name):
                asked(what, get_frame(1))
            put(self, name, value)

        def __delattr__(self, name):
            if matters(name):
                asked(what, get_frame(1))
            drop(self, name)

    Module.__name__ = Module.__qualname__ = kind.__name__
    Module.__module__ = kind.__module__
    return Module


def _guard_runner(asked):
    runner = _guarded(asked, "reaches for the test runner")
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _RUNNER and type(module) is types.ModuleType:
            module.__class__ = runner
    for name, (what, names) in _DETOURS.items():
        module = importlib.import_module(name)
        module.__class__ = _guarded(asked, what, names)


class _TestModules:
    """The modules that pytest made from the files of the tests: another one
    under the same name is no module of the tests."""

    def __init__(self, asked, test_files):
        import _pytest.assertion.rewrite as rewrite

        self.made = {}
        exec_module = rewrite.AssertionRewritingHook.exec_module
        guarded = _guarded(asked, "reads the tests' modules")

        def exec_and_remember(hook, module):
            path = str(module.__spec__.origin)
            if path in test_files.known:
                self.made.setdefault(path, []).append(module)
                module.__class__ = guarded
            return exec_module(hook, module)

        rewrite.AssertionRewritingHook.exec_module = exec_and_remember

    def is_real(self, path, module):
        made = self.made.get(path)
        return made is None or any(module is known for known in made)


def _hide_frames_from_signals():
    """A handler gets the frame that was interrupted, and with it the test's
    values; few handlers look at it."""
    import _signal

    handlers = {}
    install, installed = _signal.signal, _signal.getsignal

    def outer(before, number):
        return handlers[number][1] if before is handlers.get(number, (None,))[0] else before

    def signal(signalnum, handler, /):
        before = outer(installed(signalnum), signalnum)
        given = handler
        if callable(handler) and not isinstance(handler, types.BuiltinFunctionType):
            given = lambda number, frame: handler(number, None)
        install(signalnum, given)
        handlers[signalnum] = (given, handler)
        return before

    def getsignal(signalnum, /):
        return outer(installed(signalnum), signalnum)

    _signal.signal, _signal.getsignal = signal, getsignal
