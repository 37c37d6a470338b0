# shellcheck shell=bash
# What packages need beside a build: a C compiler for static programs, and the
# tools that write licences, the bill of materials and the wheel. The tools stay
# inside the target folder.

CARGO_ABOUT=0.9.3
CARGO_CYCLONEDX=0.5.9
HATCHLING=1.33.0
DATAMODEL_CODE_GENERATOR=0.89.0

tools_folder() { echo "${CARGO_TARGET_DIR:-$ROOT/target}/tools"; }

setup_dist() {
    [[ $(uname -s) == Linux ]] || die dist "Packages are for Linux, and are made there."
    have musl-gcc || install_musl
    have dpkg-deb || die dist "dpkg-deb is missing. Install it (Debian has it; elsewhere the package is called dpkg)."
    have_cargo_tool cargo-about "$CARGO_ABOUT" || install_cargo_tool cargo-about "$CARGO_ABOUT" --features cli
    have_cargo_tool cargo-cyclonedx "$CARGO_CYCLONEDX" || install_cargo_tool cargo-cyclonedx "$CARGO_CYCLONEDX"
    have_hatchling || install_hatchling
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

have_hatchling() {
    "$(tools_folder)/python/bin/python" -c "
import importlib.metadata, sys
version = importlib.metadata.version
sys.exit((version('hatchling'), version('datamodel-code-generator')) != ('$HATCHLING', '$DATAMODEL_CODE_GENERATOR'))" 2>/dev/null
}

install_hatchling() {
    local venv
    venv=$(tools_folder)/python
    python3 -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        "hatchling==$HATCHLING" "datamodel-code-generator==$DATAMODEL_CODE_GENERATOR"
}

# wheel_sources FOLDER VERSION: what the wheel is built from, but for the program and
# the texts. The pinned description of the API is the one that the program serves.
wheel_sources() {
    cp -r "$ROOT/packaging/wheel" "$1"
    cp -r "$ROOT/integrations/python/src" "$1/"
    sed '1,/^---$/ { 1d; /^---$/!d; }; /^---$/d' \
        "$ROOT/server/tests/it/snapshots/it__openapi__the_description_is_pinned.snap" >"$1/openapi.json"
    # Python's form of the version: 0.2.0-rc.1 is 0.2.0rc1 there.
    sed -E 's/-?(alpha|beta|rc)\.?/\1/; s/alpha/a/; s/beta/b/' <<<"$2" >"$1/VERSION"
}
