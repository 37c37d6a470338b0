//! Reads requirements files and the files they include.

use super::Files;
use crate::dependencies::{required_project, with_joined_lines};
use crate::environment::project_files::text;

/// Maximum depth of includes.
const DEEPEST: usize = 5;

/// The requirements of a file. Options, addresses, paths and hashes are
/// skipped: the packages they name have no upload time. Includes are relative
/// to the including file.
pub(super) fn read(files: &Files, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    include(files, path, DEEPEST, &mut found);
    found
}

fn include(files: &Files, path: &str, deep: usize, found: &mut Vec<String>) {
    let Some(text) = text(files, path).filter(|_| deep > 0) else {
        return;
    };
    for line in with_joined_lines(&text).lines() {
        match line_of(line) {
            Some(Line::Requirement(spec)) if !found.contains(&spec) => found.push(spec),
            Some(Line::Include(file)) => {
                include(files, &beside(path, &file), deep - 1, found);
            }
            _ => {}
        }
    }
}

/// A line of a requirements file or of tox's `deps`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Requirement(String),
    /// From `-r`; constraints files are no requirements.
    Include(String),
}

pub(super) fn line_of(line: &str) -> Option<Line> {
    let line = line.split(" #").next().unwrap_or_default().trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    for option in ["--requirement", "-r"] {
        if let Some(file) = line.strip_prefix(option) {
            let file = file.trim_start_matches('=').trim();
            return Some(Line::Include(file.to_owned()));
        }
    }
    let spec = line.split(" --").next().unwrap_or_default().trim();
    let is_address = spec.contains(" @ ") || spec.contains("://");
    let is_one = !is_address && required_project(spec).is_some();
    is_one.then(|| Line::Requirement(spec.to_owned()))
}

/// A path written in a file, relative to the root.
pub(super) fn beside(path: &str, file: &str) -> String {
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    let mut parts: Vec<&str> = folder.into_iter().flat_map(|f| f.split('/')).collect();
    for part in file.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let spec = |text: &str| Some(Line::Requirement(text.into()));
        let check = |line: &str, expect: Option<Line>| assert_eq!(line_of(line), expect, "{line}");
        check("a==1 # why", spec("a==1"));
        check("a==1 --hash=sha256:0", spec("a==1"));
        check("a ; python_version < '3'", spec("a ; python_version < '3'"));
        check("-r test.txt", Some(Line::Include("test.txt".into())));
        check("-rtest.txt", Some(Line::Include("test.txt".into())));
        check("--requirement=a.txt", Some(Line::Include("a.txt".into())));
        for none in [
            "# a",
            "",
            "-e .",
            "-c c.txt",
            "--index-url https://x",
            ".",
            "git+https://x/y",
        ] {
            check(none, None);
        }
        check("a @ https://x/y.zip", None);
    }

    #[test]
    fn files_include_others_beside_them_and_never_forever() {
        let files = [
            ("requirements/test.txt", "-r base.txt\n-r ../more.txt\nb\n"),
            (
                "requirements/base.txt",
                "\u{feff}a>=1\\\n,<2\n-r test.txt\n",
            ),
            ("more.txt", "c\n-r absent.txt"),
        ];
        let files: Files = files.map(|(path, text)| (path.into(), text.into())).into();
        let mut found = read(&files, "requirements/test.txt");
        found.sort();
        assert_eq!(found, ["a>=1 ,<2", "b", "c"]);
    }
}
