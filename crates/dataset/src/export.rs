//! Exports a split in the official layout, for others to import.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sha2::{Digest, Sha256};
use swe_ci_base::blocking::blocking;
use swe_ci_base::digest::hex;
use swe_ci_base::error::Result;
use swe_ci_base::files;
use swe_ci_sandbox::images::Images;
use swe_ci_store::TaskRow;

use super::{TaskFolders, TaskLine, metadata, metadata_file, pack};

/// Writes a task's `data/<task>/{code.zip,image.tar.gz}`. The engine has its image.
pub async fn write_task(
    folders: &TaskFolders,
    images: &Images,
    row: &TaskRow,
    data: &Path,
) -> Result<()> {
    std::fs::create_dir_all(data).with_context(|| format!("cannot create {}", data.display()))?;
    let (checkout, zip) = (folders.checkout(row), data.join("code.zip"));
    blocking(move || {
        let partial = files::beside(&zip, "partial");
        pack(&checkout, &partial)?;
        Ok(std::fs::rename(partial, zip)?)
    })
    .await?;
    images.save(&row.image, &data.join("image.tar.gz")).await?;
    Ok(())
}

/// Writes the files beside the tasks: metadata, the files in `more`, and finally
/// the checksums of all files. Blocks.
pub fn write_beside(
    folder: &Path,
    split: &str,
    lines: &[TaskLine],
    more: &[(&str, String)],
) -> anyhow::Result<()> {
    metadata::write(&metadata_file(folder, split), lines)?;
    for (name, text) in more {
        files::write_whole(&folder.join(name), text.as_bytes())?;
    }
    files::write_whole(&folder.join(SUMS), sums(folder)?.as_bytes())
}

/// The file with the checksums, written last.
pub const SUMS: &str = "SHA256SUMS";

/// The output of `sha256sum` for all files below a folder.
fn sums(folder: &Path) -> anyhow::Result<String> {
    let mut waiting = vec![folder.to_owned()];
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(next)? {
            let path = entry?.path();
            match path.is_dir() {
                true => waiting.push(path),
                false => paths.push(path),
            }
        }
    }
    paths.sort();
    let mut text = String::new();
    for path in paths.into_iter().filter(|path| !path.ends_with(SUMS)) {
        let name = path.strip_prefix(folder)?.display();
        text += &format!("{}  {name}\n", sha256_of(&path)?);
    }
    Ok(text)
}

fn sha256_of(path: &Path) -> anyhow::Result<String> {
    use std::io::Read;
    let mut file = std::fs::File::open(path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}
