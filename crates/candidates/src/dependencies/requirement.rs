//! Requirements (PEP 508) and project names (PEP 503) in a normal form for
//! comparison.
//!
//! The crate `pep508_rs` is no alternative: it rejects the invalid requirements
//! that old commits contain, and expands environment variables in addresses.

/// The normal form of a requirement: name as in PEP 503, sorted versions and
/// extras, no redundant blanks. For text that is not a requirement, the text
/// without redundant blanks.
pub fn normalized(text: &str) -> String {
    let (requirement, marker) = match text.split_once(';') {
        Some((requirement, marker)) => (requirement, squeezed(marker)),
        None => (text, String::new()),
    };
    let requirement = requirement.trim();
    let (name, rest) = name_and_rest(requirement);
    if name.is_empty() || name.starts_with('-') {
        // A pip option, or an empty line.
        return squeezed(text);
    }
    let rest = rest.trim();
    let (extras, versions) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((extras, versions)) => (sorted(extras, project_name), versions.trim()),
        None => (String::new(), rest),
    };
    let mut whole = project_name(name);
    if !extras.is_empty() {
        whole += &format!("[{extras}]");
    }
    match versions.strip_prefix('@') {
        Some(address) => whole += &format!(" @ {}", address.trim()),
        None => {
            let versions = versions.trim_start_matches('(').trim_end_matches(')');
            whole += &sorted(versions, |version| version.split_whitespace().collect());
        }
    }
    if !marker.is_empty() {
        whole += &format!(" ; {marker}");
    }
    whole
}

/// The project that a requirement names; none for pip options, paths and
/// addresses.
pub fn required_project(spec: &str) -> Option<String> {
    let (name, rest) = name_and_rest(spec.trim());
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_place = rest.starts_with(['/', ':', '+', '\\']);
    (starts_well && !is_place).then(|| project_name(name))
}

fn name_and_rest(requirement: &str) -> (&str, &str) {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let end = requirement.find(|c: char| !is_of_name(c));
    requirement.split_at(end.unwrap_or(requirement.len()))
}

/// The name of a project in the normal form of PEP 503.
pub fn project_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for c in name.trim().chars() {
        match c {
            '-' | '_' | '.' if plain.ends_with('-') => {}
            '-' | '_' | '.' => plain.push('-'),
            c => plain.push(c.to_ascii_lowercase()),
        }
    }
    plain
}

fn sorted(list: &str, plain: impl Fn(&str) -> String) -> String {
    let mut parts: Vec<String> = list.split(',').map(|part| plain(part.trim())).collect();
    parts.retain(|part| !part.is_empty());
    parts.sort();
    parts.join(",")
}

/// Collapses blanks and unifies quotes.
fn squeezed(marker: &str) -> String {
    let marker = marker.replace('\'', "\"");
    marker.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_requirement_are_equal() {
        let check = |text: &str, expect: &str| {
            assert_eq!(normalized(text), expect, "{text}");
            assert_eq!(normalized(expect), expect, "it is at rest");
        };
        check("requests", "requests");
        check(" Flask_Login ", "flask-login");
        check("zope.interface >= 5", "zope-interface>=5");
        check("a<3,>= 2", "a<3,>=2");
        check("a (>=2, <3)", "a<3,>=2");
        check("a[Two,one] == 1", "a[one,two]==1");
        check(
            "a ~=1 ;python_version<'3.8'",
            "a~=1 ; python_version<\"3.8\"",
        );
        check(
            "a @ https://example.org/a.zip",
            "a @ https://example.org/a.zip",
        );
        check("-e .", "-e .");
        check("", "");
    }

    #[test]
    fn projects_of_requirements() {
        let check = |spec: &str, expect: Option<&str>| {
            assert_eq!(required_project(spec).as_deref(), expect, "{spec}");
        };
        check("Flask_Login>=1", Some("flask-login"));
        check("a[b] ; python_version < '3'", Some("a"));
        check("a @ https://example.org/a.zip", Some("a"));
        check("zope.interface", Some("zope-interface"));
        for none in [
            "-e .",
            ".",
            "./a",
            "git+https://x/y",
            "https://x/y",
            "a/b.whl",
            "",
        ] {
            check(none, None);
        }
    }
}
