"""The leaderboard dataset: a push by the hub's own client, and what others read from there."""

import json

import swe_ci
from conftest import SPLIT, HubAtHand
from stand_in_hub import READER

BOARD = "ada/board"
RANKING = f"hf://datasets/{BOARD}/data/leaderboard.parquet"


def test_a_leaderboard_that_all_read(hub: HubAtHand, client: swe_ci.Client, address: str) -> None:
    done = hub.publish(address, "--to", f"hf:{BOARD}", "--split", SPLIT)
    assert done.returncode == 0, done.stderr
    commits = hub.hub.datasets[BOARD]["main"]
    assert [sorted(files) for files in commits[1:]] == [
        ["README.md", "data/leaderboard.parquet", "data/results.parquet"]
    ]
    assert RANKING in commits[1]["README.md"].decode()
    rows = client.leaderboard(split=SPLIT)
    expected = json.dumps([[row["model"], row["evoscore"]] for row in rows])
    shown = "print(json.dumps([[row['model'], row['evoscore']] for row in rows]))"
    readers = {
        "pandas": f"import pandas; rows = pandas.read_parquet('{RANKING}').to_dict('records')",
        "datasets": f"import datasets; rows = list(datasets.load_dataset('{BOARD}', split='test'))",
        # Its own `hf://` is an extension that it fetches from elsewhere.
        "duckdb": "import duckdb, huggingface_hub; file = huggingface_hub.hf_hub_download("
        f"'{BOARD}', 'data/leaderboard.parquet', repo_type='dataset'); "
        "rows = duckdb.read_parquet(file).df().to_dict('records')",
    }
    for reader, code in readers.items():
        assert hub.python(f"import json; {code}; {shown}").splitlines()[-1] == expected, reader
    columns = (
        f"import datasets; found = datasets.load_dataset('{BOARD}', 'results', split='test'); "
        "print(found.features['evoscore'].dtype, found.features['samples'].dtype, len(found))"
    )
    assert hub.python(columns).splitlines()[-1] == f"float64 int32 {4 * len(rows)}"


def test_an_unchanged_leaderboard_is_no_commit(hub: HubAtHand, address: str) -> None:
    for _ in range(2):
        done = hub.publish(address, "--to", f"hf:{BOARD}")
        assert done.returncode == 0, done.stderr
    assert len(hub.hub.datasets[BOARD]["main"]) == 2
    done = hub.publish(address, "--to", f"hf:{BOARD}@weekly", "--gamma", "1.5")
    assert done.returncode == 0, done.stderr
    assert len(hub.hub.datasets[BOARD]["weekly"]) == 3
    assert len(hub.hub.datasets[BOARD]["main"]) == 2


def test_refusals_leave_nothing_behind(hub: HubAtHand, address: str) -> None:
    to = ["--to", f"hf:{BOARD}"]

    def check(expected: str, *options: str, server: str = address, token: str | None) -> None:
        done = hub.publish(server, *options, token=token)
        assert done.returncode != 0 and expected in done.stderr, done.stderr
        assert "Traceback" not in done.stderr and "hf_" not in done.stderr
        assert all(len(b["main"]) == 1 for b in hub.hub.datasets.values())

    check("HF_TOKEN is not set", *to, token=None)
    check("does not accept the token", *to, token="hf_unknown")
    check("may not write there", *to, token=READER)
    check("write hf:OWNER/NAME", "--to", "board", token=None)
    check("there is no nowhere", *to, "--split", "nowhere", token="hf_writer")
    check("`gamma` is `99.0`", *to, "--gamma", "99", token="hf_writer")
    check("does not answer", *to, server="http://127.0.0.1:1", token="hf_writer")
    hub.hub.broken = True
    check("nothing was pushed", *to, token="hf_writer")
