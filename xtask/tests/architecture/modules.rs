//! The files of a crate and which of them each file names, read with a real
//! parser: `use` trees, paths in code, and paths inside macros.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// A module with a file of its own, as the path from the crate's root.
pub type Module = Vec<String>;

/// The modules of one crate.
#[derive(Debug, Default)]
pub struct Modules {
    files: BTreeMap<Module, PathBuf>,
    children: BTreeMap<Module, BTreeSet<String>>,
    named: BTreeMap<Module, BTreeSet<Module>>,
}

impl Modules {
    /// Reads a crate from its root file. Modules for tests are left out.
    pub fn read(root: &Path) -> Self {
        let mut modules = Self::default();
        let mut parsed = Vec::new();
        modules.add(root, Vec::new(), &mut parsed);
        for (module, file) in &parsed {
            let mut names = Names {
                module: module.clone(),
                found: Vec::new(),
            };
            names.visit_file(file);
            let named = names
                .found
                .into_iter()
                .filter_map(|path| modules.owner(&path))
                .filter(|other| other != module)
                .collect();
            modules.named.insert(module.clone(), named);
        }
        modules
    }

    fn add(&mut self, file: &Path, module: Module, parsed: &mut Vec<(Module, syn::File)>) {
        let text = std::fs::read_to_string(file).unwrap();
        let tree = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let name = file.file_name().unwrap().to_str().unwrap();
        let folder = match name {
            "lib.rs" | "main.rs" | "mod.rs" => file.parent().unwrap().to_path_buf(),
            _ => file.with_extension(""),
        };
        for item in &tree.items {
            let syn::Item::Mod(child) = item else {
                continue;
            };
            if child.content.is_some() || is_for_tests(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let files = [
                folder.join(format!("{name}.rs")),
                folder.join(&name).join("mod.rs"),
            ];
            let below = files.iter().find(|file| file.exists());
            let below = below.unwrap_or_else(|| panic!("no file for {module:?}::{name}"));
            let path: Module = module.iter().cloned().chain([name.clone()]).collect();
            self.children
                .entry(module.clone())
                .or_default()
                .insert(name);
            self.add(below, path, parsed);
        }
        self.files.insert(module.clone(), file.to_path_buf());
        parsed.push((module, tree));
    }

    /// The module in whose file the thing of this path stands.
    fn owner(&self, path: &[String]) -> Option<Module> {
        let lengths = (1..=path.len()).rev();
        lengths
            .map(|length| path[..length].to_vec())
            .find(|prefix| self.files.contains_key(prefix))
    }

    /// The modules directly below the crate's root.
    pub fn rooms(&self) -> BTreeSet<&str> {
        let below = self.children.get(&Vec::new()).into_iter().flatten();
        below.map(String::as_str).collect()
    }

    /// The rooms that one of them names.
    pub fn rooms_named_by(&self, room: &str) -> BTreeSet<&str> {
        let inside = self
            .named
            .iter()
            .filter(|(module, _)| module.first().is_some_and(|first| first == room));
        let named = inside.flat_map(|(_, named)| named);
        let rooms = named.filter_map(|module| module.first().map(String::as_str));
        rooms.filter(|other| *other != room).collect()
    }

    /// Files that name each other in a circle, the files of modules with
    /// children left aside: those list and re-export what is below them.
    pub fn circles(&self) -> Vec<Vec<String>> {
        let leaves: Vec<&Module> = self
            .files
            .keys()
            .filter(|module| !self.children.contains_key(*module))
            .collect();
        let reach = |from: &Module| {
            let mut seen = BTreeSet::new();
            let mut open = vec![from.clone()];
            while let Some(module) = open.pop() {
                for next in self.named.get(&module).into_iter().flatten() {
                    if leaves.contains(&next) && seen.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<&Module, BTreeSet<Module>> =
            leaves.iter().map(|leaf| (*leaf, reach(leaf))).collect();
        let mut circles = BTreeSet::new();
        for (module, below) in &reached {
            if below.contains(*module) {
                let together = below
                    .iter()
                    .filter(|other| reached[*other].contains(*module));
                circles.insert(together.map(|module| module.join("::")).collect());
            }
        }
        circles.into_iter().collect()
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|flag| flag == "test")
    })
}

/// Collects the paths of a file, from the crate's root.
struct Names {
    module: Module,
    found: Vec<Vec<String>>,
}

impl Names {
    fn note(&mut self, path: &[String]) {
        let Some(first) = path.first() else { return };
        let absolute = match first.as_str() {
            "crate" => path[1..].to_vec(),
            "self" => [&self.module[..], &path[1..]].concat(),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                let Some(kept) = self.module.len().checked_sub(up) else {
                    return;
                };
                [&self.module[..kept], &path[up..]].concat()
            }
            // A child of this module, unless another crate has that name.
            _ => [&self.module[..], path].concat(),
        };
        if !absolute.is_empty() {
            self.found.push(absolute);
        }
    }

    fn note_tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.note_tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.note_tree(tree, before);
                }
            }
            syn::UseTree::Name(name) if name.ident == "self" => self.note(before),
            syn::UseTree::Name(name) => self.note(&with(&name.ident)),
            syn::UseTree::Rename(rename) => self.note(&with(&rename.ident)),
            syn::UseTree::Glob(_) => self.note(before),
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts = path.segments.iter().map(|part| part.ident.to_string());
        self.note(&parts.collect::<Vec<_>>());
        visit::visit_path(self, path);
    }

    /// Macros are tokens: `crate::…` is looked for among them.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let text = call.tokens.to_string().replace(' ', "");
        for rest in text.split("crate::").skip(1) {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            let path = rest[..end.unwrap_or(rest.len())].split("::");
            let path = ["crate"].into_iter().chain(path.filter(|p| !p.is_empty()));
            self.note(&path.map(str::to_owned).collect::<Vec<_>>());
        }
        visit::visit_macro(self, call);
    }
}
