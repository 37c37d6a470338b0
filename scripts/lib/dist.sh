# shellcheck shell=bash
# What packages need beside a build: a C compiler for static programs, and the
# tools that write licences, the bill of materials and the wheel. The tools stay
# inside the target folder.

CARGO_ABOUT=0.9.3
CARGO_CYCLONEDX=0.5.9
HATCHLING=1.33.0
DATAMODEL_CODE_GENERATOR=0.89.0
# Compilers of C for other processors, and what makes cargo use them.
CARGO_ZIGBUILD=0.24.1
ZIGLANG=0.15.2

tools_folder() { echo "${CARGO_TARGET_DIR:-$ROOT/target}/tools"; }

# The Rust target of the packages: of this machine, unless SWE_CI_DIST_TARGET names another.
dist_target() { echo "${SWE_CI_DIST_TARGET:-$(relay_target)}"; }
is_cross() { [[ $(dist_target) != "$(relay_target)" ]]; }

setup_dist() {
    [[ $(uname -s) == Linux ]] || die dist "Packages are for Linux, and are made there."
    have_target "$(dist_target)" || add_target "$(dist_target)"
    # Zig's compiler has the headers of musl for every processor.
    if is_cross; then
        need_python_tools zig "cargo-zigbuild==$CARGO_ZIGBUILD" "ziglang==$ZIGLANG"
    else
        have musl-gcc || install_musl
    fi
    have dpkg-deb || die dist "dpkg-deb is missing. Install it (Debian has it; elsewhere the package is called dpkg)."
    have_cargo_tool cargo-about "$CARGO_ABOUT" || install_cargo_tool cargo-about "$CARGO_ABOUT" --features cli
    have_cargo_tool cargo-cyclonedx "$CARGO_CYCLONEDX" || install_cargo_tool cargo-cyclonedx "$CARGO_CYCLONEDX"
    need_python_tools python "hatchling==$HATCHLING" "datamodel-code-generator==$DATAMODEL_CODE_GENERATOR"
    say dist "cargo-about $CARGO_ABOUT, cargo-cyclonedx $CARGO_CYCLONEDX, hatchling $HATCHLING, datamodel-code-generator $DATAMODEL_CODE_GENERATOR, $(dpkg-deb --version | head -n 1 | grep -o '[0-9.]*[0-9]' | head -n 1 | sed 's/^/dpkg /')"
}

install_musl() {
    need_leave dist "musl-gcc is missing. Install it (Debian: apt install musl-tools)."
    apt_install musl-tools
}

# cargo writes down which version of a tool it has installed.
have_cargo_tool() { grep -qsF "\"$1 $2 " "$(tools_folder)/.crates.toml"; }

install_cargo_tool() {
    say dist "compiling $1 $2"
    env -u RUSTC_WORKSPACE_WRAPPER cargo install --quiet --locked --root "$(tools_folder)" \
        "$1@$2" "${@:3}"
}

# need_python_tools NAME PACKAGE==VERSION…: an environment of this name has these.
need_python_tools() { have_python_tools "$@" || install_python_tools "$@"; }

have_python_tools() {
    "$(tools_folder)/$1/bin/python" - "${@:2}" 2>/dev/null <<'PYTHON'
import importlib.metadata, sys

wanted = dict(package.split("==") for package in sys.argv[1:])
sys.exit(any(importlib.metadata.version(name) != version for name, version in wanted.items()))
PYTHON
}

install_python_tools() {
    local venv
    venv=$(tools_folder)/$1
    say dist "installing ${*:2}"
    python3 -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${@:2}"
}

# wheel_sources FOLDER VERSION PROGRAM: what the wheel is built from, but for the program
# and the texts. PROGRAM tells the types of the API; it has to run on this machine.
wheel_sources() {
    cp -r "$ROOT/packaging/wheel" "$1"
    cp -r "$ROOT/integrations/python/src" "$1/"
    "$3" describe-api >"$1/openapi.json"
    # Python's form of the version: 0.2.0-rc.1 is 0.2.0rc1 there.
    sed -E 's/-?(alpha|beta|rc)\.?/\1/; s/alpha/a/; s/beta/b/' <<<"$2" >"$1/VERSION"
}
