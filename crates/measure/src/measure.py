"""Measures code by one of the style tools. Runs inside a task's container.

    python -I -S -B measure.py --site SITE [--also FOLDERS] TOOL REQUEST OUT

The measured code comes from an agent: this program reads it and never runs it.
REQUEST and OUT are JSON; `call.rs` writes the first, `results` reads the second.
Without OUT, or with an exit code other than 0, no file has a result.

`-S` matters: the container's own packages may refer to the measured folder (an
editable installation), and Python would run a `sitecustomize.py` from there.
They become importable only behind the `Fence`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import glob
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import io
import itertools
import json
import os
import platform
import select
import signal
import site
import socket
import sys
import tempfile
import time
import tokenize
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn, Optional

Work = Callable[[int], dict[str, Any]]
# Measures the files below a folder; the last argument is the base's folder.
VersionTool = Callable[[str, Sequence[str], str], Optional[float]]

CATEGORIES = ("fatal", "error", "warning", "refactor", "convention")
MAX_PROBLEM_CHARS = 300  # characters
NO_LIMIT = 1e6  # seconds: the caller has its own limit
# The tools that compare versions, and the packages they are installed from.
DISTRIBUTIONS = {"complexipy": "complexipy", "vulture": "vulture", "griffe": "griffelib"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--site", required=True, help="the folder the tools are installed in")
    parser.add_argument("--also", default="", help="more folders of packages, as in PATH")
    parser.add_argument("mode", choices=("radon", "pylint", *DISTRIBUTIONS))
    parser.add_argument("request")
    parser.add_argument("out")
    arguments = parser.parse_args()
    with open(arguments.request, encoding="utf-8") as file:
        request = json.load(file)
    root = os.path.realpath(request["root"])
    sys.meta_path.insert(0, Fence(root))
    warnings.simplefilter("ignore")  # about the measured code, which Python compiles
    with tempfile.TemporaryDirectory() as home:
        os.environ["PYLINTHOME"] = home  # read while Pylint is imported
        versions = import_tools(arguments.mode, arguments.site, arguments.also)
        measures = {
            "radon": measure_by_radon,
            "pylint": functools.partial(measure_by_pylint, arguments.site),
            "complexipy": functools.partial(measure_versions, cognitive_complexity),
            "vulture": functools.partial(measure_versions, unused_code),
            "griffe": functools.partial(measure_versions, broken_names),
        }
        measure = measures[arguments.mode]
        write({"tools": versions, **measure(root, request)}, arguments.out)


def write(answer: dict[str, Any], out: str) -> None:
    """Writes the file atomically."""
    with open(out + ".part", "w", encoding="ascii") as file:
        json.dump(answer, file, allow_nan=False)
    os.replace(out + ".part", out)


# Imports ----------------------------------------------------------------------


class Fence(importlib.abc.MetaPathFinder):
    """Keeps our imports from running files of the measured code.

    Pylint puts the measured packages in front of `sys.path`, and then Pylint,
    astroid and the standard library import more modules when they need them. A
    measured `stringprep.py` would run instead of Python's as soon as some file
    declares the encoding `idna`. Finding measured files is allowed, since astroid
    looks up modules; loading uses the module that the name has without the
    measured code.
    """

    def __init__(self, root: str) -> None:
        self.root = root

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                # Namespace packages have no origin, and nothing to run.
                if spec.origin is not None and self.is_inside(spec.origin):
                    spec.loader = OutsideLoader(self)
                return spec
        return None

    def is_inside(self, path: str) -> bool:
        path = os.path.realpath(path)
        return path == self.root or path.startswith(self.root + os.sep)


class OutsideLoader(importlib.abc.Loader):
    """Loads the module of this name from outside the measured code, if any."""

    def __init__(self, fence: Fence) -> None:
        self.fence = fence

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        outside = [entry for entry in sys.path if not self.fence.is_inside(entry)]
        top = "." not in spec.name
        found = importlib.machinery.PathFinder.find_spec(spec.name, outside) if top else None
        if found is None:
            raise ModuleNotFoundError(f"{spec.name} is measured and never run", name=spec.name)
        self.found = found
        return importlib.util.module_from_spec(found)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.found
        if self.found.loader is not None:
            self.found.loader.exec_module(module)


class ToolFinder(importlib.abc.MetaPathFinder):
    """Finds the tools and their dependencies for us alone: astroid looks up the imports
    of the measured code in `sys.path`, where a task without `typing_extensions` must
    not seem to have it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if path is not None:
            return None  # a submodule, in the folder of its package
        return importlib.machinery.PathFinder.find_spec(fullname, [self.folder], target)


def hide_tools(tools: str) -> None:
    """Takes the tools out of the path, so that astroid resolves the measured code's
    imports as the task would."""
    # A Python of the layer has them among its own packages.
    hidden = os.path.realpath(tools)
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) != hidden]
    sys.meta_path.append(ToolFinder(tools))


def import_tools(mode: str, tools: str, also: str) -> dict[str, str]:
    """Imports the tools and returns their versions. Then puts their folder last."""
    site.execsitecustomize = site.execusercustomize = lambda: None  # type: ignore[attr-defined]
    site.main()
    sys.path.insert(0, tools)
    modules: dict[str, ModuleType] = {}
    if mode in DISTRIBUTIONS:
        importlib.import_module(mode)
    else:
        names = ["astroid", "pylint", "radon"]
        modules = {name: importlib.import_module(name) for name in names}
    if mode == "pylint":
        from pylint.lint import PyLinter

        PyLinter().load_default_plugins()  # imports all checkers
    elif mode == "radon":
        importlib.import_module("radon.complexity")
        speed_up_analysis()
    sys.path.remove(tools)
    sys.path += [entry for entry in also.split(os.pathsep) if entry] + [tools]
    versions = {name: module.__version__ for name, module in modules.items()}
    if mode in DISTRIBUTIONS:
        found = importlib.metadata.distributions(name=DISTRIBUTIONS[mode], path=[tools])
        versions = {mode: next(iter(found)).version}
    return {"python": platform.python_version(), **versions}


# Processes that may crash -----------------------------------------------------


class Worker:
    """A forked process that does one job at a time."""

    def __init__(self, work: Work) -> None:
        self.socket, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self.socket.close()
            serve(theirs, work)
        theirs.close()

    def send(self, index: int, seconds: float) -> None:
        self.index = index
        self.until = time.monotonic() + seconds
        self.answer = b""
        with contextlib.suppress(OSError):  # it has died, which `listen` notices
            self.socket.sendall(b"%d\n" % index)

    def listen(self) -> Optional[dict[str, Any]]:
        """The answer, once it is complete. `EOFError` if the worker died."""
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise EOFError
        self.answer += piece
        return json.loads(self.answer) if piece.endswith(b"\n") else None

    def kill(self) -> None:
        # Closing the socket is not enough: workers forked later hold copies of it.
        os.kill(self.pid, signal.SIGKILL)
        self.exit_reason()

    def exit_reason(self) -> str:
        """Waits for a process that died or is dying; returns why it ended."""
        self.socket.close()
        status = os.waitpid(self.pid, 0)[1]
        if os.WIFSIGNALED(status):
            return f"the interpreter was ended by signal {os.WTERMSIG(status)}"
        return f"the interpreter ended with exit code {os.WEXITSTATUS(status)}"


def serve(requests: socket.socket, work: Work) -> NoReturn:
    """A worker's main loop; it runs until the worker is killed."""
    try:
        for line in requests.makefile("rb"):
            answer = json.dumps(work(int(line)), allow_nan=False)
            requests.sendall(answer.encode("ascii") + b"\n")
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def run_each(count: int, work: Work, processes: int, seconds: float) -> list[dict[str, Any]]:
    """Runs `work(0)` to `work(count - 1)`, each in a process that may crash or be
    killed after `seconds` without affecting others; the answer is then a problem."""
    answers: list[dict[str, Any]] = [{} for _ in range(count)]
    waiting = iter(range(count))
    busy: dict[socket.socket, Worker] = {}

    def assign_next(worker: Optional[Worker]) -> None:
        index = next(waiting, None)
        if index is None:
            if worker is not None:
                worker.kill()
            return
        worker = worker or Worker(work)
        worker.send(index, seconds)
        busy[worker.socket] = worker

    for _ in range(max(processes, 1)):
        assign_next(None)
    while busy:
        for worker, answer in listen(busy, seconds):
            answers[worker.index] = answer
            del busy[worker.socket]
            assign_next(None if worker.socket.fileno() < 0 else worker)
    return answers


def listen(
    busy: dict[socket.socket, Worker], seconds: float
) -> Iterator[tuple[Worker, dict[str, Any]]]:
    """Waits for workers and yields the ones that are done, with their answers. Closes
    the sockets of the ones that died."""
    first = min(worker.until for worker in busy.values())
    ready = select.select(busy, [], [], max(first - time.monotonic(), 0))[0]
    for worker in list(busy.values()):
        if worker.socket in ready:
            try:
                answer = worker.listen()
            except (EOFError, ConnectionError):
                answer = {"problem": worker.exit_reason()}
            if answer is not None:
                yield worker, answer
        elif worker.until <= time.monotonic():
            worker.kill()
            yield worker, {"problem": f"it took over {seconds:g} s"}


# radon ------------------------------------------------------------------------


def measure_by_radon(root: str, request: dict[str, Any]) -> dict[str, Any]:
    files = request["files"]

    def work(index: int) -> dict[str, Any]:
        with open(os.path.join(root, files[index]), "rb") as file:
            return measure_file(file.read())

    answers = run_each(len(files), work, request["processes"], request["seconds_per_file"])
    return {"files": dict(zip(files, answers))}


def speed_up_analysis() -> None:
    """radon spends nearly all its time in `analyze`, which the index calls again. To
    find the end of a statement, it reparses the lines so far with each further line:
    a table of 4,800 lines takes minutes. If tokenizing the whole file gives the
    number of lines of each statement, this reads them at once."""
    import radon.metrics
    import radon.raw

    analyze, line_by_line = radon.raw.analyze, radon.raw._get_all_tokens

    @functools.lru_cache(maxsize=1)
    def fast_analyze(source: str) -> Any:
        counts = lines_of_statements([line.strip() for line in source.splitlines()])
        known = functools.partial(statement, iter(counts or ()))
        radon.raw._get_all_tokens = line_by_line if counts is None else known
        return analyze(source)

    def statement(counts: Iterator[int], line: str, rest: Iterator[str]) -> Any:
        lines = [line, *itertools.islice(rest, next(counts) - 1)]
        return radon.raw._generate("\n".join(lines)), lines

    radon.raw.analyze = radon.metrics.analyze = fast_analyze


def lines_of_statements(lines: Sequence[str]) -> Optional[list[int]]:
    """The number of lines of each statement, where blank lines and comments count as
    statements; `None` if only radon's own way can find out."""
    counts = [0]
    within = False
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
            if token.type == tokenize.ERRORTOKEN:
                return None
            if token.type == tokenize.NEWLINE or (token.type == tokenize.NL and not within):
                counts.append(token.start[0])
                within = False
            elif token.type not in (tokenize.NL, tokenize.COMMENT):
                within = True
    except (tokenize.TokenError, SyntaxError):
        return None
    ends = [*counts, len(lines)] if counts[-1] < len(lines) else counts
    return [end - before for before, end in zip(ends, ends[1:])]


def measure_file(data: bytes) -> dict[str, Any]:
    """radon's counts of a file, or why it has none."""
    try:
        return {"counts": radon_counts(decode_source(data))}
    except SyntaxError as error:
        text = f"{type(error).__name__}: {error.msg}"
        # Errors about the whole file have no line.
        return problem(f"line {error.lineno}: {text}" if error.lineno else text)
    except Exception as error:
        return problem(f"{type(error).__name__}: {error}".rstrip(": "))


def decode_source(data: bytes) -> str:
    """Decodes like `tokenize.open` (PEP 263), but names the line of an error."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise SyntaxError(f"not {encoding}: {error.reason}", ("", line, None, None)) from error
    text = io.TextIOWrapper(io.BytesIO(data), encoding).read()
    if "\0" in text:
        # Python up to 3.11 reports it without the line.
        line = 1 + text.count("\n", 0, text.index("\0"))
        raise SyntaxError("a null byte", ("", line, None, None))
    return text


def radon_counts(code: str) -> dict[str, Any]:
    from radon.complexity import cc_visit
    from radon.metrics import h_visit, mi_visit
    from radon.raw import analyze

    ast.parse(code)  # gives better errors than radon
    raw = analyze(code)
    complexities = [block.complexity for block in cc_visit(code)]
    return {
        "mi": float(mi_visit(code, multi=True)),
        "sloc": raw.sloc,
        "comments": raw.comments,
        "blocks": len(complexities),
        "complexity": sum(complexities),
        "complexity_most": max(complexities, default=0),
        "volume": float(h_visit(code).total.volume),
    }


def problem(text: str) -> dict[str, Any]:
    """One line, of characters that JSON can encode."""
    line = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    return {"problem": line[:MAX_PROBLEM_CHARS]}


# Pylint -----------------------------------------------------------------------


def measure_by_pylint(tools: str, root: str, request: dict[str, Any]) -> dict[str, Any]:
    files = request["files"]
    if not files:
        counts = {"files": {}, "total": zeros(), "global_note": None, "duplicated": None}
        return {"counts": counts}

    def work(_: int) -> dict[str, Any]:
        try:
            return {"counts": pylint_counts(tools, root, files)}
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            return problem(f"{type(error).__name__}: {error}")

    answer = run_each(1, work, 1, NO_LIMIT)[0]
    if "counts" in answer:
        check_sums(**answer["counts"])
    return answer


def zeros() -> dict[str, int]:
    return dict.fromkeys((*CATEGORIES, "statements"), 0)


def check_sums(files: dict[str, dict[str, int]], total: dict[str, int], **_: Any) -> None:
    for name, expected in total.items():
        found = sum(counts[name] for counts in files.values())
        if found != expected:
            sys.exit(f"Pylint counts {expected} {name} in all and {found} in the files")


class Collector:
    """A Pylint reporter that counts messages by file instead of showing them. It has
    all the methods Pylint needs; the base class is not imported yet."""

    def __init__(self, root: str, files: Sequence[str]) -> None:
        self.root = root
        self.path_strip_prefix = root + os.sep
        self.files = {path: zeros() for path in files}
        self.current: Optional[str] = None

    def on_set_current_module(self, _module: str, path: Optional[str]) -> None:
        self.current = path and self.relative(path)

    def relative(self, path: str) -> str:
        # Relative to the root, since astroid changes the working folder.
        return os.path.relpath(os.path.join(self.root, path), self.root)

    def handle_message(self, message: Any) -> None:
        path = self.relative(message.abspath)
        if path not in self.files:
            path = self.current  # the message is about another place
        if message.category in CATEGORIES:
            self.files[path][message.category] += 1

    def display_messages(self, _layout: Any) -> None:
        pass

    display_reports = display_messages

    def on_close(self, _stats: Any, _previous: Any) -> None:
        pass


def pylint_counts(tools: str, root: str, files: Sequence[str]) -> dict[str, Any]:
    """`pylint --rcfile=EMPTY --persistent=n FILE…` in the measured folder."""
    from pylint.lint import Run

    os.chdir(root)
    order_imports()
    collector = Collector(root, files)
    settings = os.path.join(os.environ["PYLINTHOME"], "empty.toml")
    open(settings, "w").close()
    arguments = [f"--rcfile={settings}", "--persistent=n", "--jobs=1"]

    class Counting(Run):
        LinterClass = counting_linter(collector, tools)

    run = Counting([*arguments, *map(argument, files)], collector, exit=False)
    stats = run.linter.stats
    total = {name: getattr(stats, name) for name in CATEGORIES}
    total["statements"] = stats.statement
    note = float(stats.global_note) if stats.statement else None
    return {
        "files": collector.files,
        "total": total,
        "global_note": note,
        "duplicated": float(stats.percent_duplicated_lines),
    }


def argument(path: str) -> str:
    """Escapes a path for Pylint, which expands patterns, homes and options."""
    return ("./" if path[0] in "-~" else "") + glob.escape(path)


def counting_linter(collector: Collector, tools: str) -> type:
    """A linter that reports statements to the collector: Pylint's own counts are keyed
    by module name, which several files may share. It hides the tools once Pylint has
    found its plugins, which it looks up in the path."""
    from pylint.lint import PyLinter

    class Linter(PyLinter):
        def check(self, *files: Any) -> None:
            hide_tools(tools)
            super().check(*files)

        def check_astroid_module(self, node: Any, walker: Any, *checkers: Any, **named: Any) -> Any:
            before = walker.nbstatements
            try:
                return super().check_astroid_module(node, walker, *checkers, **named)
            finally:
                counts = collector.files[collector.current]
                counts["statements"] += walker.nbstatements - before

    return Linter


def order_imports() -> None:
    """The number of import cycles (R0401) that Pylint finds depends on the order of
    sets, which varies from run to run (Jinja2 3.1.4: 13 to 17). Sorting makes it
    constant."""
    from pylint.checkers import imports

    find = imports.get_cycles

    def get_cycles(graph: dict[str, set[str]], vertices: list[str]) -> Any:
        return find({name: sorted(edges) for name, edges in graph.items()}, vertices)

    imports.get_cycles = get_cycles


# Versions beside each other: complexipy, Vulture, griffe ----------------------


def measure_versions(tool: VersionTool, root: str, request: dict[str, Any]) -> dict[str, Any]:
    """One number for each version, or why it has none; the first is the base."""
    versions = request["versions"]
    folders = [os.path.join(root, version["folder"]) for version in versions]

    def work(index: int) -> dict[str, Any]:
        try:
            return {"value": tool(folders[index], versions[index]["files"], folders[0])}
        except Exception as error:
            traceback.print_exc()
            return problem(f"{type(error).__name__}: {error}")

    count, seconds = len(versions), request["seconds_per_version"]
    return {"versions": run_each(count, work, request["processes"], seconds)}


def parsable(folder: str, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The files that this Python can parse, with their text. The others are problems
    that radon reports."""
    for name in files:
        path = os.path.join(folder, name)
        with open(path, "rb") as file, contextlib.suppress(Exception):
            code = decode_source(file.read())
            ast.parse(code)
            yield path, code


def cognitive_complexity(folder: str, files: Sequence[str], _base: str) -> Optional[float]:
    """The mean over functions and methods. complexipy has a parser of its own."""
    from complexipy import code_complexity

    complexities: list[int] = []
    for name in files:
        # A file that it cannot parse, or that has no such encoding.
        with open(os.path.join(folder, name), "rb") as file, contextlib.suppress(Exception):
            found = code_complexity(decode_source(file.read()), with_plans=False)
            complexities += [function.complexity for function in found.functions]
    return sum(complexities) / len(complexities) if complexities else None


def unused_code(folder: str, files: Sequence[str], _base: str) -> Optional[float]:
    """Lines of what Vulture takes for unused, in percent of all lines. A line counts
    once, even in an unused method of an unused class."""
    from vulture import Vulture

    lines = {path: len(code.splitlines()) for path, code in parsable(folder, files)}
    vulture = Vulture()
    vulture.scavenge(list(lines))
    unused = {
        (str(item.filename), line)
        for item in vulture.get_unused_code()
        if str(item.filename) in lines
        for line in range(item.first_lineno, item.last_lineno + 1)
    }
    total = sum(lines.values())
    return min(100 * len(unused) / total, 100.0) if total else None


def broken_names(folder: str, _files: Sequence[str], base: str) -> Optional[float]:
    """The number of public names of the base that griffe finds removed, or changed in
    a way that breaks their users."""
    import logging

    from griffe import find_breaking_changes

    logging.disable()
    old, new = public_packages(base), public_packages(folder)
    if not old:
        return None
    names = set(old) - set(new)
    for name in set(old) & set(new):
        breakages = find_breaking_changes(old[name], new[name])
        # An inherited name has one definition.
        names |= {breakage.obj.canonical_path for breakage in breakages}
    return float(len(names))


def search_folders(folder: str) -> list[str]:
    """The folders whose packages users import: flat and src layouts."""
    return [path for path in (folder, os.path.join(folder, "src")) if os.path.isdir(path)]


@functools.lru_cache(maxsize=2)  # the base stays
def public_packages(folder: str) -> dict[str, Any]:
    """The top packages and modules by name, read and never imported. One that cannot be
    parsed is nothing that users could import."""
    from griffe import GriffeLoader

    folders = search_folders(folder)
    loader = GriffeLoader(search_paths=folders, allow_inspection=False, store_source=False)
    names = set()
    for place in folders:
        for entry in os.scandir(place):
            stem, extension = os.path.splitext(entry.name)
            is_package = os.path.isfile(os.path.join(entry.path, "__init__.py"))
            if (extension == ".py" or is_package) and stem.isidentifier():
                names.add(stem)
    # `setup.py` and pytest's settings are imported by nobody.
    names -= {"setup", "conftest"}
    packages = {}
    for name in sorted(name for name in names if not name.startswith("_")):
        with contextlib.suppress(Exception):
            packages[name] = loader.load(name, try_relative_path=False)
    return packages


if __name__ == "__main__":
    main()
