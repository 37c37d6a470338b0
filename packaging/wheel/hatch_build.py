"""Names the machines that the wheel is for: those of the program in it."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# A static program needs no C library, so every Linux of its processor has what
# it needs: those with glibc (manylinux) and those with musl (musllinux).
LIBRARIES = ["manylinux_2_17", "manylinux2014", "musllinux_1_1"]


class StaticProgram(BuildHookInterface):
    def initialize(self, version, build_data):
        processor = (Path(self.root) / "PROCESSOR").read_text().strip()
        platforms = ".".join(f"{library}_{processor}" for library in LIBRARIES)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platforms}"
