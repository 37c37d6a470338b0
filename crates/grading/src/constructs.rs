//! Two signs in the code: compiled files, and classes that the project has already.

use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_core::finding::{Finding, FindingKind};

use crate::{is_test, python};

/// Whether the code has a compiled file that is neither the base's nor the
/// oracle's.
pub(crate) fn compiled(code: &CodeTree, base: &CodeTree, oracle: &CodeTree) -> Option<Finding> {
    let known = |tree: &CodeTree, path: &str, entry: &Entry| tree.entry(path) == Some(entry);
    let mut own = code.iter().filter(|(path, _)| !is_test(path));
    let (path, _) = own.find(|(path, entry)| {
        is_compiled(path) && !known(base, path, entry) && !known(oracle, path, entry)
    })?;
    let text = format!("{path} is compiled code, which nobody can read");
    Some(Finding::note(FindingKind::Construct, text))
}

fn is_compiled(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_archive = [".zip", ".whl", ".egg"]
        .iter()
        .any(|end| name.ends_with(end));
    is_archive || name.ends_with(".so") && python::module_name(name).is_some()
}

/// Whether base or oracle have a class of this name outside their tests.
pub(crate) fn is_known_class(class: &str, base: &CodeTree, oracle: &CodeTree) -> bool {
    let name = class.rsplit('.').next().unwrap_or(class);
    let definition = format!("class {name}");
    let own = base.iter().chain(oracle.iter());
    let own = own.filter(|(path, _)| !is_test(path) && path.ends_with(".py"));
    own.filter_map(|(_, entry)| text_of(entry))
        .flat_map(str::lines)
        .filter_map(|line| line.trim_start().strip_prefix(&definition))
        .any(|rest| rest.starts_with(['(', ':', '[']))
}

fn text_of(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::File { bytes, .. } => std::str::from_utf8(bytes).ok(),
        Entry::Symlink { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_the_project_are_known() {
        let mut base = CodeTree::default();
        base.insert_file("a.py", "class Query(Base):\n    pass\n");
        for (class, expect) in [("pkg.a.Query", true), ("pkg.a.Quer", false)] {
            assert_eq!(
                is_known_class(class, &base, &CodeTree::default()),
                expect,
                "{class}"
            );
        }
    }
}
