# shellcheck shell=bash
# What a build needs: the pinned Rust toolchain with the targets of the browser
# and of the relay, and a C compiler (SQLite and the TLS library are built from
# source); and git, by which the program that is built reads repositories.

setup_build() {
    have cargo || die build "Rust is missing. Install rustup with the command shown at https://rustup.rs, open a new shell and try again."
    have_pinned_rust || install_pinned_rust
    local target
    for target in wasm32-unknown-unknown "$(relay_target)"; do
        have_target "$target" || add_target "$target"
    done
    have_c_compiler || install_c_compiler
    have git || install_git
    say build "$(rustc --version), wasm32, musl, $(c_compiler), $(git --version)"
}

# The relay runs in containers, static, on the processor this machine has.
relay_target() { rustc -vV | sed -n 's/^host: \([^-]*\)-.*/\1-unknown-linux-musl/p'; }

have_pinned_rust() { rustc --version >/dev/null 2>&1; }

install_pinned_rust() {
    have rustup || die build "cargo does not run here: $(rustc --version 2>&1 | head -n 1)"
    local version
    version=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
    say build "installing Rust $version"
    rustup --quiet toolchain install "$version" --profile minimal --component rustfmt --component clippy
}

have_target() { [[ -d $(rustc --print sysroot)/lib/rustlib/$1/lib ]]; }

add_target() {
    have rustup || die build "This Rust has no standard library for $1. Use the one of rustup: https://rustup.rs"
    say build "adding the target $1"
    rustup --quiet target add "$1"
}

c_compiler() { command -v "${CC:-cc}" || true; }
have_c_compiler() { [[ -n $(c_compiler) ]]; }

install_c_compiler() {
    need_leave build "A C compiler is missing. Install one (Debian: apt install gcc libc6-dev; macOS: xcode-select --install)."
    apt_install gcc libc6-dev
}

install_git() {
    need_leave build "git is missing. Install it (Debian: apt install git; macOS: xcode-select --install)."
    apt_install git
}
