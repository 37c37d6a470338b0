"""The client, against a real server with the demo split."""

import subprocess
import sys
from pathlib import Path

import pytest
import swe_ci
import swe_ci.client
from conftest import COUNTS, SPLIT


def test_a_line_gives_the_leaderboard(client: swe_ci.Client) -> None:
    rows = client.leaderboard(split=SPLIT)
    assert rows[0]["rank"] == 1 and len(rows) >= 2
    frame = rows.to_pandas()
    assert list(frame["model"]) == [row["model"] for row in rows]
    low, high = frame["intervals.evoscore.low"], frame["intervals.evoscore.high"]
    assert ((low <= frame["evoscore"]) & (frame["evoscore"] <= high)).all()
    assert rows.to_arrow().num_rows == len(frame)


def test_columns_do_not_depend_on_the_rows(client: swe_ci.Client, bare_address: str) -> None:
    bare = swe_ci.Client(bare_address, token="")
    empty = bare.leaderboard(split=COUNTS)
    without_intervals = bare.leaderboard(split=COUNTS, convention="reference")
    assert (len(empty), len(without_intervals)) == (0, 1)
    known = set(client.leaderboard(split=SPLIT).columns())
    for table in (empty, without_intervals):
        assert known <= set(table.columns()) and "intervals" not in table.columns()
        frame = table.to_pandas()
        assert list(frame.columns) == table.columns() == table.to_arrow().column_names
        assert len(frame["evoscore"]) == len(frame["intervals.evoscore.low"]) == len(table)
    assert without_intervals.to_pandas()["intervals.evoscore.low"].isna().all()
    lists = [client.runs(text="of nobody"), client.tasks(q="of nobody")]
    assert [len(rows) for rows in lists] == [0, 0]
    assert {"run_id", "config.model"} <= set(lists[0].to_pandas())
    assert {"task_id", "gap", "state"} <= set(lists[1].to_pandas())
    figure = bare.figure("style-wins", split=COUNTS)
    assert (len(figure), "model" in figure.to_pandas()) == (0, True)
    assert {"mi_win_rate", "pylint_win_rate"} <= set(figure.columns())


def test_lists_come_whole(client: swe_ci.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(client.tasks(split=SPLIT))
    assert len(whole) == 4
    monkeypatch.setattr(swe_ci.client, "_PAGE", 1)
    assert list(client.tasks(split=SPLIT)) == whole
    assert list(client.tasks(split=SPLIT, limit=3)) == whole[:3]
    for limit in (0, -1):
        with pytest.raises(ValueError, match=f"limit is {limit}: give 1 or more"):
            client.tasks(split=SPLIT, limit=limit)


def test_a_run_and_its_results(client: swe_ci.Client) -> None:
    human = next(run for run in client.runs(split=SPLIT) if run["config"]["kind"] == "human")
    scores = client.scores(human["run_id"], gamma=1.0)
    assert len(scores) == 4
    mean = sum(row["evoscore"] for row in scores) / 4
    assert scores.document["evoscore"] == pytest.approx(mean)
    task = scores[0]["task_id"]
    assert human["run_id"] in [row["run_id"] for row in client.results(task)]
    assert client.task(task)["task_id"] == task
    assert client.run(human["run_id"])["progress"] == "finished"
    assert set(client.matrix(split=SPLIT).to_pandas()["task_id"]) == {
        row["task_id"] for row in scores
    }


def test_runs_side_by_side(client: swe_ci.Client) -> None:
    runs = [row["run_id"] for row in client.leaderboard(split=SPLIT)][:2]
    compared = client.compare(*runs)
    assert [row["run_id"] for row in compared.document["runs"]] == runs
    shared = [task["task_id"] for task in compared.document["tasks"]]
    assert shared and set(compared.to_pandas()["task_id"]) == set(shared)


def test_published_results_and_splits(client: swe_ci.Client) -> None:
    published = client.published()
    assert len(published.to_pandas()) == 18 and published.document["split"] == "default"
    assert [split["name"] for split in client.splits()] == [SPLIT]


def test_pictures(client: swe_ci.Client) -> None:
    assert client.picture("solved", split=SPLIT).startswith(b"<svg")
    assert client.picture("solved", "png", split=SPLIT).startswith(b"\x89PNG")


def test_refusals_are_the_servers_words(client: swe_ci.Client, address: str) -> None:
    with pytest.raises(swe_ci.ApiError, match=r"400, `gamma` is `99`") as refused:
        client.leaderboard(gamma=99)
    assert refused.value.parameter == "gamma" and refused.value.instance in str(refused.value)
    assert refused.value.type == "urn:swe-ci:problem:bad-parameter"
    with pytest.raises(swe_ci.ApiError, match="`splitt` is not a parameter"):
        client.get("leaderboard", splitt="demo")
    with pytest.raises(swe_ci.ApiError, match="404, there is no run"):
        client.run("a/../b")
    with pytest.raises(swe_ci.ApiError, match=r"401.*SWE_CI_TOKEN") as unknown:
        swe_ci.Client(address, token="sweci_unknown").splits()
    assert "sweci_unknown" not in str(unknown.value)
    with pytest.raises(swe_ci.ServerAway, match="does not answer"):
        swe_ci.Client("http://127.0.0.1:1").splits()
    with pytest.raises(swe_ci.SweCiError, match="`nowhere` is no address"):
        swe_ci.Client("nowhere")


def test_any_operation(client: swe_ci.Client) -> None:
    (split,) = client.get("splits")
    assert split["name"] == SPLIT
    assert client.get("/api/v1/splits") == client.get("/splits") == [split]


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_the_standard_library_is_enough() -> None:
    code = (
        "import sys; sys.modules['typing_extensions'] = None\n"
        "import swe_ci.schema, swe_ci.leaderboard; print(swe_ci.__version__)"
    )
    done = python(code)
    assert done.stdout == "0.0.0\n", done.stderr


def test_a_wheel_without_the_program_says_so() -> None:
    done = subprocess.run([sys.executable, "-m", "swe_ci"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "") and "the client alone" in done.stderr


def test_a_missing_package_is_named(address: str) -> None:
    code = (
        "import sys; sys.modules['pandas'] = None; import swe_ci\n"
        f"swe_ci.Client({address!r}).splits().to_pandas()"
    )
    done = python(code)
    assert 'pip install "swe-ci[pandas]"' in done.stderr


def test_a_type_checker_knows_the_api(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import swe_ci\n"
        "client = swe_ci.Client('http://localhost')\n"
        "reveal_type(client.leaderboard(split='demo')[0]['evoscore'])\n"
        "reveal_type(client.scores('r').document['gamma'])\n"
        "client.leaderboard(splitt='demo')\n"
        "client.leaderboard(split='demo')[0]['evoscor']\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, str(program)], capture_output=True, text=True)
    assert done.stdout.count('Revealed type is "float"') == 2, done.stdout
    assert 'Unexpected keyword argument "splitt"' in done.stdout
    assert 'has no key "evoscor"' in done.stdout
    assert "Found 2 errors" in done.stdout
