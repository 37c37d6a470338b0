//! Files that the agent reads and writes by its client: regular ones below the
//! working folder.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::message::{RpcError, params};

/// Larger files are refused: a message has to hold one.
const MAX_FILE: u64 = 8 << 20;

/// The working folder.
#[derive(Debug)]
pub struct Files {
    /// Without links.
    root: PathBuf,
}

#[derive(Deserialize)]
struct ReadRequest {
    path: PathBuf,
    /// The first line, counted from 1.
    line: Option<usize>,
    /// The number of lines.
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct WriteRequest {
    path: PathBuf,
    content: String,
}

impl Files {
    pub fn below(root: &Path) -> anyhow::Result<Self> {
        let root = root
            .canonicalize()
            .with_context(|| format!("cannot find the working folder {}", root.display()))?;
        Ok(Self { root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn read(&self, request: Value) -> Result<Value, RpcError> {
        let ReadRequest { path, line, limit } = params(request)?;
        let text = read_text(&self.inside(&path)?)?;
        let content = match (line, limit) {
            (None, None) => text,
            _ => text
                .split_inclusive('\n')
                .skip(line.unwrap_or(1).saturating_sub(1))
                .take(limit.unwrap_or(usize::MAX))
                .collect(),
        };
        Ok(json!({ "content": content }))
    }

    pub fn write(&self, request: Value) -> Result<Value, RpcError> {
        let WriteRequest { path, content } = params(request)?;
        let inside = self.inside(&path)?;
        if fs::metadata(&inside).is_ok_and(|found| !found.is_file()) {
            return Err(irregular(&inside));
        }
        let make = || {
            inside.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&inside, content)
        };
        make().map_err(|error| RpcError::failed(format!("{}: {error}", path.display())))?;
        Ok(json!({}))
    }

    /// The path without links. It need not exist yet.
    pub fn inside(&self, path: &Path) -> Result<PathBuf, RpcError> {
        let outside = || {
            RpcError::bad_params(format!(
                "{} is not below the working folder {}",
                path.display(),
                self.root.display()
            ))
        };
        let odd = |part| matches!(part, Component::ParentDir);
        if !path.is_absolute() || path.components().any(odd) {
            return Err(outside());
        }
        let mut existing = path;
        let mut missing: Vec<OsString> = Vec::new();
        let found = loop {
            match existing.canonicalize() {
                Ok(found) => break found,
                // A link to nothing would lead a new file anywhere.
                Err(_) if existing.is_symlink() => return Err(outside()),
                Err(_) => {
                    let parts = existing.file_name().zip(existing.parent());
                    let (name, parent) = parts.ok_or_else(outside)?;
                    missing.push(name.to_owned());
                    existing = parent;
                }
            }
        };
        let whole = missing
            .iter()
            .rev()
            .fold(found, |path, name| path.join(name));
        if whole.starts_with(&self.root) {
            Ok(whole)
        } else {
            Err(outside())
        }
    }
}

fn read_text(path: &Path) -> Result<String, RpcError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => RpcError::not_found(&path.display().to_string()),
        _ => RpcError::failed(format!("{}: {error}", path.display())),
    };
    // Before it is opened, for which a pipe would wait.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(irregular(path));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        let problem = format!("{} has more than {MAX_FILE} bytes", path.display());
        return Err(RpcError::failed(problem));
    }
    String::from_utf8(bytes)
        .map_err(|_| RpcError::failed(format!("{} is not UTF-8 text", path.display())))
}

fn irregular(path: &Path) -> RpcError {
    RpcError::bad_params(format!("{} is not a regular file", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_below_the_working_folder() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("app");
        fs::create_dir(&root).unwrap();
        let files = Files::below(&root).unwrap();
        let at = |path: &str| files.root().join(path).display().to_string();
        let write = |path: String| files.write(json!({ "path": path, "content": "1\n2\n3" }));
        write(at("new/folder/a.txt")).unwrap();
        let read = |line: Value, limit: Value| {
            let path = at("new/folder/a.txt");
            let text = files.read(json!({ "path": path, "line": line, "limit": limit }));
            text.unwrap()["content"].as_str().unwrap().to_owned()
        };
        assert_eq!(read(Value::Null, Value::Null), "1\n2\n3");
        assert_eq!(read(json!(2), json!(1)), "2\n");
        assert_eq!(read(json!(3), Value::Null), "3");
        assert_eq!(read(json!(9), json!(9)), "");

        fs::write(outer.path().join("secret"), "s").unwrap();
        symlink(outer.path(), root.join("out")).unwrap();
        symlink(outer.path().join("nothing"), root.join("dangling")).unwrap();
        fs::write(root.join("binary"), [0xff]).unwrap();
        let refused = |result: Result<Value, RpcError>, expect: &str| {
            let error = result.unwrap_err();
            assert!(error.message.contains(expect), "{error}");
        };
        let outside = "is not below the working folder";
        for path in [
            "relative".to_owned(),
            outer.path().join("secret").display().to_string(),
            at("../secret"),
            at("out/secret"),
            at("out/new/secret"),
            at("dangling"),
            at("none/../../secret"),
        ] {
            refused(files.read(json!({ "path": path })), outside);
            refused(write(path), outside);
        }
        refused(
            files.read(json!({ "path": at("none") })),
            "Resource not found",
        );
        refused(
            files.read(json!({ "path": at("new") })),
            "not a regular file",
        );
        refused(files.read(json!({ "path": at("binary") })), "not UTF-8");
        refused(write(at("new")), "not a regular file");
        refused(files.read(json!({})), "missing field `path`");
        let large = File::create(root.join("large")).unwrap();
        large.set_len(MAX_FILE + 1).unwrap();
        refused(files.read(json!({ "path": at("large") })), "more than");
        assert!(!outer.path().join("nothing").exists());
    }
}
