"""Rolls out evolutions side by side, with a scripted policy in the place of a model:

    python rollouts.py FOLDER/evolution [--evolutions 8] [--iterations 3]

The policy is a server that speaks OpenAI's chat completions. In each iteration it
puts more of the target's files in place, and all of them in the last; what stands
between may not even load. The rewards are the same every time. Nothing is trained; a
trainer does the same with its own endpoint.
"""

import argparse
import asyncio
import json
import re
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import verifiers.v1 as vf

from swe_ci.evolution import Evolution
from swe_ci.verifiers import EvolutionEnvConfig

ASKED = re.compile(r"the task (\S+)\. This is iteration (\d+)\.")


def readable(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def policy(folder: Path, iterations: int) -> type[BaseHTTPRequestHandler]:
    """Replays the target of each task in so many parts."""

    def answer(task: str, iteration: int) -> str:
        with tarfile.open(folder / task / "solution" / "target.tar") as archive:
            target = {
                entry.name.removeprefix("./"): file.read()
                for entry in archive
                if entry.isreg() and (file := archive.extractfile(entry))
            }
        start = Evolution(folder / task).reset().code
        changed = [
            path
            for path, content in sorted(target.items())
            if start.get(path) != content and not path.startswith("tests/")
        ]
        part = changed[: len(changed) * iteration // iterations]
        files = {path: text for path in part if (text := readable(target[path])) is not None}
        return f"```json\n{json.dumps(files)}\n```"

    class Policy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            found = ASKED.search(json.dumps(body["messages"][-1]["content"]))
            assert found is not None
            message = {"role": "assistant", "content": answer(found[1], int(found[2]))}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
            content = json.dumps({**reply, "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Policy


async def roll_out(folder: Path, evolutions: int, iterations: int) -> list[list[float]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), policy(folder, iterations))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    taskset = {"id": "swe-ci-verifiers", "folder": str(folder), "iterations": iterations}
    env = vf.load_environment(EvolutionEnvConfig.model_validate({"taskset": taskset}))
    client = vf.EvalClientConfig(
        base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key_var="SCRIPTED"
    )
    ctx = vf.ModelContext(model="scripted", client=client)
    tasks = list(env.taskset)
    async with env.serving():
        episodes = await asyncio.gather(
            *(env.run_episode(tasks[n % len(tasks)], ctx) for n in range(evolutions))
        )
    server.shutdown()
    for episode in episodes:
        if not episode.ok:
            errors = [*episode.errors, *(e for trace in episode.traces for e in trace.errors)]
            raise SystemExit(f"{episode.task.data.id}: {[error.message for error in errors]}")
    return [[trace.rewards["gap_closed"].score for trace in e.traces] for e in episodes]


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--evolutions", type=int, default=8)
    options.add_argument("--iterations", type=int, default=3)
    given = options.parse_args()
    for rewards in asyncio.run(roll_out(given.folder, given.evolutions, given.iterations)):
        print(" ".join(f"{reward:+.3f}" for reward in rewards), f"= {sum(rewards):.3f}")
