//! What Python would import from a tree of code.

use std::collections::BTreeSet;

use swe_ci_base::code::CodeTree;

/// The names that can be imported from the root of a tree or its `src` folder.
pub(crate) fn top_level_names(tree: &CodeTree) -> BTreeSet<String> {
    tree.paths()
        .filter_map(|path| top_level_name(path.strip_prefix("src/").unwrap_or(path)))
        .map(str::to_owned)
        .collect()
}

fn top_level_name(path: &str) -> Option<&str> {
    match path.split_once('/') {
        // Any folder can be a namespace package; without modules it is data.
        Some((folder, rest)) => {
            let file = rest.rsplit('/').next().unwrap_or(rest);
            (is_identifier(folder) && module_name(file).is_some()).then_some(folder)
        }
        None => module_name(path),
    }
}

/// The module that a file is: Python's source, or compiled code.
pub(crate) fn module_name(file: &str) -> Option<&str> {
    let (name, rest) = file.split_once('.')?;
    let module = rest == "py" || rest == "so" || rest.ends_with(".so");
    (module && is_identifier(name)).then_some(name)
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|c| c == '_' || c.is_alphabetic())
        && letters.all(|c| c == '_' || c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be_imported() {
        let mut tree = CodeTree::default();
        for path in [
            "a.py",
            "src/b.py",
            "src/c/d.py",
            "e/data.txt",
            "f.cpython-311-x86_64-linux-gnu.so",
            "README.md",
            "x-y/z.py",
            "0.py",
            "g.tar.gz",
        ] {
            tree.insert_file(path, "");
        }
        let names = top_level_names(&tree);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["a", "b", "c", "f"]);
    }
}
