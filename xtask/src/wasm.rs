//! The program of the browser: the WASM modules and their JavaScript glue.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, anyhow, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::options::{OUTPUT_NAME, Options};

const TARGET: &str = "wasm32-unknown-unknown";

/// The loader of the parts. Leptos names it like this in a page's preloads.
const LOADER: &str = "./__wasm_split.______________________.js";

/// Has cargo compile the app for the browser; a fresh module costs nothing.
pub fn compile(options: &Options) -> Result<PathBuf> {
    let profile = if options.release {
        "wasm-release"
    } else {
        "wasm-dev"
    };
    // `rustc --crate-type`: the app is a plain library to everybody else. Were
    // it a cdylib too, each server build would link a shared object for nothing.
    let status = Command::new(&options.cargo)
        .current_dir(&options.root)
        .args([
            "rustc",
            "--package",
            "swe-ci-app",
            "--lib",
            "--crate-type",
            "cdylib",
        ])
        .args(["--no-default-features", "--features", "hydrate"])
        .args(["--target", TARGET, "--profile", profile])
        // What refers to what, for `split`.
        .args(["--", "-C", "link-args=--emit-relocs"])
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
        .join("swe_ci_app.wasm"))
}

/// Writes the program into a folder: what every page loads, the parts pages
/// load besides (`app/src/pages/lazy_pages.rs`), and their glue.
pub fn write(module: &Path, into: &Path) -> Result<()> {
    let work = tempfile::tempdir_in(into)?;
    let main = work.path().join("main.wasm");
    split(module, &main, into)?;
    bind(&main, into)
}

/// Cuts the module at the functions marked for it.
fn split(module: &Path, main: &Path, into: &Path) -> Result<()> {
    let content = fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let main_module = format!("./{OUTPUT_NAME}.js");
    let mut options = wasm_split_cli_support::Options::new(&content);
    options.output_dir = into;
    options.main_out_path = main;
    options.main_module = &main_module;
    options.link_name = LOADER;
    options.emit_dwarf = false;
    let parts = wasm_split_cli_support::transform(options)
        .map_err(|error| anyhow!("cannot split {}: {error:#}", module.display()))?;
    // Leptos reads from it which files a page should name beforehand.
    let manifest = serde_json::to_vec_pretty(&parts.prefetch_map)?;
    fs::write(into.join("__wasm_split_manifest.json"), manifest)?;
    parts
        .split_modules
        .iter()
        .try_for_each(|part| tighten(part))
}

/// The linker leaves room in every number it may have to change later, and
/// names for whoever reads along: together half of a part.
fn tighten(part: &Path) -> Result<()> {
    let mut config = walrus::ModuleConfig::new();
    config
        .generate_name_section(false)
        .generate_producers_section(false);
    let mut module = config
        .parse_file(part)
        .with_context(|| format!("cannot read {}", part.display()))?;
    module
        .emit_wasm_file(part)
        .with_context(|| format!("cannot write {}", part.display()))
}

/// What the wasm-bindgen command would do, from the version `Cargo.lock` pins:
/// it must equal the one the module was compiled with.
fn bind(module: &Path, into: &Path) -> Result<()> {
    Bindgen::new()
        .input_path(module)
        .out_name(OUTPUT_NAME)
        .web(true)?
        .typescript(false)
        // The parts find what they share with the program by these names.
        .keep_lld_exports(true)
        .demangle(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        // Leptos passes the name; the default would name a missing file.
        .omit_default_module_path(true)
        .generate(into)
        .with_context(|| format!("wasm-bindgen failed on {}", module.display()))
}
