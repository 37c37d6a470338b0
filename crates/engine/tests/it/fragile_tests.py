import os
import time

import tiny_lib

SEEN = []


def test_new():
    assert tiny_lib.answer(6) == 42


def test_old():
    assert tiny_lib.question() == "six times seven"


def test_first():
    SEEN.append(1)


def test_second():
    assert SEEN


def test_home():
    assert os.path.isdir(os.path.expanduser("~"))


def test_today():
    """The kernel's own clock: no test outlives a date in it."""
    with open("/proc/stat") as stat:
        booted = next(int(line.split()[1]) for line in stat if line.startswith("btime"))
    with open("/proc/uptime") as uptime:
        since = float(uptime.read().split()[0])
    assert abs(time.time() - booted - since) < 86_400
