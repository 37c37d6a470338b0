//! Lists and compares the files of commits. Paths are bytes, as in git.

use std::collections::BTreeMap;

use git2::Oid;

use super::Repository;
use crate::bounds::{BoundExceeded, ListingBudget};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Link,
    Folder,
    /// A commit of another repository.
    Submodule,
}

/// A file or link that differs between two commits; at least one of them has
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: Vec<u8>,
    pub(crate) old: Option<Oid>,
    pub(crate) new: Option<Oid>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    id: Oid,
    kind: Kind,
}

impl Node {
    fn folder(self) -> Option<Oid> {
        (self.kind == Kind::Folder).then_some(self.id)
    }

    fn file(self) -> Option<Oid> {
        matches!(self.kind, Kind::File | Kind::Link).then_some(self.id)
    }
}

impl Repository {
    /// Visits all entries in and below a folder, each folder before its
    /// content.
    pub(crate) fn list(
        &self,
        tree: Oid,
        mut visit: impl FnMut(&[u8], Oid, Kind),
    ) -> anyhow::Result<()> {
        let mut left = ListingBudget::new();
        let mut folders = vec![(Vec::new(), tree)];
        while let Some((folder, id)) = folders.pop() {
            for entry in &self.tree(id)? {
                let path = joined(&folder, entry.name_bytes());
                left.spend(&path)?;
                let kind = kind(&entry);
                visit(&path, entry.id(), kind);
                if kind == Kind::Folder {
                    folders.push((path, entry.id()));
                }
            }
        }
        Ok(())
    }

    /// Visits the entries of one folder until the visitor returns an error.
    pub(crate) fn list_here(
        &self,
        tree: Oid,
        mut visit: impl FnMut(&[u8], Oid, Kind) -> Result<(), BoundExceeded>,
    ) -> anyhow::Result<()> {
        for entry in &self.tree(tree)? {
            visit(entry.name_bytes(), entry.id(), kind(&entry))?;
        }
        Ok(())
    }

    /// The files that differ between two trees. Equal folders are not entered;
    /// submodules and permissions are ignored.
    pub(crate) fn differences(&self, old: Oid, new: Oid) -> anyhow::Result<Vec<Difference>> {
        let mut left = ListingBudget::new();
        let mut found = Vec::new();
        let mut folders = vec![(Vec::new(), Some(old), Some(new))];
        while let Some((folder, old, new)) = folders.pop() {
            if old == new {
                continue;
            }
            for (name, [old, new]) in self.both(old, new)? {
                let path = joined(&folder, &name);
                left.spend(&path)?;
                if old == new {
                    continue;
                }
                let folder_of = |node: Option<Node>| node.and_then(Node::folder);
                if folder_of(old).is_some() || folder_of(new).is_some() {
                    folders.push((path.clone(), folder_of(old), folder_of(new)));
                }
                let (old, new) = (old.and_then(Node::file), new.and_then(Node::file));
                if old.is_some() || new.is_some() {
                    found.push(Difference { path, old, new });
                }
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn both(&self, old: Option<Oid>, new: Option<Oid>) -> anyhow::Result<Pairs> {
        let mut pairs = Pairs::new();
        for (side, tree) in [old, new].into_iter().enumerate() {
            let Some(tree) = tree else { continue };
            self.list_here(tree, |name, id, kind| {
                pairs.entry(name.to_vec()).or_default()[side] = Some(Node { id, kind });
                Ok(())
            })?;
        }
        Ok(pairs)
    }
}

/// The entry of a name on either side.
type Pairs = BTreeMap<Vec<u8>, [Option<Node>; 2]>;

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        return name.to_vec();
    }
    [folder, b"/", name].concat()
}

fn kind(entry: &git2::TreeEntry<'_>) -> Kind {
    match entry.filemode_raw() & 0o170_000 {
        0o040_000 => Kind::Folder,
        0o120_000 => Kind::Link,
        0o160_000 => Kind::Submodule,
        _ => Kind::File,
    }
}
