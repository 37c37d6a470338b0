//! Lists the files in wheels and source distributions, and finds modules by
//! their paths.

use std::io::{Cursor, Read, Seek, SeekFrom};

use anyhow::{Context, ensure};

const MAX_PATHS: usize = 100_000;

/// Whether a wheel contains a module: as a file, a package, a compiled module,
/// or a package without `__init__.py` that contains modules.
pub(super) fn wheel_provides(paths: &[String], module: &str) -> bool {
    // pip unpacks `x.data/purelib` and `…/platlib` beside the rest.
    let unpacked = paths.iter().map(|path| {
        let data = path.split_once(".data/").map(|(_, rest)| rest);
        let placed = data.and_then(|rest| {
            rest.strip_prefix("purelib/")
                .or_else(|| rest.strip_prefix("platlib/"))
        });
        placed.unwrap_or(path)
    });
    provides(unpacked, module)
}

/// Whether a source distribution contains a module, in its top folder or in
/// `src`, `lib` and `python` below it.
pub(super) fn sdist_provides(paths: &[String], module: &str) -> bool {
    let inner = paths
        .iter()
        .filter_map(|path| Some(path.split_once('/')?.1));
    let inner: Vec<&str> = inner.collect();
    ["", "src/", "lib/", "python/"].iter().any(|root| {
        provides(
            inner.iter().filter_map(|path| path.strip_prefix(root)),
            module,
        )
    })
}

fn provides<'a>(paths: impl Iterator<Item = &'a str>, module: &str) -> bool {
    let stem = module.replace('.', "/");
    paths.into_iter().any(|path| {
        let Some(rest) = path.strip_prefix(&stem) else {
            return false;
        };
        let is_module = |end: &str| end.ends_with(".py") || is_compiled(end);
        match rest.strip_prefix('/') {
            Some(inside) => is_module(inside),
            None => rest == ".py" || (rest.starts_with('.') && is_compiled(rest)),
        }
    })
}

fn is_compiled(name: &str) -> bool {
    name.ends_with(".so") || name.ends_with(".pyd")
}

/// The file names of a zip from its last bytes, which contain the directory. An
/// error if the directory begins before them.
pub(super) fn names_at_end(end: Vec<u8>, size: u64) -> anyhow::Result<Vec<String>> {
    let start = size.saturating_sub(end.len() as u64);
    let tail = Tail {
        start,
        end: Cursor::new(end),
        at: 0,
    };
    let archive = zip::ZipArchive::new(tail)
        .context("the directory is not within the fetched end of the zip")?;
    ensure!(
        archive.len() <= MAX_PATHS,
        "it has more than {MAX_PATHS} files"
    );
    Ok(archive.file_names().map(str::to_owned).collect())
}

/// A file of which only the end is available; reading before it is an error.
struct Tail {
    start: u64,
    end: Cursor<Vec<u8>>,
    at: u64,
}

impl Tail {
    fn size(&self) -> u64 {
        self.start + self.end.get_ref().len() as u64
    }
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some(inside) = self.at.checked_sub(self.start) else {
            return Err(std::io::Error::other("it is before the fetched part"));
        };
        self.end.set_position(inside);
        let read = self.end.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Tail {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| std::io::Error::other("it is before the start"))?;
        Ok(self.at)
    }
}

/// The file names of a `.tar.gz`, of which at most `most` bytes are unpacked.
pub(super) fn names_in_tar(bytes: &[u8], most: u64) -> anyhow::Result<Vec<String>> {
    let unpacked = flate2::read::GzDecoder::new(bytes).take(most);
    let mut archive = tar::Archive::new(unpacked);
    let mut names = Vec::new();
    for entry in archive.entries().context("it is not a tar")? {
        let entry = entry.context("it is not a tar.gz, or is truncated")?;
        names.push(entry.path()?.to_string_lossy().into_owned());
        ensure!(
            names.len() <= MAX_PATHS,
            "it has more than {MAX_PATHS} files"
        );
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_provide_modules() {
        let wheel = |path: &str, module: &str, expect: bool| {
            assert_eq!(
                wheel_provides(&[path.to_owned()], module),
                expect,
                "{path} {module}"
            );
        };
        wheel("yaml/__init__.py", "yaml", true);
        wheel("six.py", "six", true);
        wheel("six.py", "si", false);
        wheel("sixty/__init__.py", "six", false);
        wheel("_x.cpython-311-x86_64-linux-gnu.so", "_x", true);
        wheel("x.abi3.so", "x", true);
        wheel(
            "google/cloud/storage/__init__.py",
            "google.cloud.storage",
            true,
        );
        wheel("google/cloud/storage/__init__.py", "google", true);
        wheel("google/cloud/storage/__init__.py", "google.protobuf", false);
        wheel("x-1.data/purelib/x/__init__.py", "x", true);
        wheel("x-1.data/scripts/x.py", "x", false);
        wheel("x-1.dist-info/METADATA", "x", false);
        wheel("x/data.json", "x", false);
        let sdist = |path: &str, module: &str, expect: bool| {
            assert_eq!(
                sdist_provides(&[path.to_owned()], module),
                expect,
                "{path} {module}"
            );
        };
        sdist("x-1/x/__init__.py", "x", true);
        sdist("x-1/src/x.py", "x", true);
        sdist("x-1/tests/x.py", "x", false);
        sdist("x/__init__.py", "x", false);
    }

    #[test]
    fn invalid_archives_are_errors() {
        assert!(names_at_end(b"no zip".to_vec(), 6).is_err());
        assert!(names_at_end(Vec::new(), 0).is_err());
        assert!(names_in_tar(b"no tar", 100).is_err());
    }
}
