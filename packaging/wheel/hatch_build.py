"""Generates the types of the API and the columns of its tables, and names the
machines that the wheel is for: those of the program in it."""

import json
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# A static program needs no C library, so every Linux of its processor has what
# it needs: those with glibc (manylinux) and those with musl (musllinux).
LIBRARIES = ["manylinux_2_17", "manylinux2014", "musllinux_1_1"]

GENERATOR = [
    *["--input-file-type", "openapi", "--openapi-scopes", "schemas", "paths", "parameters"],
    *["--output-model-type", "typing.TypedDict", "--target-python-version", "3.11"],
    *["--use-operation-id-as-name", "--enum-field-as-literal", "all", "--use-union-operator"],
    *["--use-standard-collections", "--use-schema-description", "--use-field-description"],
    *["--use-double-quotes", "--formatters", "builtin", "--disable-timestamp"],
    # Closed types need the package typing_extensions, and the wheel needs no package.
    "--no-use-closed-typed-dict",
]

# The types of the rows of the client's tables.
ROWS = [
    "EvolutionScore",
    "ListedRun",
    "PublishedRow",
    "Row",
    "SplitSummary",
    "TaskResult",
    "TaskSummary",
]


class StaticProgram(BuildHookInterface):
    def initialize(self, version, build_data):
        root = Path(self.root)
        generate(root / "openapi.json", root / "src" / "swe_ci" / "schema.py")
        list_columns(root / "openapi.json", root / "src" / "swe_ci" / "columns.py")
        # Without a program it is the client alone.
        if not (root / "swe-ci").exists():
            return
        processor = (root / "PROCESSOR").read_text().strip()
        platforms = ".".join(f"{library}_{processor}" for library in LIBRARIES)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platforms}"
        build_data["shared_scripts"]["swe-ci"] = "swe-ci"


def generate(description, schema):
    """Dictionaries with types: they cost nothing at run time, and take fields and
    values that a newer server adds."""
    json.loads(description.read_text())
    command = [sys.executable, "-W", "ignore", "-m", "datamodel_code_generator"]
    command += ["--input", str(description), "--output", str(schema), *GENERATOR]
    subprocess.run(command, check=True)


def list_columns(description, module):
    """A module of its own: the types need Python 3.11, and the client takes an older one."""
    schemas = json.loads(description.read_text())["components"]["schemas"]
    listed = {row: list(dict.fromkeys(columns(schemas[row], schemas))) for row in ROWS}
    module.write_text(
        '"""The columns of the tables; generated."""\n\n'
        f"COLUMNS: dict[str, list[str]] = {json.dumps(listed, indent=4)}\n"
    )


def columns(schema, schemas, name=""):
    """The columns of a value: those of its fields, `intervals.evoscore.low`, if it is an object."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    parts = schema.get("oneOf", []) + schema.get("anyOf", []) + schema.get("allOf", [])
    fields = schema.get("properties", {})
    for part in parts:
        yield from columns(part, schemas, name)
    for field, value in fields.items():
        yield from columns(value, schemas, f"{name}.{field}" if name else field)
    if not parts and not fields and schema.get("type") != "null":
        yield name
