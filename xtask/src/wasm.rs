//! The program of the browser: the WASM module of the islands and its JavaScript
//! glue.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::options::{OUTPUT_NAME, Options};

const TARGET: &str = "wasm32-unknown-unknown";

/// Has cargo compile the islands for the browser; a fresh module costs nothing.
pub fn compile(options: &Options) -> Result<PathBuf> {
    let profile = if options.release {
        "wasm-release"
    } else {
        "wasm-dev"
    };
    // `rustc --crate-type`: the islands are a plain library to everybody else.
    // Were they a cdylib too, each server build would link a shared object for
    // nothing.
    let status = Command::new(&options.cargo)
        .current_dir(&options.root)
        .args([
            "rustc",
            "--package",
            "swe-ci-islands",
            "--lib",
            "--crate-type",
            "cdylib",
        ])
        .args(["--no-default-features", "--features", "hydrate"])
        .args(["--target", TARGET, "--profile", profile])
        .args(without_paths(options))
        .status()
        .context("cannot start cargo")?;
    ensure!(
        status.success(),
        "the browser half does not compile (if the target is missing: make setup)"
    );
    Ok(options
        .target_dir
        .join(TARGET)
        .join(profile)
        .join("swe_ci_islands.wasm"))
}

/// What is released names no folder of the machine that built it. `--config` adds
/// to the flags of `.cargo/config.toml`; the environment would replace them.
fn without_paths(options: &Options) -> Vec<String> {
    if !options.release {
        return Vec::new();
    }
    let flag = |from: &Path, to: &str| format!("'--remap-path-prefix={}={to}'", from.display());
    let sources = [(&options.cargo_home, "/cargo"), (&options.root, "/swe-ci")];
    let flags = sources.map(|(from, to)| flag(from, to)).join(", ");
    vec![
        "--config".to_owned(),
        format!("build.rustflags = [{flags}]"),
    ]
}

/// Writes the program and its glue into a folder: what the wasm-bindgen command
/// would do, from the version `Cargo.lock` pins, which must equal the one the
/// module was compiled with.
pub fn write(module: &Path, into: &Path) -> Result<()> {
    Bindgen::new()
        .input_path(module)
        .out_name(OUTPUT_NAME)
        .web(true)?
        .typescript(false)
        .demangle(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        // The page passes the name; the default would name a missing file.
        .omit_default_module_path(true)
        .generate(into)
        .with_context(|| format!("wasm-bindgen failed on {}", module.display()))
}
