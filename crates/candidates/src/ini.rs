//! Parses INI files with `key = value` sections, as Python's configparser does.

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry<'t> {
    pub(crate) section: &'t str,
    /// With `_` instead of `-`: setuptools accepts both.
    pub(crate) key: String,
    /// The lines of the value, without comments and blank lines.
    pub(crate) lines: Vec<&'t str>,
}

/// All entries in order. Indented lines continue a value. Lines outside of any
/// entry are skipped.
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
