//! Files of sections with `key = value`, as Python's configparser reads them.

/// An entry of a section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry<'t> {
    pub(crate) section: &'t str,
    /// With `_` for `-`, as setuptools takes both.
    pub(crate) key: String,
    /// The value's lines without comments and blanks.
    pub(crate) lines: Vec<&'t str>,
}

/// All entries in order; a value may go on in lines that are indented. Lines
/// that belong to nothing are left out.
pub(crate) fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut all: Vec<Entry<'_>> = Vec::new();
    let (mut section, mut open) = ("", false);
    for line in text.lines() {
        let goes_on = open && line.starts_with([' ', '\t']);
        let line = line.split(" #").next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let name = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
        if let Some(name) = name.filter(|_| !goes_on) {
            (section, open) = (name.trim(), false);
            continue;
        }
        match line.split_once(['=', ':']).filter(|_| !goes_on) {
            Some((key, value)) => {
                let value = Some(value.trim()).filter(|value| !value.is_empty());
                all.push(Entry {
                    section,
                    key: key.trim().replace('-', "_"),
                    lines: value.into_iter().collect(),
                });
                open = true;
            }
            None => {
                if let Some(entry) = all.last_mut().filter(|_| open) {
                    entry.lines.push(line);
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_sections() {
        let check = |text: &str, expect: &[(&str, &str, &[&str])]| {
            let found = entries(text);
            let found: Vec<_> = found
                .iter()
                .map(|entry| (entry.section, entry.key.as_str(), &entry.lines[..]))
                .collect();
            assert_eq!(found, expect, "{text}");
        };
        check("", &[]);
        check("lost\n[a]\nlost\n", &[]);
        check(
            "[a]\nb-c = 1 # why\n# no\nd:\n  e=2\n\n  [f]\n[g]\n  h = 3\n",
            &[
                ("a", "b_c", &["1"]),
                ("a", "d", &["e=2", "[f]"]),
                ("g", "h", &["3"]),
            ],
        );
    }
}
