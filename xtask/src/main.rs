//! Build steps that cargo alone cannot do.
//!
//! ```text
//! cargo run -p xtask -- site [--release] [--out DIR]
//! ```
//! builds the browser half of the application: the WASM module, its JavaScript
//! glue, the style sheet and the static files, ready to be served from
//! `target/site`. No node, no globally installed tool: `Cargo.lock` pins it all.
#![allow(clippy::print_stdout, reason = "a command line tool talks to its user")]
#![allow(
    clippy::disallowed_methods,
    reason = "cargo hands its sub-processes their settings in the environment"
)]

mod assets;
mod options;
mod site;
mod style;
mod wasm;

use std::{env, ffi::OsString, path::PathBuf, process::ExitCode};

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo run -p xtask -- site [--release] [--out DIR]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut args = env::args_os().skip(1);
    match args.next() {
        Some(command) if command == "site" => site::build(&site_options(args)?),
        _ => bail!(USAGE),
    }
}

fn site_options(mut args: impl Iterator<Item = OsString>) -> Result<options::Options> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()?;
    let target_dir =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mut options = options::Options {
        out: target_dir.join("site"),
        release: false,
        cargo_home: env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(env::home_dir()?.join(".cargo")))
            .unwrap_or_default(),
        cargo: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        root,
        target_dir,
    };
    while let Some(arg) = args.next() {
        match (arg.to_str(), &mut args) {
            (Some("--release"), _) => options.release = true,
            (Some("--out"), rest) => match rest.next() {
                Some(dir) => options.out = dir.into(),
                None => bail!("--out needs a folder\n{USAGE}"),
            },
            _ => bail!("unknown argument {}\n{USAGE}", arg.display()),
        }
    }
    Ok(options)
}
