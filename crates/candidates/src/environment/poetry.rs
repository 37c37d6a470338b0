//! Version constraints of Poetry and Pipenv as PEP 440 specifiers.

use super::version::Version;

/// A requirement from a name and the constraint Poetry or Pipenv gives it.
/// Alternatives (`||`) and other constraints PEP 440 cannot express leave the
/// name alone: the newest release of the target's day is then the best guess.
pub(super) fn requirement(name: &str, constraint: &str) -> String {
    let parts: Option<Vec<String>> = constraint.split(',').map(specifiers).collect();
    let mut parts = parts.unwrap_or_default();
    parts.retain(|part| !part.is_empty());
    format!("{name}{}", parts.join(","))
}

fn specifiers(part: &str) -> Option<String> {
    let words: Vec<&str> = part.split_whitespace().collect();
    if part.contains('|') || words.len() > 2 {
        return None;
    }
    let part = words.concat();
    if part.is_empty() || part == "*" {
        return Some(String::new());
    }
    if let Some(version) = part.strip_prefix('^') {
        return below(version, |release| {
            let first = release.iter().position(|number| *number > 0);
            first.unwrap_or(release.len() - 1)
        });
    }
    if part.starts_with(['<', '>', '=', '!']) || part.starts_with("~=") {
        return Some(part);
    }
    match part.strip_prefix('~') {
        Some(version) => below(version, |release| usize::from(release.len() > 1)),
        None => Some(format!("=={part}")),
    }
}

/// From this version on, and below the next one at a place in its release.
fn below(version: &str, place: impl Fn(&[u64]) -> usize) -> Option<String> {
    let version = version.trim_end_matches(".*");
    let mut release = Version::parse(version)?.release().to_vec();
    let place = place(&release);
    release.truncate(place + 1);
    release[place] = release[place].checked_add(1)?;
    let end: Vec<_> = release.iter().map(ToString::to_string).collect();
    Some(format!(">={version},<{}", end.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_become_specifiers() {
        let check = |versions: &str, expect: &str| {
            assert_eq!(requirement("a", versions), expect, "{versions}");
        };
        check("^1.2.3", "a>=1.2.3,<2");
        check("^0.2.3", "a>=0.2.3,<0.3");
        check("^0.0.3", "a>=0.0.3,<0.0.4");
        check("^0", "a>=0,<1");
        check("~1.2.3", "a>=1.2.3,<1.3");
        check("~1", "a>=1,<2");
        check("~=1.2", "a~=1.2");
        check("1.2.*", "a==1.2.*");
        check("1.2", "a==1.2");
        check("*", "a");
        check(">= 1, <2", "a>=1,<2");
        check("^1 || ^2", "a");
        check("^x", "a");
        check("^1.2.*", "a>=1.2,<2");
        check("~1.2rc1", "a>=1.2rc1,<1.3");
    }
}
