"""Before an iteration: puts the tests back, and writes the tests of the target
that do not pass into /app/non-passed, as the architect of swe-ci gets them.

This is information for the agent, in its own container. The verifier grades in
another one.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
CODE = "/app/code"
GAP = "/app/non-passed"
MOST_TEXT = 12000

seen = {}


class Watch:
    """A plugin of pytest."""

    @staticmethod
    def pytest_runtest_logreport(report):
        outcome = report.outcome if report.when == "call" or report.outcome != "failed" else "error"
        if report.when == "call" or report.outcome != "passed":
            seen[report.nodeid] = (outcome, str(report.longreprtext)[-MOST_TEXT:])


def run_tests():
    import pytest

    os.chdir(CODE)
    sys.path[:0] = [CODE, CODE + "/src"]
    pytest.main(["tests", "-q", "--rootdir=" + CODE, "-p", "no:cacheprovider"], plugins=[Watch()])
    with open("/tmp/swe-ci-gap.json", "w") as file:
        json.dump(seen, file)


def main():
    with open(os.path.join(HERE, "tests.json")) as file:
        plan = json.load(file)
    shutil.rmtree(CODE + "/tests", ignore_errors=True)
    with tarfile.open(os.path.join(HERE, "tests.tar")) as archive:
        archive.extractall(CODE)
    command = [sys.executable, "-B", os.path.abspath(__file__), "run"]
    with open("/tmp/swe-ci-gap.json", "w") as file:
        file.write("{}")
    try:
        subprocess.run(command, timeout=plan["seconds"], stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        print("the tests took longer than %d s" % plan["seconds"])
    with open("/tmp/swe-ci-gap.json") as file:
        outcomes = json.load(file)
    gap = [(test, *outcomes.get(test, ("missing", ""))) for test in plan["tests"]]
    gap = [found for found in gap if found[1] != "passed"]
    shutil.rmtree(GAP, ignore_errors=True)
    os.makedirs(GAP)
    with open(GAP + "/summary.jsonl", "w") as summary:
        for number, (test, outcome, message) in enumerate(gap, 1):
            name = "%05d.json" % number
            summary.write(json.dumps({"node_id": test, "outcome": outcome, "detail": name}) + "\n")
            with open(GAP + "/" + name, "w") as file:
                json.dump({"node_id": test, "outcome": outcome, "message": message}, file)


run_tests() if sys.argv[1:] == ["run"] else main()
