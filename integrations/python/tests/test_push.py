"""Pushes of splits by the program, by the hub's own `hf`."""

import hashlib
import json
from pathlib import Path

from conftest import SPLIT, HubAtHand, Program
from stand_in_hub import READER


def test_a_split_goes_to_the_hub_and_back(
    hub: HubAtHand, swe_ci_program: Program, tmp_path: Path
) -> None:
    pushed = swe_ci_program("dataset", "push", SPLIT, "--to", "hf:ada/demo", "--private")
    assert pushed.returncode == 0, pushed.stderr
    assert "ada/demo" in hub.hub.private
    first, *others = hub.hub.datasets["ada/demo"]["main"][1:]
    assert not others and len(first) == 4 * 2 + 5
    for line in first["SHA256SUMS"].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(first[name]).hexdigest() == digest, name
    listing = (
        "import datasets; found = datasets.load_dataset('ada/demo', 'demo', split='test'); "
        "print(sorted(found['task_id'])[2])"
    )
    task = hub.python(listing).splitlines()[-1]
    assert task == "tinydb-4.7.1-4.8.2"
    imported = swe_ci_program(
        *(
            "dataset",
            "import",
            "--from",
            "hf:ada/demo",
            "--split",
            SPLIT,
            "--tasks",
            task,
            "--json",
        ),
        data=tmp_path / "data",
    )
    assert imported.returncode == 0, imported.stderr
    assert [(row["task_id"], row["gap"]) for row in json.loads(imported.stdout)] == [(task, 5)]


def test_a_push_is_refused_before_work_begins(hub: HubAtHand, swe_ci_program: Program) -> None:
    push = ("dataset", "push", SPLIT, "--to")

    def check(code: int, expected: str, *options: str, token: str | None) -> None:
        done = swe_ci_program(*options, token=token)
        assert done.returncode == code and expected in done.stderr, done.stderr
        assert not hub.hub.datasets and "hf_" not in done.stderr

    check(2, "write hf:OWNER/NAME", *push, "./folder", token=None)
    check(2, "HF_TOKEN is not set", *push, "hf:ada/demo", token=None)
    check(1, "does not accept the token", *push, "hf:ada/demo", token="hf_unknown")
    check(1, "nothing was pushed to ada/demo", *push, "hf:ada/demo", token=READER)
