"""A stand-in for the Hugging Face hub: the part of its API that pushes and reads
datasets and models, in memory. `python stand_in_hub.py` prints its address and serves.
As the hub documents (docs/hub/eval-results), it validates `eval.yaml` of a dataset
and `.eval_results/*.yaml` of a model when they are pushed, and makes the
leaderboard of a benchmark from them. Models are kept beside datasets, as
`models/OWNER/NAME`.

The token `hf_writer` may write; `hf_reader` may not; any other is refused.
"""

import base64
import hashlib
import json
import re
import sys
import threading
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

WRITER, READER = "hf_writer", "hf_reader"
_LARGE = (".parquet", ".zip", ".gz", ".eval")


class Refused(Exception):
    def __init__(self, status: int, message: str, code: str = "", **more: str) -> None:
        super().__init__(message)
        self.status, self.code, self.more = status, code, more


class Hub:
    """Its datasets: for each branch the commits, each with all files."""

    def __init__(self) -> None:
        self.datasets: dict[str, dict[str, list[dict[str, bytes]]]] = {}
        self.private: set[str] = set()
        self.objects: dict[str, bytes] = {}
        self.lock = threading.Lock()
        self.broken = False
        """It fails at commits."""

    def commits(self, dataset: str, revision: str) -> list[dict[str, bytes]]:
        branches = self.datasets.get(dataset)
        if branches is None:
            raise Refused(404, "Repository not found", "RepoNotFound")
        for name, commits in branches.items():
            if revision == name:
                return commits
            for at in range(len(commits)):
                if revision == sha(dataset, name, at):
                    return commits[: at + 1]
        raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    def head(self, dataset: str, revision: str) -> str:
        for name, commits in self.datasets.get(dataset, {}).items():
            if revision == name:
                return sha(dataset, name, len(commits) - 1)
        return revision

    def files(self, dataset: str, revision: str) -> dict[str, bytes]:
        return self.commits(dataset, revision)[-1]


def sha(*parts: Any) -> str:
    return hashlib.sha1(repr(parts).encode()).hexdigest()


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def entry(path: str, content: bytes) -> dict[str, Any]:
    found = {"type": "file", "path": path, "size": len(content), "oid": blob(content)}
    if path.endswith(_LARGE):
        oid = hashlib.sha256(content).hexdigest()
        found["lfs"] = {"oid": oid, "size": len(content), "pointerSize": 130}
    return found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_GET(self) -> None:
        self._answer()

    do_HEAD = do_POST = do_PUT = do_GET

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        self.body = self.rfile.read(length)
        path = unquote(urlsplit(self.path).path)
        try:
            for method, pattern, handle in ROUTES:
                found = re.fullmatch(pattern, path)
                if found and self.command in method.split():
                    with self.hub.lock:
                        answer = handle(self, *found.groups())
                    return self._send(200, answer) if answer is not None else None
            raise Refused(404, f"{self.command} {path} is not part of this stand-in")
        except Refused as refused:
            self._send(
                refused.status,
                {"error": str(refused), **refused.more},
                {"X-Error-Code": refused.code},
            )

    def _send(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    # Who may do what.

    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    def writer(self) -> None:
        self.known()
        if self.token() != WRITER:
            raise Refused(403, "You don't have the rights to create or write here")

    def known(self) -> None:
        if self.token() not in (WRITER, READER):
            raise Refused(401, "Invalid username or password.")

    def reader(self, dataset: str) -> None:
        if self.token():
            self.known()
        if dataset in self.hub.private and not self.token():
            raise Refused(401, "Repository not found", "RepoNotFound")

    # The API.

    def whoami(self) -> Any:
        self.known()
        return {"type": "user", "name": "ada", "fullname": "Ada", "orgs": [], "auth": {}}

    def create(self) -> Any:
        self.writer()
        asked = json.loads(self.body)
        dataset = f"{asked.get('organization') or 'ada'}/{asked['name']}"
        url = f"{self.address()}/datasets/{dataset}"
        if asked.get("type", "model") == "model":
            dataset, url = f"models/{dataset}", f"{self.address()}/{dataset}"
        if dataset in self.hub.datasets:
            raise Refused(409, "You already created this dataset repo", url=url)
        self.hub.datasets[dataset] = {"main": [{}]}
        if asked.get("private") or asked.get("visibility") == "private":
            self.hub.private.add(dataset)
        return {"url": url, "id": dataset, "name": dataset}

    def branch(self, dataset: str, name: str) -> Any:
        self.writer()
        branches = self.hub.datasets[dataset]
        if name in branches:
            raise Refused(409, "Reference already exists")
        branches[name] = [*branches["main"]]
        return {}

    def validate(self) -> Any:
        card = json.loads(self.body)["content"]
        errors = [] if card.startswith("---\n") else [{"message": "there is no YAML"}]
        return {"errors": errors, "warnings": []}

    def preupload(self, dataset: str, revision: str) -> Any:
        self.writer()
        files = self.hub.files(dataset, revision)
        answers = []
        for file in json.loads(self.body)["files"]:
            path = file["path"]
            mode = "lfs" if path.endswith(_LARGE) or file["size"] > 10 << 20 else "regular"
            answer = {"path": path, "uploadMode": mode, "shouldIgnore": False}
            if path in files:
                found = entry(path, files[path])
                answer["oid"] = found["lfs"]["oid"] if "lfs" in found else found["oid"]
            answers.append(answer)
        return {"files": answers, "commitOid": self.hub.head(dataset, revision)}

    def batch(self, dataset: str) -> Any:
        self.writer()
        asked = json.loads(self.body)
        objects = []
        for one in asked["objects"]:
            if one["oid"] not in self.hub.objects:
                href = f"{self.address()}/objects/{one['oid']}"
                one = {**one, "actions": {"upload": {"href": href, "header": {}}}}
            objects.append(one)
        return {"transfer": "basic", "objects": objects, "hash_algo": "sha256"}

    def put(self, oid: str) -> Any:
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise Refused(400, "the digest is another one")
        self.hub.objects[oid] = self.body
        return {}

    def commit(self, dataset: str, revision: str) -> Any:
        self.writer()
        if self.hub.broken:
            raise Refused(500, "Internal Error - We're working hard to fix this")
        commits = self.hub.commits(dataset, revision)
        files = {**commits[-1]}
        for line in self.body.decode().splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif item["key"] == "lfsFile":
                if value["oid"] not in self.hub.objects:
                    raise Refused(400, f"{value['path']} was not uploaded")
                files[value["path"]] = self.hub.objects[value["oid"]]
            elif item["key"] == "deletedFile":
                del files[value["path"]]
        validate_benchmark(dataset, files)
        commits.append(files)
        head = self.hub.head(dataset, revision)
        place = dataset.removeprefix("models/") if is_model(dataset) else f"datasets/{dataset}"
        url = f"{self.address()}/{place}/commit/{head}"
        return {"success": True, "commitOid": head, "commitUrl": url, "hookOutput": ""}

    def info(self, dataset: str, revision: str | None) -> Any:
        self.reader(dataset)
        revision = revision or "main"
        files = self.hub.files(dataset, revision)
        return {
            "id": dataset,
            "sha": self.hub.head(dataset, revision),
            "private": dataset in self.hub.private,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": [{"rfilename": path} for path in files],
            "lastModified": "2026-01-01T00:00:00.000Z",
        }

    def tree(self, dataset: str, revision: str, folder: str | None) -> Any:
        self.reader(dataset)
        files = self.hub.files(dataset, revision)
        prefix = f"{folder.strip('/')}/" if folder and folder.strip("/") else ""
        inside = {path: content for path, content in files.items() if path.startswith(prefix)}
        if prefix and not inside:
            raise Refused(404, f"{folder} does not exist", "EntryNotFound")
        deep = "recursive=true" in self.path.lower()
        found, folders = [], set()
        for path, content in inside.items():
            parts = path[len(prefix) :].split("/")
            folders |= {prefix + "/".join(parts[:n]) for n in range(1, len(parts) if deep else 2)}
            if deep or len(parts) == 1:
                found.append(entry(path, content))
        folders -= set(inside)
        return [{"type": "directory", "path": f, "oid": sha(f), "size": 0} for f in folders] + found

    def paths(self, dataset: str, revision: str) -> Any:
        self.reader(dataset)
        files = self.hub.files(dataset, revision)
        kind = self.headers.get("content-type", "")
        if "json" in kind:
            wanted = json.loads(self.body)["paths"]
        else:
            wanted = [
                unquote(p.replace("+", " "))
                for p in re.findall(r"paths=([^&]*)", self.body.decode())
            ]
        wanted = [wanted] if isinstance(wanted, str) else wanted
        found = [entry(path, files[path]) for path in wanted if path in files]
        for path in wanted:
            if path not in files and any(name.startswith(f"{path}/") for name in files):
                found.append({"type": "directory", "path": path, "oid": sha(path), "size": 0})
        return found

    def resolve(self, dataset: str, revision: str, path: str) -> Any:
        self.reader(dataset)
        files = self.hub.files(dataset, revision)
        if path not in files:
            raise Refused(404, "Entry not found", "EntryNotFound")
        content = files[path]
        found = entry(path, content)
        tag = found["lfs"]["oid"] if "lfs" in found else found["oid"]
        headers = {
            "X-Repo-Commit": self.hub.head(dataset, revision),
            "ETag": f'"{tag}"',
            "Accept-Ranges": "bytes",
        }
        if "lfs" in found:
            headers |= {"X-Linked-Etag": f'"{tag}"', "X-Linked-Size": str(len(content))}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", ""))
        if asked is None:
            return self._send(200, content, headers)
        start, end = int(asked[1]), min(int(asked[2] or len(content) - 1), len(content) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        return self._send(206, content[start : end + 1], headers)

    def leaderboard(self, dataset: str) -> Any:
        self.reader(dataset)
        benchmark = self.hub.files(dataset, "main")
        if "eval.yaml" not in benchmark:
            raise Refused(404, f"{dataset} is no benchmark")
        rows = []
        for model in filter(is_model, self.hub.datasets):
            for name, content in self.hub.files(model, "main").items():
                if name.startswith(".eval_results/"):
                    for entry in yaml.safe_load(content):
                        if entry["dataset"]["id"] == dataset:
                            rows.append((entry["value"], model.removeprefix("models/"), name))
        rows.sort(reverse=True)
        return [
            {
                "rank": rank,
                "modelId": model,
                "value": value,
                "filename": name,
                "verified": False,
                "author": {"type": "user", "name": model.split("/")[0]},
            }
            for rank, (value, model, name) in enumerate(rows, 1)
        ]

    def address(self) -> str:
        return f"http://{self.headers['host']}"


def is_model(repository: str) -> bool:
    return repository.startswith("models/")


def validate_benchmark(repository: str, files: dict[str, bytes]) -> None:
    """Refuses files that the hub's documentation does not describe."""

    def check(path: str, holds: bool, rule: str) -> None:
        if not holds:
            raise Refused(400, f"{path}: {rule}")

    if not is_model(repository) and "eval.yaml" in files:
        found = yaml.safe_load(files["eval.yaml"])
        for field in ("name", "description", "evaluation_framework"):
            check("eval.yaml", isinstance(found.get(field), str), f"{field} is a text")
        check("eval.yaml", bool(found.get("tasks")), "there is a task at least")
        for task in found["tasks"]:
            check("eval.yaml", isinstance(task.get("id"), str), "a task has an id")
            check("eval.yaml", set(task) <= {"id", "config", "split"}, "an unknown field")
        known = {"name", "description", "evaluation_framework", "tasks"}
        check("eval.yaml", set(found) <= known, "an unknown field")
    for path in [path for path in files if path.startswith(".eval_results/")]:
        check(path, is_model(repository) and path.endswith(".yaml"), "it is a model's YAML file")
        for entry in yaml.safe_load(files[path]):
            known = {"dataset", "value", "verifyToken", "date", "source", "notes"}
            check(path, set(entry) <= known | {"evaluation_framework"}, "an unknown field")
            dataset = entry["dataset"]
            check(path, set(dataset) <= {"id", "task_id", "revision"}, "an unknown field")
            check(
                path, "/" in dataset["id"] and bool(dataset.get("task_id")), "a dataset and a task"
            )
            check(path, isinstance(entry["value"], (int, float)), "the value is a number")
            check(path, isinstance(entry.get("date", ""), str), "the date is a text")
            datetime.fromisoformat(entry.get("date", "2026-01-01").replace("Z", "+00:00"))
            source = entry.get("source", {"url": ""})
            check(path, "url" in source and set(source) <= {"url", "name", "user", "org"}, "source")


DATASET = r"([^/]+/[^/]+)"
MODEL = r"(models/[^/]+/[^/]+)"
ROUTES: list[tuple[str, str, Any]] = [
    ("GET", "/api/whoami-v2", Handler.whoami),
    ("POST", "/api/repos/create", Handler.create),
    ("POST", "/api/validate-yaml", Handler.validate),
    ("POST", rf"/api/datasets/{DATASET}/branch/(.+)", Handler.branch),
    ("POST", rf"/api/datasets/{DATASET}/preupload/(.+)", Handler.preupload),
    ("POST", rf"/datasets/{DATASET}\.git/info/lfs/objects/batch", Handler.batch),
    ("PUT", "/objects/([0-9a-f]{64})", Handler.put),
    ("POST", rf"/api/datasets/{DATASET}/commit/(.+)", Handler.commit),
    ("POST", rf"/api/datasets/{DATASET}/paths-info/([^/]+)", Handler.paths),
    ("GET", rf"/api/datasets/{DATASET}/tree/([^/]+)(/.*)?", Handler.tree),
    ("GET", rf"/api/datasets/{DATASET}/leaderboard", Handler.leaderboard),
    ("POST", rf"/api/{MODEL}/preupload/(.+)", Handler.preupload),
    ("POST", rf"/api/{MODEL}/commit/(.+)", Handler.commit),
    ("POST", rf"/api/{MODEL}/branch/(.+)", Handler.branch),
    ("POST", rf"/api/{MODEL}/paths-info/([^/]+)", Handler.paths),
    ("GET", rf"/api/{MODEL}/tree/([^/]+)(/.*)?", Handler.tree),
    ("GET", rf"/api/{MODEL}(?:/revision/(.+))?", Handler.info),
    ("GET", rf"/api/datasets/{DATASET}(?:/revision/(.+))?", Handler.info),
    ("GET HEAD", rf"/datasets/{DATASET}/resolve/([^/]+)/(.+)", Handler.resolve),
]


def start(port: int = 0) -> tuple[Hub, ThreadingHTTPServer, str]:
    hub = Hub()
    bound = type("Bound", (Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", port), bound)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return hub, server, f"http://127.0.0.1:{server.server_port}"


if __name__ == "__main__":
    print(start()[2], flush=True)
    sys.stdin.read()
