"""Reads an exported split as the benchmark's own program does, and tests both ends.

    python3 reference_reader.py DATASET SPLIT FOLDER

Its steps, in its order: the metadata file, the checkout and its commits, the name in
the image's archive, a container, the copy of the code under another path, pytest with
a JSON report. Prints the gap of each task as JSON; fails where that program would.
"""

import contextlib
import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import uuid
import zipfile

CODE = "/app/codes"
REPORT = "/tmp/test_report.json"


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True)


def checked_out(archive, folder, commit):
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    run("git", "-C", str(folder), "checkout", "--force", "--detach", commit)
    for pattern in (".git*", "test"):
        for path in folder.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


def loaded(archive):
    """The name that the archive gives its image, which the engine has afterwards."""
    with tarfile.open(archive, "r:gz") as packed:
        name = json.load(packed.extractfile("manifest.json"))[0]["RepoTags"][0]
    if run("docker", "image", "inspect", name, check=False).returncode != 0:
        run("docker", "load", "-i", str(archive))
    return name


@contextlib.contextmanager
def container(image):
    name = uuid.uuid4().hex[:16]
    run("docker", "run", "-d", "--init", "--name", name, "--rm", image, "tail", "-f", "/dev/null")
    try:
        yield name
    finally:
        run("docker", "rm", "-f", name, check=False)


def passed(image, code, out):
    with container(image) as name:
        run("docker", "cp", str(code), f"{name}:/app")
        run("docker", "exec", name, "mv", f"/app/{code.name}", CODE)
        tests = run(
            *("docker", "exec", "-w", CODE, "-e", "PYTHONPATH=src:.", name),
            *("python", "-m", "pytest", "tests", "--color=no", "--tb=short"),
            *("--disable-warnings", "-rfE", f"--rootdir={CODE}"),
            *("--json-report", f"--json-report-file={REPORT}"),
            check=False,
        )
        if tests.returncode > 1:
            sys.exit(f"pytest ended with {tests.returncode}:\n{tests.stdout}\n{tests.stderr}")
        run("docker", "cp", f"{name}:{REPORT}", str(out))
    report = json.loads(out.read_text("utf-8"))
    return {test["nodeid"] for test in report["tests"] if test["outcome"] == "passed"}


def gap(dataset, task, folder):
    data = dataset / "data" / task["task_id"]
    # The folder's name must differ from the one in the image, `/app/code`.
    base, target = folder / "base-code", folder / "target-code"
    checked_out(data / "code.zip", base, task["current_sha"])
    checked_out(data / "code.zip", target, task["target_sha"])
    shutil.rmtree(base / "tests", ignore_errors=True)
    shutil.copytree(target / "tests", base / "tests")
    image = loaded(data / "image.tar.gz")
    found = passed(image, target, folder / "target.json")
    return len(found - passed(image, base, folder / "base.json"))


def main(dataset, split, folder):
    dataset, folder = pathlib.Path(dataset), pathlib.Path(folder)
    gaps = {}
    with open(dataset / "metadata" / f"{split}.csv", encoding="utf-8-sig") as table:
        for task in csv.DictReader(table):
            own = folder / task["task_id"]
            own.mkdir(parents=True)
            gaps[task["task_id"]] = [gap(dataset, task, own), int(task["test_gap"])]
    print(json.dumps(gaps))


if __name__ == "__main__":
    main(*sys.argv[1:])
