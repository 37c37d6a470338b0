//! Reads the declarations of commits, each version of a file once.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use swe_ci_git::bounds::ListingBudget;
use swe_ci_git::{EntryKind, ObjectId, Repository};

use super::Unchanged;
use crate::bounds;
use crate::dependencies::{DeclaredDependencies, is_declaration};
use crate::text;

/// The cache holds declarations of files with this many bytes together.
const CACHE_BYTES: usize = 128 << 20;
/// Maximum depth of folders below `requirements/`.
const DEPTH: usize = 4;

/// The declaring files of a commit, by path.
pub(super) type Files = Rc<BTreeMap<String, ObjectId>>;

pub(super) struct Declarations<'r> {
    pub(super) repository: &'r Repository,
    unchanged: Unchanged,
    /// The last tree read: many commits change nothing in the root but folders.
    last: Option<(ObjectId, Files)>,
    read: HashMap<(String, ObjectId), Rc<DeclaredDependencies>>,
    cached_bytes: usize,
}

impl<'r> Declarations<'r> {
    pub(super) fn new(repository: &'r Repository, unchanged: Unchanged) -> Self {
        Self {
            repository,
            unchanged,
            last: None,
            read: HashMap::new(),
            cached_bytes: 0,
        }
    }

    /// The declaring files of the root and of `requirements/`. Symbolic links
    /// are ignored.
    pub(super) fn files(&mut self, tree: ObjectId) -> anyhow::Result<Files> {
        if let Some((last, files)) = &self.last
            && *last == tree
        {
            return Ok(files.clone());
        }
        let mut found = BTreeMap::new();
        let mut left = ListingBudget::default();
        let mut folders = vec![(String::new(), tree)];
        while let Some((folder, id)) = folders.pop() {
            self.repository.list_here(id, |name, id, kind| {
                left.spend(name)?;
                let Ok(name) = str::from_utf8(name) else {
                    return Ok(());
                };
                let path = format!("{folder}{name}");
                let goes_on = !folder.is_empty() || name == "requirements";
                let declares =
                    is_declaration(&path).is_some_and(|source| self.unchanged.reads(source));
                if matches!(kind, EntryKind::File { .. }) && declares {
                    found.insert(path, id);
                } else if kind == EntryKind::Folder && goes_on && folders_in(&path) < DEPTH {
                    folders.push((format!("{path}/"), id));
                }
                Ok(())
            })?;
        }
        let files = Rc::new(found);
        self.last = Some((tree, files.clone()));
        Ok(files)
    }

    /// Whether two commits declare the same; reads only files that differ.
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

    /// All declarations of a commit.
    pub(super) fn together(&mut self, files: &Files) -> anyhow::Result<DeclaredDependencies> {
        let mut all = DeclaredDependencies::default();
        for (path, id) in files.iter() {
            all.merge(self.declared(path, Some(*id))?.as_ref());
        }
        Ok(all)
    }

    /// Whether one of the files lists the project's requirements.
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

    /// The declarations of one version of a file; empty if it does not exist.
    fn declared(
        &mut self,
        path: &str,
        id: Option<ObjectId>,
    ) -> anyhow::Result<Rc<DeclaredDependencies>> {
        let mut declared = DeclaredDependencies::default();
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
        self.cached_bytes += length;
        if self.cached_bytes > CACHE_BYTES {
            self.read.clear();
            self.cached_bytes = length;
        }
        if self.unchanged == Unchanged::Runtime {
            declared.keep_runtime(path);
        }
        let declared = Rc::new(declared);
        self.read.insert(key, declared.clone());
        Ok(declared)
    }
}

/// All declarations of a commit, from the files [`is_declaration`] names.
///
/// # Errors
/// If the repository or one of its objects cannot be read.
pub fn declared(repository: &Repository, commit: ObjectId) -> anyhow::Result<DeclaredDependencies> {
    let mut declarations = Declarations::new(repository, Unchanged::Locked);
    let files = declarations.files(repository.root(commit)?)?;
    declarations.together(&files)
}

fn folders_in(path: &str) -> usize {
    path.matches('/').count()
}
