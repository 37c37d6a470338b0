//! What Poetry and Pipenv say of versions, in words of pip.

use super::version::numbers;

/// What Poetry and Pipenv say of versions, as a requirement. Alternatives
/// (`||`) and other things pip has no words for leave the name alone: the
/// newest of the target's day then is the best guess.
#[must_use]
pub(super) fn of_poetry(name: &str, versions: &str) -> String {
    let parts = versions.split(',').map(|part| part.trim().to_owned());
    let words: Option<Vec<String>> = parts.map(|part| in_words_of_pip(&part)).collect();
    let list = words.unwrap_or_default();
    let list: Vec<_> = list.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{name}{}", list.join(","))
}

fn in_words_of_pip(part: &str) -> Option<String> {
    if part.is_empty() || part == "*" {
        return Some(String::new());
    }
    if part.contains('|') || part.split_whitespace().count() > 2 {
        return None;
    }
    let part: String = part.split_whitespace().collect();
    let below = |version: &str, at: usize| {
        let mut parts = numbers(version);
        parts.truncate(at + 1);
        *parts.get_mut(at)? += 1;
        let shown: Vec<_> = parts.iter().map(ToString::to_string).collect();
        Some(format!(">={version},<{}", shown.join(".")))
    };
    if let Some(version) = part.strip_prefix('^') {
        let parts = numbers(version);
        let first = parts.iter().position(|number| *number > 0);
        return below(version, first.unwrap_or(parts.len().saturating_sub(1)));
    }
    if part.starts_with('~') && !part.starts_with("~=") {
        let version = &part[1..];
        let count = numbers(version).len();
        return below(version, usize::from(count > 1));
    }
    if part.starts_with(['<', '>', '=', '!', '~']) {
        return Some(part);
    }
    Some(format!("=={part}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poetry_in_words_of_pip() {
        let check = |versions: &str, expect: &str| {
            assert_eq!(of_poetry("a", versions), expect, "{versions}");
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
    }
}
