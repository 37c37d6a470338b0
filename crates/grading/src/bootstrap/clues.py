# This part: the clues by which code could tell which test calls it. Tests that
# pass run a second time with their clues moved: in another order, from other
# lines of other files, under other names. Code that computes its results does
# not notice.

import gc
import types


def _fresh(prefix):
    return "%s_%016x" % (prefix, random.getrandbits(64))


class _Clues:
    """Moves what a warning, a log record or a name of a folder tells about the
    test. What the tests themselves know of each other stays."""

    def __init__(self, test_files):
        self.files = frozenset(test_files)
        self.places = {}
        self.scopes = {}

    def move_modules(self):
        """Modules of the tests get their lines and files moved when pytest loads
        them, and folders get other names when it makes them."""
        import _pytest.assertion.rewrite as rewrite
        import _pytest.tmpdir as tmpdir

        rewrite_test = rewrite._rewrite_test

        def rewrite_and_move(*arguments):
            stat, code = rewrite_test(*arguments)
            return stat, self.moved(code) if code.co_filename in self.files else code

        rewrite._rewrite_test = rewrite_and_move
        # A pytest that a test starts must find the tests where they are.
        rewrite._write_pyc = lambda *_: False
        tmpdir._mk_tmp = lambda request, factory: factory.mktemp(_fresh("test"), numbered=True)

    def move_items(self, items):
        """The collected tests run from the last to the first. This turns every
        pair around, as a random order does not, and neighbours that share a
        fixture stay neighbours. No function keeps the name that its callees can
        learn."""
        items.reverse()
        places = {place for place, _ in self.places.values()}
        for function in gc.get_objects():
            if type(function) is types.FunctionType:
                code = function.__code__
                if code.co_filename in self.files:
                    code = self.moved(code)  # pytest rewrites test files alone
                elif code.co_filename not in places:
                    continue
                self.rename(function, code)

    @staticmethod
    def rename(function, code):
        if code.co_name.startswith("<"):
            function.__code__ = code
            return
        # A coroutine has the name of its function. Helpers keep theirs: tests
        # hand them to code that may ask for it.
        is_test = code.co_name.startswith("test")
        name = _fresh("test" if is_test else "")
        named = {"co_name": name}
        if hasattr(code, "co_qualname"):
            named["co_qualname"] = name
        function.__code__ = code.replace(**named)
        if is_test:
            function.__name__ = function.__qualname__ = name

    def moved(self, code):
        """The same code at other lines of a file that does not exist."""
        file = code.co_filename
        if file not in self.places:
            folder = os.path.dirname(file)
            self.places[file] = os.path.join(folder, _fresh("test") + ".py"), random.randrange(1000, 9000)
        place, lines = self.places[file]
        constants = [
            self.moved(constant) if type(constant) is types.CodeType else self.scoped(constant)
            for constant in code.co_consts
        ]
        changed = {"co_filename": place, "co_firstlineno": code.co_firstlineno + lines}
        if hasattr(code, "co_qualname"):
            changed["co_qualname"] = self.scoped(code.co_qualname)
        return code.replace(co_consts=tuple(constants), **changed)

    def scoped(self, name):
        """Classes and functions that a test defines name the test: `test_a.<locals>.B`."""
        if type(name) is not str or ".<locals>." not in name:
            return name
        scope, _, rest = name.partition(".<locals>.")
        if not scope.rpartition(".")[2].startswith("test"):
            return name
        scope = self.scopes.setdefault(scope, _fresh("test"))
        return scope + ".<locals>." + rest
