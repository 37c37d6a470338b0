# Asks the code in this container questions: each in a process of its own, with the
# names of its file of tests. The process is a copy of one that has imported the file,
# or imports it itself, which is slower and keeps its threads. Of each, a line [number, answer] leaves by standard
# output as soon as it is known. A question that hangs or ends its process has none.

import ast
import asyncio
import datetime
import decimal
import enum
import fractions
import hashlib
import importlib
import json
import os
import signal
import sys
import time

_LONGEST = 200  # characters of an answer; a digest stands for longer ones


def _number(value):
    """12 digits, as an honest program may add in another order."""
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        value = fractions.Fraction(value)
    if value == int(value):
        return int.__format__(int(value), "x")
    return float.__format__(float(value), ".12g")


def _text(value):
    """Equal for values that are equal to Python, whoever made them. Raises
    TypeError for types whose equality nobody knows."""
    if value is None:
        return "None"
    if isinstance(value, enum.Enum):
        return type(value).__name__ + "." + value.name
    if isinstance(value, (int, float, decimal.Decimal, fractions.Fraction)):
        try:
            return _number(value)
        except (OverflowError, ValueError):
            return str(float(value))  # infinite, or no number
    if isinstance(value, str):
        return ascii(str.__str__(value))
    if isinstance(value, (bytes, bytearray)):
        return "b" + bytes(value).hex()
    if isinstance(value, (list, tuple)):
        name = "list" if isinstance(value, list) else "tuple"
        return name + "(" + ", ".join(map(_text, value)) + ")"
    if isinstance(value, (set, frozenset)):
        return "set(" + ", ".join(sorted(map(_text, value))) + ")"
    if isinstance(value, dict):
        pairs = (_text(key) + ": " + _text(held) for key, held in dict.items(value))
        return "dict(" + ", ".join(sorted(pairs)) + ")"
    if isinstance(value, datetime.datetime):
        if datetime.datetime.utcoffset(value) is not None:
            value = value.astimezone(datetime.timezone.utc)
        return "datetime " + datetime.datetime.isoformat(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return type(value).__name__ + " " + value.isoformat()
    if isinstance(value, datetime.timedelta):
        return f"timedelta {value.days} {value.seconds} {value.microseconds}"
    raise TypeError


def _answer(names, statements, expression):
    try:
        program = compile(statements + "\n_answer = " + expression, "<question>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        waits = eval(program, names)
        if waits is not None:
            asyncio.run(waits)
        value = names["_answer"]
    except BaseException as error:
        return {"raised": type(error).__name__}
    try:
        text = _text(value)
    except BaseException:
        return "other"
    if len(text) > _LONGEST:
        text = hashlib.sha256(text.encode()).hexdigest()
    return {"is": text}


def _names_of(path):
    """The file as pytest imports it: as part of the packages that it is in."""
    folder, module = os.path.split(os.path.abspath(path[: -len(".py")]))
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        module = package + "." + module
    sys.path.insert(0, folder)
    return vars(importlib.import_module(module))


def _within(seconds, work):
    """Does work in a process of its own, which is killed when its time is up."""
    process = os.fork()
    if process == 0:
        try:
            os.setsid()
            work()
        finally:
            os._exit(0)
    end, pause = time.monotonic() + seconds, 0.0005
    while os.waitpid(process, os.WNOHANG)[0] == 0:
        if time.monotonic() > end:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def _tell(tell, number, answer):
    os.write(tell, json.dumps([number, answer]).encode() + b"\n")


def _ask_alone(tell, path, question):
    number, statements, expression = question
    _tell(tell, number, _answer(_names_of(path), statements, expression))


def _ask(tell, path, questions, seconds, end):
    names = _names_of(path)
    for number, statements, expression in questions:
        if time.monotonic() > end:
            _tell(tell, number, "late")
        else:
            answer = lambda: _tell(tell, number, _answer(names, statements, expression))
            _within(seconds, answer)


def _main():
    asked = json.loads(sys.stdin.buffer.readline())
    os.chdir(asked["code"])
    sys.path[:0] = [asked["code"], asked["code"] + "/src"]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
    tell, nothing = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    end = time.monotonic() + asked["seconds"]
    if not asked["copies"]:
        for number, (path, *question) in enumerate(asked["questions"]):
            if time.monotonic() > end:
                _tell(tell, number, "late")
            else:
                alone = lambda: _ask_alone(tell, path, (number, *question))
                _within(asked["seconds_each"], alone)
        return
    by_file = {}
    for number, (path, statements, expression) in enumerate(asked["questions"]):
        by_file.setdefault(path, []).append((number, statements, expression))
    for path, questions in by_file.items():
        rest = end - time.monotonic()
        if rest > 0:
            _within(rest + 5, lambda: _ask(tell, path, questions, asked["seconds_each"], end))
        else:
            for number, _, _ in questions:
                _tell(tell, number, "late")


_main()
