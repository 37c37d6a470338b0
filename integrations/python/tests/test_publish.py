"""A run as a result of a benchmark on the hub, and the hub's leaderboard read back."""

import json

import yaml
from conftest import SPLIT, HubAtHand, Program

from swe_ci import Client


def test_a_run_becomes_a_result_of_the_benchmark(
    hub: HubAtHand, swe_ci_program: Program, client: Client
) -> None:
    row = next(row for row in client.leaderboard(split=SPLIT) if row["kind"] == "human")
    pushed = swe_ci_program("dataset", "push", SPLIT, "--to", "hf:ada/bench")
    assert pushed.returncode == 0, pushed.stderr
    benchmark = yaml.safe_load(hub.hub.files("ada/bench", "main")["eval.yaml"])
    assert [task["id"] for task in benchmark["tasks"]] == [SPLIT]

    publish = ("publish", row["run_id"], "--to", "hf:ada/model", "--benchmark", "hf:ada/bench")
    dry = swe_ci_program(*publish, token=None)
    assert dry.returncode == 0, dry.stderr
    assert "nothing was pushed" in dry.stderr and "models/ada/model" not in hub.hub.datasets
    [printed] = yaml.safe_load(dry.stdout)
    refused = swe_ci_program(*publish, "--push", token=None)
    assert refused.returncode == 2 and "HF_TOKEN is not set" in refused.stderr

    done = swe_ci_program(*publish, "--push")
    assert done.returncode == 0, done.stderr
    files = hub.hub.files("models/ada/model", "main")
    [entry] = yaml.safe_load(files[f".eval_results/swe-ci-{SPLIT}.yaml"])
    assert entry == printed
    assert entry["value"] == round(row["evoscore"], 4) and row["run_id"] in entry["notes"]

    # The hub's own client reads both.
    script = (
        "import json, sys, yaml; from huggingface_hub import HfApi, parse_eval_result_entries; "
        "[found] = parse_eval_result_entries(yaml.safe_load(sys.argv[1])); "
        "[top] = HfApi().get_dataset_leaderboard('ada/bench'); "
        "print(json.dumps([found.dataset_id, found.task_id, found.value, top.model_id, top.value]))"
    )
    content = files[f".eval_results/swe-ci-{SPLIT}.yaml"].decode()
    found = json.loads(hub.python(script, content).splitlines()[-1])
    value = entry["value"]
    assert found == ["ada/bench", SPLIT, value, "ada/model", value]

    read = swe_ci_program("dataset", "outside-results", SPLIT, "--from", "hf:ada/bench", "--json")
    assert read.returncode == 0, read.stderr
    outside = json.loads(read.stdout)
    assert [(row["model"], row["evoscore"]) for row in outside["rows"]] == [("model", value)]
    other = swe_ci_program("dataset", "outside-results", SPLIT, "--from", "hf:ada/none")
    assert other.returncode == 1 and "leaderboard of the dataset ada/none" in other.stderr
