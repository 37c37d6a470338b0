"""Keeps a leaderboard dataset on the Hugging Face hub, in Parquet:

    HF_TOKEN=… python -m swe_ci.leaderboard --server URL --to hf:OWNER/NAME

All files arrive in one commit, or none. Nothing is committed when nothing has
changed, so a webhook or a timer may call it often.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Callable

from .client import Client
from .connection import TOKEN_VARIABLE
from .errors import MissingExtra, SweCiError

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Column:
    """A column, with its type in Arrow, its meaning, and its value in a row."""

    name: str
    type: str
    meaning: str
    source: str = ""

    def value(self, row: Mapping[str, Any]) -> Any:
        value = row.get(self.source or self.name)
        return None if value is None or value == "" else _CONVERSIONS.get(self.type, _as_is)(value)


def _as_is(value: Any) -> Any:
    return value


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "date32": date.fromisoformat,
    "double": float,
    "timestamp": lambda text: datetime.fromisoformat(text.replace("Z", "+00:00")),
}


def _with_interval(name: str, meaning: str) -> list[Column]:
    ends = [
        Column(
            f"{name}_{end}", "double", f"{end} end of its 95 % interval", f"intervals.{name}.{end}"
        )
        for end in ("low", "high")
    ]
    return [Column(name, "double", meaning), *ends]


LEADERBOARD = [
    Column("split", "string", "split of the tasks"),
    Column("gamma", "double", "weight of later iterations"),
    Column("convention", "string", "how tests are counted"),
    Column("board", "string", "mode of the ranking: `tdd`, `rdd` or `impossible`"),
    Column("rank", "int32", "rank on this board of the split"),
    Column("rank_best", "int32", "best rank in the 95 % interval", "intervals.rank.best"),
    Column("rank_worst", "int32", "worst rank in the 95 % interval", "intervals.rank.worst"),
    Column("tie_group", "int32", "runs with the same number are tied"),
    Column("run_id", "string", "id of the run, which never changes"),
    Column("model", "string", "model, or the human baseline"),
    Column("provider", "string", "who offers the model"),
    Column("harness", "string", "agent program"),
    Column("harness_version", "string", "its version"),
    Column("kind", "string", "`measured`, `imported` or `human`"),
    Column("mark", "string", "mark of its trustworthiness, if it has one"),
    Column("release_date", "date32", "day of the model's release"),
    Column("finished_at", "timestamp", "end of the run"),
    Column("metric_version", "int32", "version of the definitions of these numbers"),
    Column("tasks", "int32", "scored tasks"),
    Column("tasks_total", "int32", "tasks of the run"),
    Column("tasks_blocked", "int32", "tasks that the platform could not carry out"),
    *_with_interval("evoscore", "EvoScore, -1 to 1"),
    *_with_interval("zero_regression_rate", "share of tasks without any regression"),
    *_with_interval("solved_rate", "share of solved tasks"),
    *_with_interval("zrr", "zero-regression resolution"),
    *_with_interval("average_turns", "iterations used"),
    Column("input_tokens", "int64", "tokens read by the models", "usage.input_tokens"),
    Column("output_tokens", "int64", "tokens written by them", "usage.output_tokens"),
    Column("micro_usd", "int64", "cost in millionths of a US dollar"),
]

RESULTS = [
    Column("split", "string", "split of the task"),
    Column("gamma", "double", "weight of later iterations"),
    Column("convention", "string", "how tests are counted"),
    Column("board", "string", "mode of the ranking: `tdd`, `rdd` or `impossible`"),
    Column("task_id", "string", "task"),
    Column("repo", "string", "its repository"),
    Column("run_id", "string", "run"),
    Column("model", "string", "model of the run"),
    Column("kind", "string", "`measured`, `imported` or `human`"),
    Column("evoscore", "double", "mean EvoScore of the samples; absent without a score"),
    Column("solved", "double", "share of solved samples"),
    Column("zero_regression", "double", "share of samples without a regression"),
    Column("zrr", "double", "share of samples with both"),
    Column("samples", "int32", "scored samples"),
    Column("absence", "string", "why there is no score"),
]


def table(columns: list[Column], rows: Iterable[Mapping[str, Any]]) -> pyarrow.Table:
    """Rows in Arrow, always with all columns."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra("pyarrow", "hub") from error
    types = {
        "date32": pyarrow.date32(),
        "double": pyarrow.float64(),
        "int32": pyarrow.int32(),
        "int64": pyarrow.int64(),
        "string": pyarrow.string(),
        "timestamp": pyarrow.timestamp("ms", tz="UTC"),
    }
    schema = pyarrow.schema(
        [
            pyarrow.field(column.name, types[column.type], metadata={"description": column.meaning})
            for column in columns
        ]
    )
    values = [{column.name: column.value(row) for column in columns} for row in rows]
    return pyarrow.Table.from_pylist(values, schema=schema)


def tables(client: Client, splits: list[str], gamma: float, convention: str) -> dict[str, bytes]:
    """The tables of the dataset, by their paths."""
    known = [split["name"] for split in client.splits()]
    unknown = [split for split in splits if split not in known]
    if unknown:
        raise SweCiError(f"--split: there is no {', '.join(unknown)}; there are {', '.join(known)}")
    ranking: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    shown = {"gamma": gamma, "convention": convention}
    for split in splits or known:
        for board in ("tdd", "rdd"):
            query: Any = {"split": split, "mode": board, **shown}
            rows = client.leaderboard(**query).flat()
            if all(row["kind"] == "human" for row in rows) and board != "tdd":
                continue
            whole_board = {"split": split, "board": board, **shown}
            ranking += [{**row, **whole_board} for row in rows]
            results += [{**row, "board": board} for row in client.matrix(**query)]
    return {
        "data/leaderboard.parquet": _parquet(table(LEADERBOARD, ranking)),
        "data/results.parquet": _parquet(table(RESULTS, results)),
    }


def _parquet(rows: pyarrow.Table) -> bytes:
    import pyarrow.parquet

    content = io.BytesIO()
    pyarrow.parquet.write_table(rows, content, compression="zstd")
    return content.getvalue()


def card(dataset: str) -> str:
    """The card of the dataset: how it is read, and its columns."""
    return f"""---
pretty_name: SWE-CI leaderboard
tags:
- swe-ci
- leaderboard
configs:
- config_name: leaderboard
  default: true
  data_files:
  - split: test
    path: data/leaderboard.parquet
- config_name: results
  data_files:
  - split: test
    path: data/results.parquet
---

# SWE-CI leaderboard

How well do LLM coding agents maintain code? The rows of a leaderboard of the SWE-CI benchmark,
and the result of every run on every task. Scores are means over the scored tasks, and over the
samples of a task first. Each split has a board for each mode; the human baseline is on all of them.

```python
import pandas
pandas.read_parquet("hf://datasets/{dataset}/data/leaderboard.parquet")
```

## leaderboard

{_described(LEADERBOARD)}

## results

{_described(RESULTS)}
"""


def _described(columns: list[Column]) -> str:
    lines = [f"| `{column.name}` | {column.type} | {column.meaning} |" for column in columns]
    return "\n".join(["| Column | Type | Meaning |", "| --- | --- | --- |", *lines])


@dataclass(frozen=True)
class Target:
    """A dataset of the hub, `hf:OWNER/NAME[@BRANCH]`."""

    dataset: str
    branch: str

    @classmethod
    def read(cls, text: str) -> Target:
        name = r"\w(?:[\w.-]*\w)?"
        found = re.fullmatch(rf"hf:({name}/{name})(?:@(\w[\w./-]*))?", text, re.ASCII)
        if found is None:
            raise argparse.ArgumentTypeError(
                f"`{text}`: write hf:OWNER/NAME or hf:OWNER/NAME@BRANCH"
            )
        return cls(found[1], found[2] or "main")

    def commit(self, content: Mapping[str, bytes], message: str, private: bool) -> str:
        """Puts files into the dataset by one commit, and returns its address."""
        try:
            from huggingface_hub import CommitOperationAdd, HfApi
        except ImportError as error:
            raise MissingExtra("huggingface_hub", "hub") from error
        token = os.environ.get("HF_TOKEN")
        if not token:
            raise SweCiError(
                "HF_TOKEN is not set: a push needs the token of an account that may write"
            )
        hub = HfApi(token=token)
        added = [CommitOperationAdd(path, data) for path, data in content.items()]
        try:
            hub.create_repo(self.dataset, repo_type="dataset", private=private, exist_ok=True)
            if self.branch != "main":
                hub.create_branch(
                    self.dataset, branch=self.branch, repo_type="dataset", exist_ok=True
                )
            done = hub.create_commit(
                self.dataset,
                added,
                commit_message=message,
                repo_type="dataset",
                revision=self.branch,
            )
        except Exception as error:
            raise SweCiError(
                f"nothing was pushed to hf:{self.dataset}@{self.branch}: {_refusal(error)}"
            ) from error
        return str(done.commit_url)


def _refusal(error: Exception) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status == 401:
        return "the hub does not accept the token in HF_TOKEN"
    if status == 403:
        return "the token in HF_TOKEN may not write there"
    return str(error).strip() or type(error).__name__


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m swe_ci.leaderboard",
        description="Keeps a leaderboard dataset on the Hugging Face hub, in Parquet. HF_TOKEN is "
        f"the token of an account that may write there, HF_ENDPOINT another hub, {TOKEN_VARIABLE} "
        "a token of the server, if it is closed.",
    )
    parser.add_argument("--server", required=True, metavar="URL", help="address of the server")
    parser.add_argument(
        "--to", required=True, type=Target.read, metavar="TARGET", help="hf:OWNER/NAME[@BRANCH]"
    )
    parser.add_argument(
        "--split",
        action="append",
        default=[],
        metavar="NAME",
        help="may be repeated; all when absent",
    )
    parser.add_argument("--gamma", type=float, default=1.0, help="weight of later iterations")
    parser.add_argument("--convention", default="paper", choices=["paper", "reference"])
    parser.add_argument(
        "--private", action="store_true", help="a dataset that is created shall be private"
    )
    return parser


def main() -> int:
    options = _options().parse_args()
    try:
        client = Client(options.server)
        content = tables(client, options.split, options.gamma, options.convention)
        content["README.md"] = card(options.to.dataset).encode()
        print(options.to.commit(content, f"Leaderboard of {options.server}", options.private))
    except SweCiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
