//! Declarations made of lines: `setup.cfg` and the requirements of pip.

use super::requirement::normalized;
use crate::ini::{Entry, entries};

/// The lists of the sections that declare.
pub(super) fn setup_cfg(text: &str) -> Vec<(String, String)> {
    let options = [
        "install_requires",
        "tests_require",
        "setup_requires",
        "python_requires",
    ];
    let declares = |entry: &Entry<'_>| match entry.section {
        "options" => options.contains(&entry.key.as_str()),
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

/// One requirement or option of pip a line. Hashes are left out: new ones come
/// with files for other machines, and the version is the same.
pub(super) fn requirements(text: &str) -> Vec<(String, String)> {
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
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
