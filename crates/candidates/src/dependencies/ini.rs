//! Line-based declarations: `setup.cfg` and pip's requirements files.

use super::requirement::normalized;
use crate::ini::{Entry, entries};

/// The lists in the sections that declare requirements.
pub(super) fn setup_cfg(text: &str) -> Vec<(String, String)> {
    let options = "install_requires tests_require setup_requires python_requires";
    let declares = |entry: &Entry<'_>| match entry.section {
        "options" => options.split(' ').any(|option| option == entry.key),
        section => section == "options.extras_require",
    };
    let entries = entries(text).into_iter().filter(declares);
    let lists = entries.map(|entry| {
        let part = format!("{} {}", entry.section, entry.key);
        let lines = entry.lines.into_iter();
        lines.map(move |line| (part.clone(), normalized(line)))
    });
    lists.flatten().collect()
}

/// The text of a requirements file with continued lines joined.
pub(crate) fn with_joined_lines(text: &str) -> String {
    text.replace("\\\r\n", " ").replace("\\\n", " ")
}

/// One requirement or pip option per line. Hashes are ignored: new ones come
/// with files for other platforms, and the version stays the same.
pub(super) fn requirements(text: &str) -> Vec<(String, String)> {
    let text = with_joined_lines(text);
    let lines = text.lines().map(|line| {
        let line = line.split(" #").next().unwrap_or_default().trim();
        match line.split_once(" --hash") {
            Some((requirement, _)) => requirement.trim(),
            None => line,
        }
    });
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| ("lines".to_owned(), normalized(line)))
        .collect()
}
