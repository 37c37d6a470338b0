//! Writes repositories for tests and benchmarks: any object, valid or not, in
//! SHA-1 repositories with plain files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::object_id::{ObjectId, ObjectKind, header};

/// Creates a bare repository without commits whose `HEAD` is `main`.
pub fn create(git_folder: &Path) -> io::Result<()> {
    for folder in ["objects/info", "objects/pack", "refs/heads", "info"] {
        std::fs::create_dir_all(git_folder.join(folder))?;
    }
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
    std::fs::write(git_folder.join("config"), config)?;
    std::fs::write(git_folder.join("HEAD"), "ref: refs/heads/main\n")
}

/// Where a loose object lies.
pub fn object_file(git_folder: &Path, id: ObjectId) -> PathBuf {
    let id = id.to_string();
    let (folder, file) = id.split_at(2);
    git_folder.join("objects").join(folder).join(file)
}

/// Writes a loose object. Its content may be anything.
pub fn write_object(git_folder: &Path, kind: ObjectKind, content: &[u8]) -> io::Result<ObjectId> {
    let id = ObjectId::of_object(kind, content);
    let file = object_file(git_folder, id);
    if file.exists() {
        return Ok(id);
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(header(kind, content.len() as u64).as_bytes())?;
    packed.write_all(content)?;
    std::fs::write(file, packed.finish()?)?;
    Ok(id)
}

/// Writes a tree with these modes, names and ids, in git's sequence.
pub fn write_tree(git_folder: &Path, entries: &[(u32, &[u8], ObjectId)]) -> io::Result<ObjectId> {
    let mut entries = entries.to_vec();
    // Folders are sorted as if their names ended with a slash.
    let end: fn(u32) -> &'static [u8] = |mode| if mode == 0o040_000 { b"/" } else { b"" };
    entries.sort_by_key(|(mode, name, _)| [*name, end(*mode)].concat());
    let mut tree = Vec::new();
    for (mode, name, id) in entries {
        tree.extend(format!("{mode:o} ").into_bytes());
        tree.extend([name, b"\0", id.as_bytes()].concat());
    }
    write_object(git_folder, ObjectKind::Tree, &tree)
}

/// Makes a reference, such as `refs/heads/main`, point to an object.
pub fn write_reference(git_folder: &Path, name: &str, id: ObjectId) -> io::Result<()> {
    let file = git_folder.join(name);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, format!("{id}\n"))
}
