//! Files: walking, hashing, copying, compressing.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context, Result};
use brotli::enc::BrotliEncoderParams;
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

/// Every file below `dir`, sorted. A folder that is not there has none.
pub fn files_under(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !dir.exists() {
        return Ok(files);
    }
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_under(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// One digest of many files: their names (below `root`, where they are) and contents.
pub fn digest(root: &Path, files: &[PathBuf]) -> Result<String> {
    let mut all = Sha256::new();
    for file in files {
        let content = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        all.update(
            file.strip_prefix(root)
                .unwrap_or(file)
                .as_os_str()
                .as_encoded_bytes(),
        );
        // A length on either side keeps a name's end apart from a content's start.
        all.update([0]);
        all.update((content.len() as u64).to_le_bytes());
        all.update(&content);
    }
    Ok(hex(&all.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Copies what is in `from` into `to`.
pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    for file in files_under(from)? {
        let copy = to.join(file.strip_prefix(from)?);
        fs::create_dir_all(copy.parent().unwrap_or(to))?;
        fs::copy(&file, &copy).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

/// Puts a `.br` and a `.gz` beside every text and module, so that the server
/// only picks: quickly in development, as small as possible in a release.
pub fn precompress(dir: &Path, smallest: bool) -> Result<()> {
    let files: Vec<_> = files_under(dir)?
        .into_iter()
        .filter(|file| is_compressible(file))
        .collect();
    thread::scope(|scope| {
        let jobs: Vec<_> = files
            .iter()
            .map(|file| scope.spawn(move || compress(file, smallest)))
            .collect();
        jobs.into_iter()
            .try_for_each(|job| job.join().expect("compressing does not panic"))
    })
}

fn is_compressible(file: &Path) -> bool {
    let extension = file.extension().and_then(|e| e.to_str());
    matches!(extension, Some("js" | "wasm" | "css" | "svg"))
}

fn compress(file: &Path, smallest: bool) -> Result<()> {
    let content = fs::read(file)?;
    let beside = |extension: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(extension);
        fs::File::create(PathBuf::from(name))
    };

    let brotli = BrotliEncoderParams {
        quality: if smallest { 11 } else { 5 },
        size_hint: content.len(),
        ..BrotliEncoderParams::default()
    };
    brotli::BrotliCompress(&mut content.as_slice(), &mut beside(".br")?, &brotli)?;

    let level = if smallest {
        Compression::best()
    } else {
        Compression::default()
    };
    let mut gzip = GzEncoder::new(beside(".gz")?, level);
    gzip.write_all(&content)?;
    gzip.finish()?;
    Ok(())
}

/// The most that browsers download, for the last line of a build:
/// `css 9 kB, js 9 kB, wasm 726 kB`.
pub fn sizes(dir: &Path) -> Result<String> {
    let mut kinds = BTreeMap::<String, u64>::new();
    for file in files_under(dir)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let kind = name
            .strip_suffix(".br")
            .and_then(|plain| plain.rsplit('.').next());
        if let Some(kind) = kind {
            *kinds.entry(kind.to_owned()).or_default() += fs::metadata(&file)?.len();
        }
    }
    let kinds = kinds.iter();
    let parts: Vec<_> = kinds
        .map(|(kind, bytes)| format!("{kind} {} kB", bytes.div_ceil(1000)))
        .collect();
    Ok(format!("compressed: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_digest_sees_names_and_contents() {
        let dir = tempfile::tempdir().unwrap();
        let of = |files: &[(&str, &str)]| {
            let root = tempfile::tempdir_in(dir.path()).unwrap();
            for (name, text) in files {
                fs::write(root.path().join(name), text).unwrap();
            }
            digest(root.path(), &files_under(root.path()).unwrap()).unwrap()
        };
        let first = of(&[("a", "1"), ("b", "2")]);
        assert_eq!(first, of(&[("b", "2"), ("a", "1")]));
        assert_ne!(first, of(&[("a", "2"), ("b", "1")]));
        assert_ne!(first, of(&[("a", "1"), ("c", "2")]));
    }

    #[test]
    fn compressed_files_stand_beside_and_unpack_to_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let text = "body { margin: 0 }\n".repeat(100);
        fs::create_dir(dir.path().join("pkg")).unwrap();
        fs::write(dir.path().join("pkg/a.css"), &text).unwrap();
        fs::write(dir.path().join("photo.png"), "not worth it").unwrap();
        precompress(dir.path(), false).unwrap();

        let names: Vec<_> = files_under(dir.path())
            .unwrap()
            .iter()
            .map(|f| f.strip_prefix(dir.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(
            names,
            ["photo.png", "pkg/a.css", "pkg/a.css.br", "pkg/a.css.gz"]
        );
        let mut unpacked = Vec::new();
        brotli::BrotliDecompress(
            &mut fs::File::open(dir.path().join("pkg/a.css.br")).unwrap(),
            &mut unpacked,
        )
        .unwrap();
        assert_eq!(unpacked, text.as_bytes());
        let mut unpacked = String::new();
        flate2::read::GzDecoder::new(fs::File::open(dir.path().join("pkg/a.css.gz")).unwrap())
            .read_to_string(&mut unpacked)
            .unwrap();
        assert_eq!(unpacked, text);
    }
}
