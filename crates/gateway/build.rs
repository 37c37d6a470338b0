//! Builds the relay and the driver of the Agent Client Protocol, which the
//! gateway embeds and copies into the containers of agents: static programs for
//! Linux on this architecture, for any host system.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo passes data to build scripts in the environment"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// The programs, by their names in a container; each is a crate beside this one.
const PROGRAMS: [&str; 2] = ["acp", "relay"];

fn main() {
    for program in PROGRAMS {
        println!("cargo::rerun-if-changed=../{program}/Cargo.toml");
        println!("cargo::rerun-if-changed=../{program}/src");
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    let target = format!("{}-unknown-linux-musl", variable("CARGO_CFG_TARGET_ARCH"));
    require(&target);
    // A separate target folder: the outer cargo holds the lock on its own while
    // it waits for this script.
    let folder = out.join("relay-target");
    // Optimising them takes half a minute, which only a release is worth.
    let (profile, built) = match variable("PROFILE").as_str() {
        "release" => ("relay", "relay"),
        _ => ("dev", "debug"),
    };
    build(&target, profile, &folder);
    for name in PROGRAMS {
        let program = folder
            .join(&target)
            .join(built)
            .join(format!("swe-ci-{name}"));
        if let Err(error) = std::fs::copy(&program, out.join(name)) {
            fail(&format!("cannot copy {}: {error}", program.display()));
        }
    }
}

/// Fails unless the target's standard library is installed.
fn require(target: &str) {
    let output = Command::new(variable("RUSTC"))
        .args(["--print", "target-libdir", "--target", target])
        .output();
    let installed = output.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout);
        output.status.success() && Path::new(folder.trim()).is_dir()
    });
    if !installed {
        fail(&format!(
            "this Rust has no standard library for {target}; run scripts/setup.sh build"
        ));
    }
}

fn build(target: &str, profile: &str, folder: &Path) {
    let linker = target.to_uppercase().replace('-', "_");
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        .args(["build", "--quiet", "--locked", "--profile", profile])
        .args(PROGRAMS.map(|name| format!("--package=swe-ci-{name}")))
        .args(["--target", target])
        .arg("--target-dir")
        .arg(folder)
        .current_dir("../..")
        // Part of Rust, and links for Linux on every host.
        .env(format!("CARGO_TARGET_{linker}_LINKER"), "rust-lld");
    // These settings of the outer build (clippy, coverage, sanitizers) are for
    // the host's program, not for this one.
    for outer in ["RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "CARGO_BUILD_TARGET"] {
        cargo.env_remove(outer);
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", without_paths());
    match cargo.status() {
        Ok(status) if status.success() => {}
        Ok(status) => fail(&format!(
            "the programs of agents' containers do not build for {target}: {status}"
        )),
        Err(error) => fail(&format!("cargo does not run: {error}")),
    }
}

/// Flags that keep the paths of this machine out of a program: it is in every
/// release, and panics name the files of their origin.
fn without_paths() -> String {
    let sources = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    let sources = sources.canonicalize().unwrap_or(sources);
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let paths = [(Some(sources), "/swe-ci"), (cargo, "/cargo")];
    let flags = paths
        .into_iter()
        .filter_map(|(path, name)| Some(format!("--remap-path-prefix={}={name}", path?.display())));
    // As cargo separates them.
    flags.collect::<Vec<_>>().join("\u{1f}")
}

/// A variable that cargo sets for every build script.
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|error| fail(&format!("{name}: {error}")))
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1)
}
