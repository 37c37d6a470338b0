# This part: whose a module is. The standard library and the image's packages
# come first, unless base or oracle bring a top-level name themselves.

import importlib.machinery
import importlib.metadata
import importlib.util
import re

# What the image has, before any path of the code.
_IMAGE = [path for path in sys.path if path not in ("", os.getcwd())]
sys.path[:] = _IMAGE


def _below(path, folder):
    return path == folder or path.startswith(folder + "/")


class _Ownership:
    """A finder that asks the image first for names that are not the code's."""

    def __init__(self, code, tests, own):
        self.code = code
        self.tests = tests
        self.own = frozenset(own)
        self.image = [path for path in _IMAGE if not _below(path, code)]
        self.shadowed = set()
        self.find = importlib.machinery.PathFinder.find_spec

    def is_the_codes(self, spec):
        places = list(spec.submodule_search_locations or ())
        if spec.has_location and spec.origin:
            places.append(spec.origin)
        places = [os.path.abspath(place) for place in places]
        return any(
            _below(place, self.code) and not _below(place, self.tests)
            for place in places
        )

    def find_spec(self, name, path=None, target=None):
        if path is not None or "." in name or name in self.own:
            return None
        if name in sys.builtin_module_names:
            return None
        spec = self.find(name)
        if spec is None or not self.is_the_codes(spec):
            return None
        image = self.find(name, self.image)
        if image is None:
            return None
        self.shadowed.add(name)
        return image

    def names_in_the_image(self, names):
        """Those of these names that the image has too."""
        builtin = sys.builtin_module_names
        return [n for n in names if n in builtin or self.find(n, self.image)]

    def forget_own(self):
        """Unloads what pytest's own imports loaded under the code's names, so
        that the tests get the code's version."""
        for name in list(sys.modules):
            if name.partition(".")[0] in self.own:
                del sys.modules[name]


def _name_of(distribution):
    return re.sub("[-_.]+", "-", distribution.metadata["Name"] or "").lower()


class _Requirements:
    """Tells which distributions cannot be imported without the code: the project
    is a requirement of theirs, or of one of theirs. pytest is there already, with
    whatever it needs."""

    def __init__(self, distributions, own):
        distributions = list(distributions)
        self.of = {_name_of(d): self.required_by(d) for d in distributions}
        self.need = {_name_of(d): False for d in distributions}
        self.need.update((_name_of(d), True) for d in distributions if self.is_own(d, own))

    @staticmethod
    def is_own(distribution, own):
        modules = distribution.read_text("top_level.txt") or _name_of(distribution).replace("-", "_")
        # Some bring a module `tests` beside their own.
        return all(module in own for module in modules.split())

    @staticmethod
    def required_by(distribution):
        always = (r for r in distribution.requires or () if "extra ==" not in r)
        names = (re.match("[A-Za-z0-9._-]+", requirement) for requirement in always)
        return [re.sub("[-_.]+", "-", name[0]).lower() for name in names if name]

    def need_the_code(self, distribution):
        seen, pending = {"pytest"}, [_name_of(distribution)]
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            if self.need.get(name):
                return True
            seen.add(name)
            pending += self.of.get(name, ())
        return False


def _plugin_points(distribution):
    return [p for p in distribution.entry_points if p.group == "pytest11"]


def _preload():
    """Imports pytest while nothing of the code is in reach. Not its plugins from
    elsewhere: pytest rewrites their assertions and warns when it comes too
    late for that."""
    import _pytest.config

    for name in _pytest.config.default_plugins:
        importlib.import_module("_pytest." + name)
    importlib.import_module("unittest.mock")
