//! The site folder, from its inputs to its place.
//!
//! ```text
//! site/hash.txt                  HASH, which changes with any file in its folder
//! site/inputs.sha256             what this site was built from: nothing to do when equal
//! site/pkg/HASH/swe-ci.js        the glue (each file with .br and .gz beside it)
//! site/pkg/HASH/swe-ci_bg.wasm   the program, for pages with islands
//! site/pkg/HASH/swe-ci.css
//! site/…                         public/, as it is
//! ```
//! A browser may cache everything under `pkg/` for ever.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::options::{OUTPUT_NAME, Options};
use crate::{assets, style, wasm};

/// 64 bits are plenty to tell one build from another.
const HASH_LENGTH: usize = 16;

/// Builds the site, or finds that there is nothing to do.
pub fn build(options: &Options) -> Result<()> {
    let _turn = wait_for_turn(&options.target_dir)?;
    // Cargo knows best whether the module is fresh; everything after it is
    // decided by content.
    let module = wasm::compile(options)?;
    let inputs = inputs_digest(options, &module)?;
    let shown = options
        .out
        .strip_prefix(&options.root)
        .unwrap_or(&options.out)
        .display();
    if fs::read_to_string(options.out.join("inputs.sha256")).is_ok_and(|built| built == inputs) {
        println!("site      {shown} is up to date");
        return Ok(());
    }
    let fresh = sibling(&options.out, "new");
    remove_dir(&fresh)?;
    fill(options, &module, &fresh)?;
    fs::write(fresh.join("inputs.sha256"), inputs)?;
    println!("site      {shown} ({})", assets::sizes(&fresh.join("pkg"))?);
    put_in_place(&fresh, &options.out)
}

/// Two builds at once would write into the same folder. The lock is the
/// kernel's: it ends with the process, however that ends.
fn wait_for_turn(target_dir: &Path) -> Result<File> {
    fs::create_dir_all(target_dir)?;
    let lock = File::create(target_dir.join("site.lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Everything that decides the result, this program included.
fn inputs_digest(options: &Options, module: &Path) -> Result<String> {
    let mut files = vec![std::env::current_exe()?, module.to_owned()];
    files.extend(assets::files_under(&options.root.join("style"))?);
    files.extend(assets::files_under(&options.root.join("public"))?);
    assets::digest(&options.root, &files)
}

fn fill(options: &Options, module: &Path, fresh: &Path) -> Result<()> {
    assets::copy_tree(&options.root.join("public"), fresh)?;
    let pkg = fresh.join("pkg");
    let building = pkg.join("building");
    fs::create_dir_all(&building)?;
    wasm::write(module, &building)?;
    let css = style::bundle(&options.root.join("style/main.css"))?;
    fs::write(building.join(format!("{OUTPUT_NAME}.css")), css)?;
    // One hash for all: the files name each other, and so need no rewriting.
    let mut hash = assets::digest(&building, &assets::files_under(&building)?)?;
    hash.truncate(HASH_LENGTH);
    fs::rename(building, pkg.join(&hash))?;
    fs::write(fresh.join("hash.txt"), hash + "\n")?;
    assets::precompress(fresh, options.release)
}

/// The finished folder takes its place by renaming: a build that is killed
/// leaves the old site or none, never half of one.
fn put_in_place(fresh: &Path, out: &Path) -> Result<()> {
    let old = sibling(out, "old");
    remove_dir(&old)?;
    if out.exists() {
        fs::rename(out, &old)?;
    }
    fs::rename(fresh, out).with_context(|| format!("cannot put {} in place", out.display()))?;
    remove_dir(&old)
}

fn sibling(dir: &Path, suffix: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{suffix}"));
    dir.with_file_name(name)
}

fn remove_dir(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_site_replaces_the_old_whole() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("site");
        for content in ["first", "second"] {
            let fresh = sibling(&out, "new");
            fs::create_dir_all(&fresh).unwrap();
            fs::write(fresh.join(content), content).unwrap();
            put_in_place(&fresh, &out).unwrap();
        }
        let left: Vec<_> = assets::files_under(dir.path()).unwrap();
        assert_eq!(left, [out.join("second")]);
    }

    #[test]
    fn a_killed_build_is_repaired_by_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("site");
        // Killed between the two renames: the old site is aside, none in place.
        fs::create_dir_all(sibling(&out, "old")).unwrap();
        let fresh = sibling(&out, "new");
        fs::create_dir_all(&fresh).unwrap();
        put_in_place(&fresh, &out).unwrap();
        assert!(out.is_dir() && !sibling(&out, "old").exists());
    }
}
