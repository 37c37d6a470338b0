"""The configuration of a run, from a file as `swe-ci run submit` takes it."""

import json
import tomllib
from pathlib import Path
from typing import Any

from .refusal import WrongParameter

HUMAN = "human"
"""In place of a file: the human baseline, which calls no model."""

_OWN_FIELDS = ("split", "tasks", "samples")
"""Fields that follow from what Inspect evaluates."""


def read(config: str) -> dict[str, Any]:
    """Reads `FILE.toml`, or JSON from any other file; `human` is the baseline."""
    if config == HUMAN:
        harness = {"name": "replay", "max_chunks": 20}
        return {"model": "Human (replayed history)", "kind": "human", "harness": harness}
    path = Path(config)
    try:
        text = path.read_text(encoding="utf-8")
        fields = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        raise WrongParameter(f"config: {config} cannot be read: {error}") from error
    if not isinstance(fields, dict):
        raise WrongParameter(f"config: {config} is not a table of fields")
    return fields


def submission(
    fields: dict[str, Any], split: str, tasks: list[str], samples: int, private: bool
) -> dict[str, Any]:
    """The body of `POST /api/v1/runs`; `tasks` is empty for the whole split."""
    config = {name: value for name, value in fields.items() if name not in _OWN_FIELDS}
    config |= {"split": split, "samples": samples}
    if tasks:
        config["tasks"] = tasks
    return {
        "config": config,
        "visibility": "private" if private else "public",
        "preflight": config.get("kind") != HUMAN,
    }
