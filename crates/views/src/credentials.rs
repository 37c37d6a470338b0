//! Rules for names and passwords of accounts, and the lockout against password
//! guessing.

const NAME: std::ops::RangeInclusive<usize> = 2..=40;
/// Length of a password in characters.
const PASSWORD: std::ops::RangeInclusive<usize> = 10..=200;
/// Wrong passwords in a row that start a lockout.
const MAX_FAILURES: u32 = 5;
const MIN_LOCK_SECONDS: u64 = 60;
const MAX_LOCK_SECONDS: u64 = 3_600;

/// Names that the audit log uses for requests without an account.
const RESERVED: [&str; 2] = ["operator", "visitor"];

/// The stored form of an account's name: lower case, without surrounding space.
///
/// # Errors
/// The rules of names, when the name breaks them.
pub fn account_name(input: &str) -> Result<String, &'static str> {
    let name = input.trim().to_ascii_lowercase();
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
    let fits = NAME.contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(plain);
    if !fits {
        return Err(
            "a name has 2 to 40 letters (a to z), digits, `-`, `_` and `.`, and starts with a letter",
        );
    }
    if RESERVED.contains(&name.as_str()) {
        return Err("this name is reserved; choose another");
    }
    Ok(name)
}

/// Suggested names for a user with this name at another site, the best first:
/// its valid characters, then the same with a suffix from 2 to 99.
pub fn names_like(original: &str) -> impl Iterator<Item = String> + use<> {
    const SUFFIX_LENGTH: usize = 3;
    let valid_char = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c) => c,
        _ => '-',
    };
    let valid: String = original.chars().map(valid_char).collect();
    let valid = valid.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let short: String = valid.chars().take(NAME.end() - SUFFIX_LENGTH).collect();
    let short = short.trim_end_matches('-');
    let base = match short.len() >= *NAME.start() {
        true => short.to_owned(),
        false => "user".to_owned(),
    };
    let numbered: Vec<String> = (2..100).map(|n| format!("{base}-{n}")).collect();
    let names = std::iter::once(base).chain(numbered);
    names.filter(|name| account_name(name).is_ok())
}

/// Checks a new password for the account with this name.
///
/// # Errors
/// The rule that it breaks.
pub fn check_password(password: &str, name: &str) -> Result<(), &'static str> {
    if !PASSWORD.contains(&password.chars().count()) {
        return Err("a password has 10 to 200 characters");
    }
    if password.trim().eq_ignore_ascii_case(name.trim()) {
        return Err("the password must not be the name");
    }
    Ok(())
}

/// Seconds of lockout after this many wrong passwords in a row: a minute after
/// the fifth, twice as long after each further one, at most an hour.
pub fn lock_seconds(failures: u32) -> u64 {
    let Some(further) = failures.checked_sub(MAX_FAILURES) else {
        return 0;
    };
    (MIN_LOCK_SECONDS << further.min(6)).min(MAX_LOCK_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |input: &str, expect: Option<&str>| {
            assert_eq!(account_name(input).ok().as_deref(), expect, "{input:?}");
        };
        check("ada", Some("ada"));
        check(" Ada.Lovelace-1_ ", Some("ada.lovelace-1_"));
        check("ab", Some("ab"));
        let longest = "a".repeat(40);
        check(&longest, Some(&longest));
        check(&format!("{longest}a"), None);
        for bad in [
            "", "a", "1a", ".a", "-a", "a b", "a\nb", "a\0b", "a/b", "a<b", "größe", "ＡＢ",
        ] {
            check(bad, None);
        }
        for reserved in ["operator", "Visitor"] {
            check(reserved, None);
        }
    }

    #[test]
    fn suggested_names_are_valid() {
        let check = |original: &str, expect: [&str; 2]| {
            let names: Vec<String> = names_like(original).collect();
            assert_eq!(names[..2], expect, "{original:?}");
            for name in &names {
                assert_eq!(account_name(name).as_ref(), Ok(name), "{original:?}");
            }
        };
        check("octocat", ["octocat", "octocat-2"]);
        check("Ada Lovelace", ["ada-lovelace", "ada-lovelace-2"]);
        check("42-ada-", ["ada", "ada-2"]);
        check("größe", ["gr--e", "gr--e-2"]);
        check("", ["user", "user-2"]);
        check("李", ["user", "user-2"]);
        // Nobody can pass for the operator in the audit log.
        check("Operator", ["operator-2", "operator-3"]);
        let long = "a".repeat(37);
        check(&"a".repeat(99), [&long, &format!("{long}-2")]);
    }

    #[test]
    fn passwords() {
        let check = |password: &str, expect: Option<&str>| {
            let problem = check_password(password, "ada.lovelace").err();
            match (problem, expect) {
                (None, None) => {}
                (Some(problem), Some(expect)) => assert!(problem.contains(expect), "{problem}"),
                (problem, _) => panic!("{password:?} → {problem:?}"),
            }
        };
        check("0123456789", None);
        check("012345678", Some("10 to 200"));
        check("", Some("10 to 200"));
        // Characters, not bytes.
        check(&"\u{1F980}".repeat(9), Some("10 to 200"));
        check(&"\u{1F980}".repeat(200), None);
        check(&"x".repeat(201), Some("10 to 200"));
        check("ada.lovelace", Some("not be the name"));
        check(" ADA.lovelace ", Some("not be the name"));
        check("ada.lovelace!", None);
    }

    #[test]
    fn guessing_leads_to_a_lockout() {
        let check = |failures: u32, expect: u64| {
            assert_eq!(lock_seconds(failures), expect, "{failures}");
        };
        check(0, 0);
        check(4, 0);
        check(5, 60);
        check(6, 120);
        check(7, 240);
        check(10, 1_920);
        check(11, 3_600);
        check(u32::MAX, 3_600);
    }
}
