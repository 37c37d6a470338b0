//! Files into and out of the root of a container.
//!
//! The code in a container may put a link wherever a path leads, so the kernel
//! resolves paths within that root, one open folder after the other.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, chmodat, mkdirat, openat, openat2, readlinkat,
    statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use swe_ci_base::code::{CodeTree, Entry};

/// The deepest folder that is read: each keeps a file open.
const MAX_DEPTH: usize = 200;

pub(super) fn open_root(path: &Path) -> anyhow::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Writes files below a folder of a root.
pub(super) fn write(root: &OwnedFd, folder: &str, files: &CodeTree) -> anyhow::Result<()> {
    let folder = Path::new(folder.trim_start_matches('/'));
    made(root, folder)?;
    for (path, entry) in files.iter() {
        let path = folder.join(path);
        let cannot = || format!("cannot write /{}", path.display());
        let parent = made(root, path.parent().unwrap_or(folder))?;
        let name = path.file_name().with_context(cannot)?;
        match unlinkat(&parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error).with_context(cannot),
        }
        match entry {
            Entry::Symlink { target } => symlinkat(target, &parent, name).with_context(cannot)?,
            Entry::File { bytes, executable } => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                let mode = if *executable { 0o755 } else { 0o644 };
                let file = openat(&parent, name, flags, Mode::from_raw_mode(mode));
                let mut file = File::from(file.with_context(cannot)?);
                file.write_all(bytes).with_context(cannot)?;
                file.set_permissions(Permissions::from_mode(mode))?;
            }
        }
    }
    Ok(())
}

/// A folder below a root, made where it is missing.
fn made(root: &OwnedFd, path: &Path) -> anyhow::Result<OwnedFd> {
    let cannot = || format!("cannot open /{}", path.display());
    match inside(root, path) {
        Err(Errno::NOENT) => {
            let parent = made(root, path.parent().with_context(cannot)?)?;
            let name = path.file_name().with_context(cannot)?;
            mkdirat(&parent, name, Mode::from_raw_mode(0o755)).with_context(cannot)?;
            inside(root, path).with_context(cannot)
        }
        found => found.with_context(cannot),
    }
}

fn inside(root: &OwnedFd, folder: &Path) -> Result<OwnedFd, Errno> {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(root, folder, flags, Mode::empty(), ResolveFlags::IN_ROOT)
}

/// Writes the archive of a path below a root; false when there is none.
pub(super) fn pack(root: &OwnedFd, path: &str, to: impl Write) -> anyhow::Result<bool> {
    let path = Path::new(path.trim_start_matches('/'));
    let parent = match inside(root, path.parent().unwrap_or(Path::new(""))) {
        Ok(parent) => parent,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let name = path.file_name().unwrap_or(OsStr::new("."));
    let mut archive = tar::Builder::new(to);
    let found = append(&mut archive, &parent, name, Path::new(name), 0)?;
    archive.into_inner()?.flush()?;
    Ok(found)
}

/// Appends an entry of an open folder under a path; false when there is none.
fn append(
    archive: &mut tar::Builder<impl Write>,
    parent: &OwnedFd,
    name: &OsStr,
    path: &Path,
    depth: usize,
) -> anyhow::Result<bool> {
    let stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(false),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let mut header = tar::Header::new_gnu();
    header.set_mode(stat.st_mode & 0o7777);
    header.set_size(0);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            header.set_entry_type(tar::EntryType::Symlink);
            let target = readlinkat(parent, name, Vec::new())?;
            archive.append_link(&mut header, path, OsStr::from_bytes(target.as_bytes()))?;
        }
        FileType::RegularFile => {
            let size = u64::try_from(stat.st_size)?;
            header.set_size(size);
            let file = File::from(opened(parent, name, stat.st_mode, OFlags::empty())?);
            // It may change meanwhile.
            let content = file.chain(io::repeat(0)).take(size);
            archive.append_data(&mut header, path, content)?;
        }
        FileType::Directory => {
            anyhow::ensure!(depth < MAX_DEPTH, "folders are deeper than {MAX_DEPTH}");
            header.set_entry_type(tar::EntryType::Directory);
            archive.append_data(&mut header, path, io::empty())?;
            let folder = opened(parent, name, stat.st_mode, OFlags::DIRECTORY)?;
            for entry in rustix::fs::Dir::read_from(&folder)? {
                let entry = entry?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name != "." && name != ".." {
                    append(archive, &folder, name, &path.join(name), depth + 1)?;
                }
            }
        }
        // Sockets, pipes and devices are none of the code.
        _ => {}
    }
    Ok(true)
}

/// Opens what belongs to this user, who may have lost the right to it.
fn opened(parent: &OwnedFd, name: &OsStr, mode: u32, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = || openat(parent, name, flags, Mode::empty());
    match open() {
        Err(Errno::ACCESS) => {
            let set = |mode| chmodat(parent, name, Mode::from_raw_mode(mode), AtFlags::empty());
            set(mode & 0o7777 | 0o700)?;
            let opened = open();
            set(mode & 0o7777)?;
            opened
        }
        opened => opened,
    }
}

/// The entries of a folder of this user's, who gets the right to them back.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    let entries = fs::read_dir(folder).or_else(|_| {
        let mode = fs::symlink_metadata(folder)?.mode();
        fs::set_permissions(folder, Permissions::from_mode(mode & 0o7777 | 0o700))?;
        fs::read_dir(folder)
    });
    entries.into_iter().flatten().flatten()
}

/// Removes a folder that code has written to.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let inside = entries(&folder).filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(inside.map(|entry| entry.path()));
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
