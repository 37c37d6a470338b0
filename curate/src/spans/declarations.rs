//! What commits declare, read once for each version of a file.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use git2::Oid;

use crate::bounds::{self, Listing};
use crate::dependencies::{Declared, is_declaration};
use crate::repository::{Kind, Repository};
use crate::text;

/// Bytes of files whose declarations are kept at hand.
const KEPT: usize = 128 << 20;
/// A folder is listed, and those below it down to here.
const DEPTH: usize = 4;

/// The files of a commit that declare, by their paths.
pub(super) type Files = Rc<BTreeMap<String, Oid>>;

pub(super) struct Declarations<'r> {
    pub(super) repository: &'r Repository,
    /// The last tree that was looked at: many commits change nothing in the
    /// root but folders.
    last: Option<(Oid, Files)>,
    read: HashMap<(String, Oid), Rc<Declared>>,
    kept: usize,
}

impl<'r> Declarations<'r> {
    pub(super) fn of(repository: &'r Repository) -> Self {
        Self {
            repository,
            last: None,
            read: HashMap::new(),
            kept: 0,
        }
    }

    /// Files of the root and of `requirements/`; no other folder is looked
    /// into. A link declares nothing.
    pub(super) fn files(&mut self, tree: Oid) -> anyhow::Result<Files> {
        if let Some((last, files)) = &self.last
            && *last == tree
        {
            return Ok(files.clone());
        }
        let mut found = BTreeMap::new();
        let mut left = Listing::new();
        let mut folders = vec![(String::new(), tree)];
        while let Some((folder, id)) = folders.pop() {
            self.repository.list_here(id, |name, id, kind| {
                left.take(name)?;
                let Ok(name) = str::from_utf8(name) else {
                    return Ok(());
                };
                let path = format!("{folder}{name}");
                let goes_on = !folder.is_empty() || name == "requirements";
                if kind == Kind::File && is_declaration(&path).is_some() {
                    found.insert(path, id);
                } else if kind == Kind::Folder && goes_on && folders_in(&path) < DEPTH {
                    folders.push((format!("{path}/"), id));
                }
                Ok(())
            })?;
        }
        let files = Rc::new(found);
        self.last = Some((tree, files.clone()));
        Ok(files)
    }

    /// Whether the same is declared; only files that differ are read.
    pub(super) fn same(&mut self, a: &Files, b: &Files) -> anyhow::Result<bool> {
        if a == b {
            return Ok(true);
        }
        for path in a.keys().chain(b.keys()) {
            let (a, b) = (a.get(path).copied(), b.get(path).copied());
            if a != b && self.declared(path, a)? != self.declared(path, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// All that a commit declares.
    pub(super) fn together(&mut self, files: &Files) -> anyhow::Result<Declared> {
        let mut all = Declared::default();
        for (path, id) in files.iter() {
            all.merge(self.declared(path, Some(*id))?.as_ref());
        }
        Ok(all)
    }

    /// Whether a file of these says what the project needs.
    pub(super) fn has_manifest(&self, files: &Files) -> anyhow::Result<bool> {
        for (path, id) in files.iter() {
            let Some(source) = is_declaration(path) else {
                continue;
            };
            let bytes = self.repository.blob(*id, bounds::BLOB)?.unwrap_or_default();
            if source.is_manifest(&text::decoded(&bytes)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a version of a file declares; a file that is not there, nothing.
    fn declared(&mut self, path: &str, id: Option<Oid>) -> anyhow::Result<Rc<Declared>> {
        let mut declared = Declared::default();
        let (Some(id), Some(source)) = (id, is_declaration(path)) else {
            return Ok(declared.into());
        };
        let key = (path.to_owned(), id);
        if let Some(known) = self.read.get(&key) {
            return Ok(known.clone());
        }
        let length = match self.repository.blob(id, bounds::BLOB)? {
            Some(bytes) => {
                declared.add(path, source, &bytes);
                bytes.len()
            }
            None => {
                declared.add_too_long(path, &id.to_string());
                0
            }
        };
        self.kept += length;
        if self.kept > KEPT {
            self.read.clear();
            self.kept = length;
        }
        let declared = Rc::new(declared);
        self.read.insert(key, declared.clone());
        Ok(declared)
    }
}

impl Repository {
    /// All that a commit declares, in the files [`is_declaration`] names.
    pub fn declared(&self, commit: Oid) -> anyhow::Result<Declared> {
        let mut declarations = Declarations::of(self);
        let files = declarations.files(self.root(commit)?)?;
        declarations.together(&files)
    }
}

fn folders_in(path: &str) -> usize {
    path.matches('/').count()
}
