# This part: the pytest session, and what it tells the server.

import time
import traceback

import pytest

_MOST_TEXT = 12000


def _shortened(text):
    if len(text) <= _MOST_TEXT:
        return text
    return text[: _MOST_TEXT // 2] + "\n…\n" + text[-_MOST_TEXT // 2 :]


def _cause(error, code):
    """Why a file could not be loaded: `SyntaxError in a/b.py, line 3: invalid syntax`."""
    within = error.__cause__ or error.__context__
    if within and type(error).__module__.startswith("_pytest."):
        error = within
    if isinstance(error, SyntaxError):
        places, message = [(error.filename, error.lineno)], error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        places, message = [(frame.filename, frame.lineno) for frame in frames], str(error)
    places = [place for place in places if str(place[0]).startswith(code)]
    where = " in %s, line %s" % (places[-1][0][len(code) :], places[-1][1]) if places else ""
    first = message.strip().partition("\n")[0]
    return type(error).__name__ + where + (": " + first if first else "")


class _Session:
    """A plugin. Whatever it is told is sealed at once, so that nothing later in
    this process can take it back."""

    def __init__(self, settings, ownership, own_points, test_files, shown, clues):
        code = settings["code"]
        tests = code + "/" + settings["tests"]
        self.tell = _tell
        self.settings = settings
        self.test_files = test_files
        self.shown = shown
        self.clues = clues
        self.limit = _TestLimit(settings["test_seconds"])
        self.trace = _Trace(settings["traced"], code, tests)
        self.ownership = ownership
        self.own_points = own_points
        self.began = time.time()

    # --- Before the code is in reach

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config, parser, args):
        self.put_back_files()
        code = self.settings["code"]
        extra = [path for path in sys.path if path not in _IMAGE]
        # As `PYTHONPATH=src:. python -m pytest` has it.
        sys.path[:] = extra + [code, code + "/src", code] + self.ownership.image
        importlib.metadata.distributions = _all_distributions
        importlib.invalidate_caches()
        self.ownership.forget_own()
        manager = early_config.pluginmanager
        for point in self.own_points:
            if not manager.is_blocked(point.name):
                manager.register(point.load(), name=point.name)
        outcome = yield
        failed = outcome.excinfo and getattr(outcome.excinfo[1], "path", None)
        if failed:
            self.tell_unloaded(os.path.relpath(str(failed), code), outcome.excinfo[1])
        # By now everything that knows an option has said so.
        if self.settings["drop_unknown_options"]:
            self.drop_unknown_options(parser, args)
        if manager.hasplugin("xdist"):
            args.append("-n0")  # results leave by this process alone

    def drop_unknown_options(self, parser, args):
        unknown = parser.parse_known_and_unknown_args(list(args))[1]
        for option in unknown:
            at = args.index(option)
            del args[at]
            value_follows = option.startswith("-") and "=" not in option
            if value_follows and at < len(args) and not args[at].startswith("-"):
                if not os.path.exists(args[at].partition("::")[0]):
                    del args[at]
        if unknown:
            self.tell("dropped", options=[option[:200] for option in unknown[:50]])

    def put_back_files(self):
        """pytest has read its settings: now the code's own files may stand
        where it read them."""
        code, aside = self.settings["code"], self.settings["aside"]
        for name in self.settings["absent"]:
            os.remove(os.path.join(code, name))
        for name in self.settings["put_back"]:
            os.replace(os.path.join(aside, name), os.path.join(code, name))

    # --- Collection

    def pytest_sessionstart(self):
        self.began = time.time()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        path = str(getattr(collector, "path", None) or getattr(collector, "fspath", ""))
        if path in self.test_files and isinstance(collector, pytest.Module):
            _remove_bytecode(path)
        with self.shown():
            outcome = yield
        if outcome.excinfo is None and outcome.get_result().failed:
            report = outcome.get_result()
            self.tell_unloaded(report.nodeid, report.call.excinfo.value)

    def tell_unloaded(self, file, error):
        try:
            cause = _cause(error, self.settings["code"] + "/")
        except Exception:  # of a class of the code's
            cause = "an error without a text"
        self.tell("unloaded", file=file[:300] or self.settings["tests"], cause=cause[:500])

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        yield
        if self.settings["shuffle"] is not None:
            self.shuffle(items, self.settings["shuffle"])
        if self.clues is not None:
            self.clues.move_items(items)

    @staticmethod
    def shuffle(items, seed):
        """The tests of a file and of a class stay together: they share fixtures.
        Two of them have the same order whatever other tests there are."""

        def turn(name):
            return hashlib.sha256(("%d %s" % (seed, name)).encode()).digest()

        def turns(item):
            group = item.nodeid.rpartition("::")[0]
            return turn(group.partition("::")[0]), turn(group), turn(item.nodeid)

        items.sort(key=turns)

    def pytest_collection_finish(self, session):
        self.trace.reached_early = self.trace.reached
        # In frames of at most 7 MB, however long an id is.
        ids = [item.nodeid for item in session.items]
        for start in range(0, len(ids), 32):
            self.tell("collected", ids=ids[start : start + 32])

    # --- Tests

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self):
        self.trace.reached = self.trace.reached_early
        self.limit.begin()
        yield
        self.limit.end()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self):
        self.limit.begin()
        yield
        self.limit.end()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        self.limit.begin()
        outcome = yield
        self.limit.end()
        # Asked here, below pytest's own bookkeeping. Test cases of unittest
        # keep what they raised.
        raised = outcome.excinfo
        kept = getattr(item, "_excinfo", None)
        kind = raised[0].__name__ if raised else None
        if kept and not kind:
            kind = getattr(kept[-1], "typename", "unittest")
        self.tell("raised", id=item.nodeid, type=kind, reached=self.trace.reached)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call):
        with self.shown() if call.excinfo else contextlib.nullcontext():
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        # The category counts as pytest-json-report counts it.
        hook = self.config.hook
        category = hook.pytest_report_teststatus(report=report, config=self.config)[0]
        text = getattr(report, "longreprtext", "")
        self.tell(
            "report",
            id=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            category=category,
            text=_shortened(text),
            seconds=round(report.duration, 6),
        )

    def pytest_configure(self, config):
        self.config = config
        config.option.maxfail = 0  # all results count

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        self.tell("finish", seconds=time.time() - self.began)


_all_distributions = importlib.metadata.distributions


def _image_distributions(ownership, own_points):
    """The image's distributions without plugins that are the code's own, or need
    it: those are loaded once the code is in reach."""
    requirements = _Requirements(_all_distributions(path=ownership.image), ownership.own)

    def distributions(**named):
        named.setdefault("path", ownership.image)
        for distribution in _all_distributions(**named):
            points = _plugin_points(distribution)
            own = [p for p in points if p.value.partition(".")[0].partition(":")[0] in ownership.own]
            if points and requirements.need_the_code(distribution):
                own = points
            own_points.extend(p for p in own if p not in own_points)
            if not own:
                yield distribution

    return distributions


def _stand_in_for_pytest_main():
    """`__main__` looks as it does under `python -m pytest`: programs derive
    their name from it, and multiprocessing imports it again."""
    spec = importlib.util.find_spec("pytest.__main__")
    main = sys.modules["__main__"]
    main.__spec__, main.__file__ = spec, spec.origin
    main.__loader__, main.__package__ = spec.loader, spec.parent
    sys.argv = [spec.origin]


def _grade(settings):
    code, tests = settings["code"], settings["code"] + "/" + settings["tests"]
    ownership = _Ownership(code, tests, settings["own"])
    shadowing = ownership.names_in_the_image(settings["added"])
    _tell("start", python=sys.version.split()[0], pytest=pytest.__version__, shadowing=shadowing)
    sys.meta_path.insert(0, ownership)
    if "names" not in settings["left_away"]:
        _hide_current_test()
    own_points = []
    importlib.metadata.distributions = _image_distributions(ownership, own_points)
    os.environ["PYTHONPATH"] = "src:."
    os.chdir(code)
    _stand_in_for_pytest_main()
    sys.argv += settings["arguments"]
    shown = contextlib.nullcontext
    if "sources" not in settings["left_away"]:
        shown = _Sources(tests).shown
    test_files = _test_files(tests)
    clues = _Clues(test_files) if settings["move_clues"] else None
    if clues is not None:
        clues.move_modules()
    session = _Session(settings, ownership, own_points, test_files, shown, clues)
    try:
        exit_code = int(pytest.main(list(settings["arguments"]), plugins=[session]))
    except SystemExit as exit:
        exit_code = exit.code if isinstance(exit.code, int) else 1
    except BaseException:
        traceback.print_exc()
        exit_code = 1
    _end_output(settings["end_of_output"])
    _tell("end", exit=exit_code, shadowed=sorted(ownership.shadowed))
    # 1 says that tests failed, which the frames tell. What was registered to run at
    # the exit belongs to the code under test.
    os._exit(0 if exit_code == 1 else exit_code)


def _end_output(mark):
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(2, ("\n" + mark + "\n").encode())
    except (OSError, ValueError):
        pass  # closed by a test: the end of this process ends it too


def _settings():
    """Waits for the settings, one line of JSON, and for the files that follow
    it. There is no more input after them."""
    text = sys.stdin.buffer.readline()
    if not text:
        os._exit(0)  # the container was not needed
    settings = json.loads(text)
    _unlock(bytes.fromhex(settings.pop("key")))
    _receive((settings["code"], settings["aside"]), settings.pop("files"))
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = open(0, closefd=False)
    return settings


_preload()
_grade(_settings())
