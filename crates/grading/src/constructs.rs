//! A sign in the code: compiled files.

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
