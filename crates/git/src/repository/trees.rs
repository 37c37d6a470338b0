//! Lists and compares the files of commits. Paths are bytes, as in git.

use std::collections::BTreeMap;

use anyhow::bail;

use super::Repository;
use crate::bounds::{BoundExceeded, ListingBudget};
use crate::object_id::{ObjectId, ObjectKind};
use crate::objects::{EntryKind, next_entry};

/// A file or link that differs between two commits; at least one of them has
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub path: Vec<u8>,
    pub old: Option<ObjectId>,
    pub new: Option<ObjectId>,
}

/// An entry without its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    File(ObjectId),
    Link(ObjectId),
    Folder(ObjectId),
    Submodule,
}

impl Node {
    fn new(id: ObjectId, kind: EntryKind) -> Self {
        match kind {
            EntryKind::File { .. } => Self::File(id),
            EntryKind::Link => Self::Link(id),
            EntryKind::Folder => Self::Folder(id),
            EntryKind::Submodule => Self::Submodule,
        }
    }

    fn folder(self) -> Option<ObjectId> {
        match self {
            Self::Folder(id) => Some(id),
            _ => None,
        }
    }

    fn file(self) -> Option<ObjectId> {
        match self {
            Self::File(id) | Self::Link(id) => Some(id),
            Self::Folder(_) | Self::Submodule => None,
        }
    }
}

impl Repository {
    /// Visits all entries in and below a folder, each folder before its
    /// content.
    ///
    /// # Errors
    /// If a folder is missing or damaged; [`BoundExceeded`].
    pub fn list(
        &self,
        tree: ObjectId,
        mut visit: impl FnMut(&[u8], ObjectId, EntryKind),
    ) -> anyhow::Result<()> {
        let mut left = ListingBudget::default();
        let mut folders = vec![(Vec::new(), tree)];
        while let Some((folder, id)) = folders.pop() {
            self.list_here(id, |name, id, kind| {
                let path = joined(&folder, name);
                left.spend(&path)?;
                visit(&path, id, kind);
                if kind == EntryKind::Folder {
                    folders.push((path, id));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Visits the entries of one folder until the visitor returns an error.
    ///
    /// # Errors
    /// If the folder is missing or damaged; [`BoundExceeded`], also of the
    /// visitor.
    pub fn list_here(
        &self,
        tree: ObjectId,
        mut visit: impl FnMut(&[u8], ObjectId, EntryKind) -> Result<(), BoundExceeded>,
    ) -> anyhow::Result<()> {
        let bytes = self.tree(tree)?;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let Some(entry) = next_entry(&mut rest, tree) else {
                bail!(self.damaged(tree, ObjectKind::Tree));
            };
            visit(entry.name, entry.id, entry.kind)?;
        }
        Ok(())
    }

    /// The files that differ between two trees. Equal folders are not entered;
    /// submodules and permissions are ignored.
    ///
    /// # Errors
    /// If a folder is missing or damaged; [`BoundExceeded`].
    pub fn differences(&self, old: ObjectId, new: ObjectId) -> anyhow::Result<Vec<Difference>> {
        let mut left = ListingBudget::default();
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

    fn both(&self, old: Option<ObjectId>, new: Option<ObjectId>) -> anyhow::Result<Pairs> {
        let mut pairs = Pairs::new();
        for (side, tree) in [old, new].into_iter().enumerate() {
            let Some(tree) = tree else { continue };
            self.list_here(tree, |name, id, kind| {
                pairs.entry(name.to_vec()).or_default()[side] = Some(Node::new(id, kind));
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
