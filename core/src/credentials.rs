//! What one signs in with: the rules of names and passwords, and what becomes
//! of an account at which passwords are guessed.

/// Shortest and longest name of an account.
const NAME: std::ops::RangeInclusive<usize> = 2..=40;
/// Shortest and longest password, in characters.
const PASSWORD: std::ops::RangeInclusive<usize> = 10..=200;
/// Wrong passwords in a row until none is looked at for a while.
const PATIENCE: u32 = 5;
const SHORTEST_LOCK: u64 = 60;
const LONGEST_LOCK: u64 = 3_600;

/// The audit log names with these whoever has no account.
const TAKEN: [&str; 2] = ["operator", "visitor"];

/// The name of an account as it is kept: lower case, without space around it.
///
/// # Errors
/// What a name looks like, when this is none.
pub fn account_name(input: &str) -> Result<String, &'static str> {
    let name = input.trim().to_ascii_lowercase();
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
    let fits = NAME.contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(plain);
    if !fits {
        return Err(
            "a name has 2 to 40 letters (a to z), digits, `-`, `_` and `.`, and begins with a letter",
        );
    }
    if TAKEN.contains(&name.as_str()) {
        return Err("this name means somebody without an account; choose another");
    }
    Ok(name)
}

/// Names for somebody who is called so elsewhere, the best first: what of it can
/// be in a name, then the same with a number from 2 to 99 behind it.
pub fn names_like(called: &str) -> impl Iterator<Item = String> + use<> {
    const ROOM_FOR_NUMBERS: usize = 3;
    let of_names = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c) => c,
        _ => '-',
    };
    let plain: String = called.chars().map(of_names).collect();
    let plain = plain.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let fitting: String = plain.chars().take(NAME.end() - ROOM_FOR_NUMBERS).collect();
    let fitting = fitting.trim_end_matches('-');
    let base = match fitting.len() >= *NAME.start() {
        true => fitting.to_owned(),
        false => "user".to_owned(),
    };
    let numbered: Vec<String> = (2..100).map(|n| format!("{base}-{n}")).collect();
    let names = std::iter::once(base).chain(numbered);
    names.filter(|name| account_name(name).is_ok())
}

/// Whether an account of this name may have this password.
///
/// # Errors
/// What is wrong with it.
pub fn check_password(password: &str, name: &str) -> Result<(), &'static str> {
    if !PASSWORD.contains(&password.chars().count()) {
        return Err("a password has 10 to 200 characters");
    }
    if password.trim().eq_ignore_ascii_case(name.trim()) {
        return Err("the password may not be the name");
    }
    Ok(())
}

/// For how many seconds no password is looked at after so many wrong ones in a
/// row: a minute after the fifth, twice as long after each one more, an hour at
/// most.
#[must_use]
pub fn lock_seconds(failures: u32) -> u64 {
    let Some(more) = failures.checked_sub(PATIENCE) else {
        return 0;
    };
    (SHORTEST_LOCK << more.min(6)).min(LONGEST_LOCK)
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
        for taken in ["operator", "Visitor"] {
            check(taken, None);
        }
    }

    #[test]
    fn names_for_those_who_come_from_elsewhere() {
        let check = |called: &str, expect: [&str; 2]| {
            let found: Vec<String> = names_like(called).collect();
            assert_eq!(found[..2], expect, "{called:?}");
            for name in &found {
                assert_eq!(account_name(name).as_ref(), Ok(name), "{called:?}");
            }
        };
        check("octocat", ["octocat", "octocat-2"]);
        check("Ada Lovelace", ["ada-lovelace", "ada-lovelace-2"]);
        check("42-ada-", ["ada", "ada-2"]);
        check("größe", ["gr--e", "gr--e-2"]);
        check("", ["user", "user-2"]);
        check("李", ["user", "user-2"]);
        // Whoever reads the audit log takes nobody for the operator.
        check("Operator", ["operator-2", "operator-3"]);
        let long = "a".repeat(37);
        check(&"a".repeat(99), [&long, &format!("{long}-2")]);
    }

    #[test]
    fn passwords() {
        let check = |password: &str, expect: Option<&str>| {
            let found = check_password(password, "ada.lovelace").err();
            match (found, expect) {
                (None, None) => {}
                (Some(found), Some(expect)) => assert!(found.contains(expect), "{found}"),
                (found, _) => panic!("{password:?} → {found:?}"),
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
    fn who_guesses_waits() {
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
