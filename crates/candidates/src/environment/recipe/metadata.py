"""Takes a project's code out of an environment and leaves what installing it made.

Usage: metadata.py <source tree> <wheel> <folder for generated modules> <where the code will be>

Runs with the environment's own Python, after the project's wheel was installed.
What stays is the `.dist-info` (versions and entry points are looked up there)
and the commands of entry points. In place of the code come lines of a `.pth`
file: they name the folders the code will be in. A module that only the build
makes (such as `_version.py`) is kept aside, and found only when the code has
none of that name.
"""

import hashlib
import os
import pathlib
import sys
import sysconfig
import zipfile

# More than this is no generated module, or too much of one.
LARGEST = 64 * 1024
MOST = 20

FINDER = '''\
"""Finds modules that only the build of the project makes, after everything else."""

import importlib.machinery
import sys

ROOT = {root!r}
MODULES = {modules!r}


class Generated:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in MODULES:
            return None
        folder = "/".join([ROOT, *name.split(".")[:-1]])
        return importlib.machinery.PathFinder.find_spec(name, [folder])


sys.meta_path.append(Generated)
'''


def digest(content):
    return hashlib.sha256(content).digest()


def source_files(tree):
    """Digests of all files of the tree, by path from its root."""
    files = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = pathlib.Path(folder, name)
            if path.is_file() and not path.is_symlink():
                files[path.relative_to(tree).as_posix()] = digest(path.read_bytes())
    return files


def main(tree, wheel, generated, code):
    sources = source_files(tree)
    known = set(sources.values())
    site = pathlib.Path(sysconfig.get_path("purelib"))
    roots, made, installed = set(), {}, []
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            top = name.split("/")[0]
            if name.endswith("/") or top.endswith((".dist-info", ".data")):
                continue
            installed.append(name)
            content = archive.read(name)
            # The folders the package is in, by a file that is not like many.
            for path, what in sources.items():
                if what == digest(content) and content.strip() and ("/" + path).endswith("/" + name):
                    roots.add(path[: len(path) - len(name)].rstrip("/"))
            if name.endswith(".py") and digest(content) not in known and len(content) <= LARGEST:
                if not any(("/" + path).endswith("/" + name) for path in sources):
                    made[name] = content
        info = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA")).split("/")[0]

    for name in installed:
        (site / name).unlink(missing_ok=True)
        for folder in (site / name).parents:
            if folder == site:
                break
            cache = folder / "__pycache__"
            if cache.is_dir():
                stem = pathlib.PurePath(name).stem + "."
                for compiled in cache.iterdir():
                    if compiled.name.startswith(stem):
                        compiled.unlink()
                if not any(cache.iterdir()):
                    cache.rmdir()
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    record = site / info / "RECORD"
    gone = {*installed, f"{info}/direct_url.json"}
    lines = record.read_text().splitlines()
    kept = [line for line in lines if line.split(",")[0].strip('"') not in gone and "__pycache__" not in line]
    record.write_text("\n".join(kept) + "\n")
    (site / info / "direct_url.json").unlink(missing_ok=True)

    # A build may copy its modules together from elsewhere, or rewrite all: then
    # none of them is told from code.
    if len(made) > MOST:
        print(f"swe-ci: {len(made)} modules of the wheel are not in the code; none is kept")
        made = {}
    for name, content in made.items():
        path = pathlib.Path(generated, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"swe-ci: kept the generated {name}")
    # The shallow ones: copies in folders of tests or builds are none.
    shallow = min((root.count("/") for root in roots if root), default=0)
    folders = [""] + sorted(root for root in roots if root and root.count("/") == shallow)
    if "src" not in folders:
        folders.insert(0, "src")
    lines = ["/".join([code, folder]).rstrip("/") for folder in folders]
    if made:
        modules = {name[:-3].replace("/", ".").removesuffix(".__init__") for name in made}
        (site / "_swe_ci_generated.py").write_text(FINDER.format(root=generated, modules=sorted(modules)))
        lines.append("import _swe_ci_generated")
    (site / "_swe_ci_code.pth").write_text("\n".join(lines) + "\n")
    print(f"swe-ci: the metadata of {info} is there, its code will come from {', '.join(lines)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
