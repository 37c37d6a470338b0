"""Grades the code in /app/code as swe-ci does, and writes what it comes to.

Harbor's verifier starts it in a container of its own. The tests run in a child
process, which is told by the bootstrap beside this file what to run, and which
reports in sealed, numbered lines. The child has no capabilities, like the test
containers of swe-ci, so it can neither read the expected results nor write the
reward; after it has ended, everything that it left behind is killed.
"""

import ctypes
import hmac
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LOGS = "/logs/verifier"
CODE = "/app/code"
TESTS = "tests"
EXCLUDED = {".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox"}
MOST_CODE = 256 << 20
MOST_FILES = 200_000
MOST_LINE = 8 << 20
MOST_TESTS = 200_000
MOST_FINDINGS = 20
MOST_TEXT = 32 << 20
MOST_OUTPUT = 1 << 20
LAST_EXIT_CODE = 5  # of pytest's own
READ_BOOTSTRAP = (
    "import sys; exec(compile(sys.stdin.buffer.read("
    "int(sys.stdin.buffer.readline())), '<swe-ci>', 'exec'), {'__name__': 'swe_ci'})"
)
#: Another user than root, who owns what the tests must not touch.
KEEPER = 1


class Collapsed(Exception):
    """The code cannot be tested."""


# --- Trees of code: kind and content by path


def read_code():
    tree, size = {}, 0
    for folder, names, files in os.walk(CODE):
        names[:] = sorted(name for name in names if name not in EXCLUDED)
        links = [name for name in names if os.path.islink(os.path.join(folder, name))]
        for name in files + links:
            full = os.path.join(folder, name)
            path = os.path.relpath(full, CODE)
            found = os.lstat(full)
            if name.endswith(".pyc") or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
                continue
            size += len(path) + found.st_size
            if size > MOST_CODE or len(tree) >= MOST_FILES:
                raise Collapsed("the code has more than 256 MiB or 200000 files")
            if stat.S_ISLNK(found.st_mode):
                tree[path] = ("link", os.fsencode(os.readlink(full)))
            else:
                with open(full, "rb") as file:
                    kind = "program" if found.st_mode & 0o100 else "file"
                    tree[path] = (kind, file.read())
    return tree


def read_steering():
    tree = {}
    with tarfile.open(os.path.join(HERE, "steering.tar")) as archive:
        for member in archive:
            if member.issym():
                tree[member.name] = ("link", os.fsencode(member.linkname))
            elif member.isreg():
                kind = "program" if member.mode & 0o100 else "file"
                tree[member.name] = (kind, archive.extractfile(member).read())
    return tree


def remove(tree, path):
    for other in [o for o in tree if o == path or o.startswith(path + "/")]:
        del tree[other]


def place(code, steering, plan):
    """The code with the oracle's tests and settings; the code's own settings
    files, which are put back once pytest has read its own; and those to remove."""
    placed, aside, absent = dict(code), {}, []
    remove(placed, TESTS)
    for path in code:
        if stands_for_tests(path) and path not in plan["stand_for_tests"]:
            placed.pop(path, None)
    conftests = [p for p in list(code) + list(steering) if is_conftest(p)]
    for path in conftests:
        remove(placed, path)
        if path in steering:
            placed[path] = steering[path]
    for path in plan["settings_files"]:
        own, theirs = code.get(path), steering.get(path)
        same = (own is None) == (theirs is None) if path == "setup.py" else own == theirs
        if same:
            continue
        if own is None:
            absent.append(path)
        else:
            aside[path] = own
        remove(placed, path)
        if theirs is not None:
            placed[path] = theirs
    placed.update({path: entry for path, entry in steering.items() if is_test(path)})
    return placed, aside, absent


def is_test(path):
    return path.split("/")[0] == TESTS


def is_conftest(path):
    return not is_test(path) and path.split("/")[-1] == "conftest.py"


def below_src(path):
    return path[4:] if path.startswith("src/") else path


def stands_for_tests(path):
    top = below_src(path)
    name, slash, _ = top.partition("/")
    return name == TESTS and top != path if slash else module_name(name) == TESTS


def module_name(file):
    name, dot, rest = file.partition(".")
    is_module = rest in ("py", "so") or rest.endswith(".so")
    return name if dot and is_module and name.isidentifier() else None


def top_level_names(tree):
    names = set()
    for path in map(below_src, tree):
        folder, slash, rest = path.partition("/")
        if not slash:
            names.add(module_name(path))
        elif folder.isidentifier() and module_name(rest.split("/")[-1]):
            names.add(folder)
    return names - {None}


# --- The child process, and what it tells


class Channel:
    """Lines of the child's standard output, each with its number and a seal."""

    def __init__(self, key):
        self.key, self.next, self.rest = key, 0, b""

    def push(self, data):
        """The frames that a piece of output completes; None for anything else."""
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        frames = [self.open(line.strip()) for line in lines if line.strip()]
        if len(self.rest) > MOST_LINE:
            self.rest = b""
            frames.append(None)
        return frames

    def open(self, line):
        try:
            number, seal, text = line.split(b" ", 2)
            expected = str(self.next).encode()
            own = hmac.new(self.key, expected + b" " + text, "sha256").hexdigest()
            if number != expected or not hmac.compare_digest(own.encode(), seal):
                return None
            self.next += 1
            return json.loads(text)
        except ValueError:
            return None


class Session:
    """A test session as the bootstrap tells it."""

    def __init__(self, plan):
        self.plan = plan
        self.collected, self.tests, self.exit, self.finished = set(), {}, None, False
        self.findings, self.text, self.overflow, self.unloaded = [], 0, None, None

    def find(self, grade, text):
        alike = [finding for finding in self.findings if finding["grade"] == grade]
        finding = {"grade": grade, "text": text[:2000]}
        if len(alike) < MOST_FINDINGS and finding not in alike:
            self.findings.append(finding)

    def take(self, frame):
        if frame is None:
            self.find("tampered", "something else than the test runner wrote to the channel of the results")
            return
        take = getattr(self, "take_" + str(frame.get("kind")), None)
        if take is not None:
            take(frame)

    def take_start(self, frame):
        self.shadowing(frame.get("shadowing", ()))

    def shadowing(self, names):
        for name in names:
            text = "the code adds a module %s, which the image or Python itself has; the code's was not used"
            self.find("suspicious", text % name)

    def take_collected(self, frame):
        self.collected.update(frame["ids"])
        self.limit(self.collected)

    def limit(self, tests):
        if len(tests) > MOST_TESTS:
            self.overflow = "the code has more than %d tests" % MOST_TESTS

    def take_report(self, frame):
        self.limit(self.tests)
        test = self.tests.setdefault(frame["id"], {"category": None, "stages": {}})
        text = frame["text"] if self.text + len(frame["text"]) <= MOST_TEXT else ""
        self.text += len(text)
        category = frame["category"]
        if category not in ("", "passed"):
            test["category"] = category
        elif frame["when"] == "call" and not self.is_decided(test):
            test["category"] = None
        stage = {"duration": frame["seconds"], "outcome": frame["outcome"]}
        if text:
            stage["longrepr"] = text
        test["stages"][frame["when"]] = stage

    def take_unloaded(self, frame):
        why = "pytest could not load %s: %s" % (frame["file"], frame["cause"])
        self.unloaded = self.unloaded or why

    def take_finish(self, frame):
        self.finished = True

    def take_end(self, frame):
        self.shadowing(frame.get("shadowed", ()))
        self.exit = frame["exit"]

    @staticmethod
    def outcome(test):
        return test["category"] or "passed"

    def is_decided(self, test):
        """Whether it did not pass, in words of pytest's own; plugins that repeat
        tests have others for a try that does not count."""
        outcome = self.outcome(test)
        return outcome.endswith("failed") or outcome in ("error", "skipped", "xpassed")

    def conclude(self, process_exit):
        """The outcomes by node id.

        Raises Collapsed when the code cannot be tested, or cheats."""
        if self.overflow:
            raise Collapsed(self.overflow)
        if self.exit is None:
            raise Collapsed("the process of the tests ended before their end, with %s" % process_exit)
        is_own = self.exit > LAST_EXIT_CODE and self.finished and process_exit == self.exit
        if self.exit not in (0, 1) and not is_own:
            raise Collapsed(self.unloaded or "pytest ended with exit code %d" % self.exit)
        if process_exit != 0 and not is_own:
            raise Collapsed("the report speaks of exit code %d, the process ended with %s" % (self.exit, process_exit))
        tests = {i: t for i, t in self.tests.items() if t["category"] or "call" in t["stages"]}
        tests = {i: t for i, t in tests.items() if i in self.plan["known_tests"]}
        for finding in self.findings:
            if finding["grade"] == "tampered":
                raise Collapsed("the result was tampered with: " + finding["text"])
        if not tests:
            raise Collapsed("no tests were found")
        return tests


def drop_capabilities():
    """In the child, before it becomes the interpreter of the tests."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.setsid()
    for capability in range(64):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "cannot give up capabilities")


def run(code, steering, plan):
    """Runs the tests: the session, and how its process ended."""
    placed, aside, absent = place(code, steering, plan)
    settings = dict(plan["settings"])
    key = os.urandom(32)
    files = [(CODE + "/" + path, entry) for path, entry in sorted(placed.items())]
    files += [(settings["aside"] + "/" + path, entry) for path, entry in sorted(aside.items())]
    settings.update(
        key=key.hex(),
        files=[[kind, path, len(content)] for path, (kind, content) in files],
        added=sorted(top_level_names(code) - set(settings["own"])),
        put_back=sorted(aside),
        absent=absent,
    )
    with open(os.path.join(HERE, "bootstrap.py"), "rb") as file:
        program = file.read()
    parts = [b"%d\n" % len(program), program, json.dumps(settings).encode() + b"\n"]
    parts += [content for _, (_, content) in files]
    before = processes()
    child = subprocess.Popen(
        ["python", "-c", READ_BOOTSTRAP],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=dict(os.environ, PYTHONPATH="."),
        preexec_fn=drop_capabilities if os.geteuid() == 0 else os.setsid,
    )
    for work in (lambda: send(child.stdin, parts), lambda: show(child.stderr)):
        threading.Thread(target=work, daemon=True).start()
    session, channel = Session(plan), Channel(key)
    end = time.monotonic() + plan["test_seconds"]
    try:
        follow(child, session, channel, end)
        return session, child.wait(timeout=max(1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise Collapsed("the tests took longer than %d s" % plan["test_seconds"]) from None
    finally:
        kill_the_rest(before)


def follow(child, session, channel, end):
    while session.exit is None and not session.overflow:
        left = end - time.monotonic()
        if left <= 0 or not select.select([child.stdout], [], [], left)[0]:
            raise subprocess.TimeoutExpired("pytest", 0)
        data = os.read(child.stdout.fileno(), 1 << 16)
        if not data:
            return
        for frame in channel.push(data):
            session.take(frame)


def send(pipe, parts):
    try:
        for part in parts:
            pipe.write(part)
        pipe.close()
    except OSError:
        pass  # its exit code tells


def show(pipe):
    shown = 0
    for line in pipe:
        shown += len(line)
        if shown <= MOST_OUTPUT:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()


def processes():
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def kill_the_rest(before):
    """What the tests left behind, whatever it calls itself."""
    for _ in range(3):
        for process in processes() - before:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass  # it has gone


# --- Rewards


def change(passed, task):
    """The normalised change of the paper, from -1 to 1."""
    base, target = task["base_passed"], task["target_passed"]
    if passed >= base:
        return (passed - base) / (target - base) if target > base else 1.0
    return (passed - base) / base


def keep_from_tests():
    """Another user owns the expected results and the folder of the reward while
    the tests run: without capabilities, not even root passes."""
    owners = []
    for path, mode in ((HERE, 0o700), (LOGS, 0o755)):
        found = os.stat(path)
        owners.append((path, found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)))
        if os.geteuid() == 0:
            os.chown(path, KEEPER, KEEPER)
            os.chmod(path, mode)
    if os.geteuid() == 0:
        os.chown(CODE, 0, 0)
    return owners


def give_back(owners):
    if os.geteuid() == 0:
        for path, user, group, mode in owners:
            os.chown(path, user, group)
            os.chmod(path, mode)


def write(name, value):
    path = os.path.join(LOGS, name)
    if os.path.lexists(path):
        os.remove(path)
    with open(path, "x") as file:
        json.dump(value, file)


def main():
    with open(os.path.join(HERE, "plan.json")) as file:
        plan = json.load(file)
    plan["known_tests"] = set(plan["known_tests"])
    with open(os.path.join(HERE, "task.json")) as file:
        task = json.load(file)
    steering = read_steering()
    owners, tests, collapse, findings = keep_from_tests(), {}, None, []
    try:
        code = read_code()
        for entry in os.scandir(CODE):
            is_folder = entry.is_dir(follow_symlinks=False)
            shutil.rmtree(entry.path) if is_folder else os.remove(entry.path)
        session, process_exit = run(code, steering, plan)
        findings = session.findings
        tests = session.conclude(process_exit)
    except Collapsed as problem:
        collapse = str(problem)
    finally:
        give_back(owners)
    outcomes = {node_id: Session.outcome(test) for node_id, test in tests.items()}
    passed = sum(outcomes.get(node_id) == "passed" for node_id in task["tests"])
    reward = change(passed, task)
    solved = int(passed == task["target_passed"])
    listed = [dict(test["stages"], nodeid=i, outcome=outcomes[i]) for i, test in sorted(tests.items())]
    report = {
        "exitcode": int(any(outcome in ("failed", "error") for outcome in outcomes.values())),
        "duration": sum(s["duration"] for t in tests.values() for s in t["stages"].values()),
        "summary": {"total": len(outcomes), "passed": sum(o == "passed" for o in outcomes.values())},
        "tests": listed,
    }
    write("swe-ci.json", dict(task, collapse=collapse, findings=findings, report=None if collapse else report))
    write("reward.json", {"reward": reward, "solved": solved})
    print("%d of %d tests pass%s" % (passed, task["target_passed"], ": " + collapse if collapse else ""))


main()
