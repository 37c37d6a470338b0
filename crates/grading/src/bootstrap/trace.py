# This part: whether words that a form of a data file has reach the package's code:
# then inputs are changed, and not what is expected of them.

_WORD = re.compile("[A-Za-z]{3,}")


class _Trace:
    def __init__(self, words, code, tests):
        self.words, self.code, self.tests = frozenset(words), code, tests
        self.reached = self.reached_early = False
        self.of_package, self.without = {}, set()
        if words:
            import threading

            threading.setprofile(self.profile)
            sys.setprofile(self.profile)
            sys.addaudithook(self.audit)

    def is_of_package(self, code):
        path = code.co_filename
        if path not in self.of_package:
            self.of_package[path] = _below(path, self.code) and not _below(path, self.tests)
        return self.of_package[path]

    def profile(self, frame, event, _):
        if event == "call" and not self.reached and self.is_of_package(frame.f_code):
            self.reached = any(map(self.has_words, list(frame.f_locals.values())))

    def has_words(self, value):
        if type(value) in (list, tuple, dict, set, bytes):
            value = repr(value)
        if not isinstance(value, str) or value in self.without:
            return False
        has_words = not self.words.isdisjoint(_WORD.findall(value))
        if not has_words:
            self.without.add(value)
        return has_words

    def audit(self, event, arguments):
        """The package reads files of the tests itself."""
        if event == "open" and not self.reached and isinstance(arguments[0], str):
            if _below(os.path.abspath(arguments[0]), self.tests):
                frame = sys._getframe()
                while frame and not self.reached:
                    self.reached = self.is_of_package(frame.f_code)
                    frame = frame.f_back
