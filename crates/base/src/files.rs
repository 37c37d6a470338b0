//! File helpers: locks, whole writes, and archives unpacked within limits.

use std::fs::{File, Permissions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

/// Reads a whole file; fails if it is larger than `max_bytes`.
pub fn read_limited(path: &Path, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut bytes = Vec::new();
    file.take(max_bytes + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(
        bytes.len() as u64 <= max_bytes,
        "{} is larger than {max_bytes} bytes",
        path.display()
    );
    Ok(bytes)
}

/// Locks a file, creating it if necessary; `None` while another process holds
/// the lock. The operating system releases it when the process ends, for any
/// reason.
pub fn lock(path: &Path) -> anyhow::Result<Option<File>> {
    let lock = File::create(path).and_then(lock_opened);
    lock.with_context(|| format!("cannot lock {}", path.display()))
}

/// Like [`lock`], for an open file.
pub fn lock_opened(file: File) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Distinguishes a file from all others, and from its earlier content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

/// The identity of a file; its hard links have the same.
pub fn identity(path: &Path) -> anyhow::Result<FileIdentity> {
    let data =
        std::fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(FileIdentity {
        device: data.dev(),
        inode: data.ino(),
        size: data.size(),
        modified: (data.mtime(), data.mtime_nsec()),
    })
}

/// Writes a small file atomically; creates its parent folders.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let partial = beside(path, "partial");
        std::fs::write(&partial, bytes)?;
        std::fs::rename(&partial, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Creates a folder that only its owner may enter, and its parents as usual. If
/// this process's user owns an existing one, nobody else may enter it from now
/// on.
pub fn private_folder(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {
            keep_from_others(path, 0o700);
            Ok(())
        }
        created => created,
    }
}

/// Creates an empty file that only its owner may read, unless the file exists.
pub fn new_private_file(path: &Path) -> io::Result<()> {
    let mut options = File::options();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes the permissions beyond `mode` from a file or folder that this
/// process's user owns. What belongs to somebody else stays as it is, and some
/// file systems have no modes.
pub fn keep_from_others(path: &Path, mode: u32) {
    let Ok(metadata) = std::fs::metadata(path) else {
        return;
    };
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    let permissions = metadata.permissions().mode() & 0o7777;
    if own
        && permissions & !mode != 0
        && let Err(error) =
            std::fs::set_permissions(path, Permissions::from_mode(permissions & mode))
    {
        let path = path.display();
        tracing::warn!("others on this machine may read {path}: {error:#}");
    }
}

/// Records in a file's time that it was used now. Ignores failures: the file
/// then only appears older.
pub fn touch(path: &Path) {
    let file = File::options().write(true).open(path);
    let _ = file.and_then(|file| file.set_modified(std::time::SystemTime::now()));
}

/// The size of all files below a folder, in bytes; unreadable ones count as 0.
pub fn bytes_below(folder: &Path) -> u64 {
    let mut waiting = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => waiting.push(entry.path()),
                Ok(metadata) => bytes += metadata.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// The unpacked size that a zip claims, in bytes. It comes from the zip's
/// directory, unverified.
pub fn unpacked_bytes(archive: &Path) -> anyhow::Result<u64> {
    let zip = zip::ZipArchive::new(io::BufReader::new(File::open(archive)?))?;
    let size = zip.decompressed_size().unwrap_or(0);
    Ok(u64::try_from(size).unwrap_or(u64::MAX))
}

/// Limits on what an archive may unpack to.
#[derive(Debug, Clone, Copy)]
pub struct UnpackLimits {
    pub files: usize,
    pub bytes: u64,
}

/// Unpacks a zip into a new folder: all of it, or nothing. Fails on entries that
/// would land elsewhere (absolute, climbing, through a link).
pub fn unzip(archive: &Path, into: &Path, limits: UnpackLimits) -> anyhow::Result<()> {
    let partial = beside(into, "partial");
    remove_folder(&partial)?;
    std::fs::create_dir_all(&partial)
        .with_context(|| format!("cannot create {}", partial.display()))?;
    let result = unzip_into(archive, &partial, limits)
        .with_context(|| format!("cannot unpack {}", archive.display()));
    if let Err(error) = result {
        remove_folder(&partial)?;
        return Err(error);
    }
    remove_folder(into)?;
    std::fs::rename(&partial, into).with_context(|| format!("cannot create {}", into.display()))?;
    Ok(())
}

/// The program that packed a file, and the command that unpacks it, by the file's first
/// bytes; for errors about what this program does not read.
pub fn packer_of(start: &[u8]) -> Option<(&'static str, &'static str)> {
    const PACKERS: [(&[u8], &str, &str); 7] = [
        (b"\x1f\x8b", "gzip", "gzip -d"),
        (b"\x28\xb5\x2f\xfd", "zstd", "zstd -d"),
        (b"\xfd7zXZ\0", "xz", "xz -d"),
        (b"BZh", "bzip2", "bzip2 -d"),
        (b"\x04\x22\x4d\x18", "lz4", "lz4 -d"),
        (b"7z\xbc\xaf\x27\x1c", "7-Zip", "7z x"),
        (b"PK\x03\x04", "zip", "unzip"),
    ];
    let found = PACKERS
        .into_iter()
        .find(|(magic, ..)| start.starts_with(magic));
    found.map(|(_, name, command)| (name, command))
}

/// The most bytes that [`packer_of`] looks at.
pub const PACKER_BYTES: u64 = 6;

fn no_zip(archive: &Path) -> String {
    let mut start = Vec::new();
    let read = File::open(archive).and_then(|file| file.take(PACKER_BYTES).read_to_end(&mut start));
    match packer_of(&start).filter(|(name, _)| read.is_ok() && *name != "zip") {
        Some((name, command)) => {
            format!(
                "it is not a zip archive, but packed by {name}: unpack it with `{command}`, and zip it"
            )
        }
        None => "it is not a zip archive, or it is damaged".to_owned(),
    }
}

fn unzip_into(archive: &Path, into: &Path, limits: UnpackLimits) -> anyhow::Result<()> {
    let mut zip = zip::ZipArchive::new(io::BufReader::new(File::open(archive)?))
        .with_context(|| no_zip(archive))?;
    ensure!(
        zip.len() <= limits.files,
        "it has {} entries; the limit is {}",
        zip.len(),
        limits.files
    );
    let mut bytes_left = limits.bytes;
    let mut links: Vec<(PathBuf, String)> = Vec::new();
    for index in 0..zip.len() {
        let mut entry = zip
            .by_index(index)
            .with_context(|| format!("entry {index} is damaged"))?;
        let name = entry.name().to_owned();
        let Some(path) = entry.enclosed_name().filter(|_| stays_below(&name)) else {
            bail!("the entry `{name}` would land outside of the folder")
        };
        let target = into.join(path);
        if entry.is_dir() {
            std::fs::create_dir_all(&target)?;
            continue;
        }
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        if entry.is_symlink() {
            let mut text = String::new();
            Read::take(&mut entry, 4_096)
                .read_to_string(&mut text)
                .with_context(|| format!("the link `{name}` is damaged"))?;
            links.push((target, text));
            continue;
        }
        let mut file = File::create(&target).with_context(|| format!("cannot create `{name}`"))?;
        let written = io::copy(&mut Read::take(&mut entry, bytes_left + 1), &mut file)
            .with_context(|| format!("the entry `{name}` is damaged"))?;
        ensure!(
            written <= bytes_left,
            "it unpacks to more than {} MiB",
            limits.bytes >> 20
        );
        bytes_left -= written;
        set_executable(&target, entry.unix_mode())?;
    }
    // Links come last, so that nothing is written through them.
    for (path, target) in links {
        if !path.exists() {
            std::os::unix::fs::symlink(target, &path)?;
        }
    }
    Ok(())
}

/// Whether a name stays below its folder. Absolute and climbing names are
/// refused, not adjusted.
fn stays_below(name: &str) -> bool {
    !name.starts_with(['/', '\\']) && name.split(['/', '\\']).all(|part| part != "..")
}

fn set_executable(path: &Path, mode: Option<u32>) -> io::Result<()> {
    let mode = plain_mode(mode.unwrap_or(0));
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

/// The permissions of an unpacked file: its owner's right to execute decides.
fn plain_mode(mode: u32) -> u32 {
    if mode & 0o100 != 0 { 0o755 } else { 0o644 }
}

/// Packs a folder into a zip, with sorted paths, no times and no permissions but
/// to execute, so that a folder and its unpacked copy give equal bytes.
pub fn zip_folder(folder: &Path, archive: &Path) -> anyhow::Result<()> {
    let mut zip = zip::ZipWriter::new(io::BufWriter::new(File::create(archive)?));
    let mut waiting = vec![folder.to_path_buf()];
    let mut paths = Vec::new();
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() && !path.is_symlink() {
                waiting.push(path.clone());
            }
            paths.push(path);
        }
    }
    paths.sort();
    for path in paths {
        let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
        let options =
            zip::write::SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
        if path.is_symlink() {
            zip.add_symlink(name, std::fs::read_link(&path)?.to_string_lossy(), options)?;
            continue;
        }
        if path.is_dir() {
            // A full folder exists with its files.
            if std::fs::read_dir(&path)?.next().is_none() {
                zip.add_directory(name, options)?;
            }
            continue;
        }
        let mode = std::fs::metadata(&path)?.permissions().mode();
        zip.start_file(name, options.unix_permissions(plain_mode(mode)))?;
        io::copy(&mut File::open(&path)?, &mut zip)?;
    }
    zip.finish()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()?;
    Ok(())
}

/// Removes a folder and its content; succeeds if there is none.
pub fn remove_folder(folder: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// `name.suffix` in the same folder.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{suffix}"));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const LIMITS: UnpackLimits = UnpackLimits {
        files: 10,
        bytes: 1_000,
    };

    fn archive(entries: &[(&str, &[u8])]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut zip = zip::ZipWriter::new(file.reopen().unwrap());
        for (name, bytes) in entries {
            zip.start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        file
    }

    #[test]
    fn only_the_owner_may_look() {
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/data");
        private_folder(&folder).unwrap();
        assert_eq!(mode(&folder), 0o700);
        for (before, after) in [(0o755, 0o700), (0o2770, 0o700), (0o500, 0o500)] {
            std::fs::set_permissions(&folder, Permissions::from_mode(before)).unwrap();
            private_folder(&folder).unwrap();
            assert_eq!(mode(&folder), after, "{before:o}");
        }
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();

        let file = folder.join("database");
        new_private_file(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        std::fs::write(&file, "kept").unwrap();
        new_private_file(&file).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"kept");
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        keep_from_others(&file, 0o600);
        assert_eq!(mode(&file), 0o600);
        keep_from_others(&folder.join("none"), 0o600);
        // A file is no folder.
        assert!(private_folder(&file).is_err());
    }

    #[test]
    fn a_folder_survives_the_round_trip() {
        let home = tempfile::tempdir().unwrap();
        let from = home.path().join("from");
        std::fs::create_dir_all(from.join("a/b")).unwrap();
        std::fs::create_dir_all(from.join("a/empty")).unwrap();
        std::fs::write(from.join("a/b/c.py"), "c").unwrap();
        std::os::unix::fs::symlink("a/b/c.py", from.join("link")).unwrap();
        // As git leaves its packs.
        let read_only = Permissions::from_mode(0o444);
        std::fs::set_permissions(from.join("a/b/c.py"), read_only).unwrap();
        let archive = home.path().join("x.zip");
        zip_folder(&from, &archive).unwrap();
        let into = home.path().join("into");
        unzip(&archive, &into, LIMITS).unwrap();
        let again = home.path().join("again.zip");
        zip_folder(&into, &again).unwrap();
        let [archive, again] = [archive, again].map(|path| std::fs::read(path).unwrap());
        assert_eq!(archive, again);
        assert_eq!(std::fs::read(into.join("a/b/c.py")).unwrap(), b"c");
        assert!(into.join("a/empty").is_dir());
        assert_eq!(
            std::fs::read_link(into.join("link")).unwrap(),
            Path::new("a/b/c.py")
        );
    }

    #[test]
    fn a_bad_archive_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let check = |archive: &Path, expect: &str| {
            let into = home.path().join("into");
            let error = format!("{:#}", unzip(archive, &into, LIMITS).unwrap_err());
            assert!(
                error.contains(expect) && error.contains("cannot unpack"),
                "{error}"
            );
            assert_eq!(
                std::fs::read_dir(home.path()).unwrap().count(),
                0,
                "{expect}"
            );
        };
        check(
            archive(&[("../../up", b"x")]).path(),
            "outside of the folder",
        );
        for name in ["/etc/evil", "a/../../up", ".."] {
            check(archive(&[(name, b"x")]).path(), "outside of the folder");
        }
        check(archive(&[("a", &[0; 2_000])]).path(), "more than 0 MiB");
        let names: Vec<String> = (0..11).map(|i| i.to_string()).collect();
        check(
            archive(
                &names
                    .iter()
                    .map(|n| (n.as_str(), &b""[..]))
                    .collect::<Vec<_>>(),
            )
            .path(),
            "11 entries",
        );
        let garbage = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(garbage.path(), b"PK\x03\x04 no zip").unwrap();
        check(garbage.path(), "not a zip archive, or");
        std::fs::write(garbage.path(), b"\xfd7zXZ\0 no zip").unwrap();
        check(garbage.path(), "packed by xz");
        check(Path::new("nowhere.zip"), "No such file");
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let home = tempfile::tempdir().unwrap();
        let outside = home.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let archive = tempfile::NamedTempFile::new().unwrap();
        let mut zip = zip::ZipWriter::new(archive.reopen().unwrap());
        let options = zip::write::SimpleFileOptions::default();
        let target = outside.display().to_string();
        zip.add_symlink("out", target, options).unwrap();
        zip.start_file("out/evil", options).unwrap();
        zip.write_all(b"x").unwrap();
        zip.finish().unwrap();
        let into = home.path().join("into");
        unzip(archive.path(), &into, LIMITS).unwrap();
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(std::fs::read(into.join("out/evil")).unwrap(), b"x");
    }

    #[test]
    fn odd_names_stay_in_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let names = ["C:\\up", "a\nb", "-rf", "\u{202e}gpj", "con", " "];
        let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &b"x"[..])).collect();
        let into = home.path().join("into");
        unzip(archive(&entries).path(), &into, LIMITS).unwrap();
        assert_eq!(bytes_below(&into), names.len() as u64);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
