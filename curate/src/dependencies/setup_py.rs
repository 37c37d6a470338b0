//! What `setup.py` declares. Where a program works that out, only its text can
//! be compared.

use super::requirement::normalized;
use super::{AsText, Reading};
use crate::setup_py::{self, Names, WorkedOut, string};

/// What the file declares. Its text stands for it where something is worked
/// out, without what says nothing about dependencies.
pub(super) fn declared(text: &str) -> Reading {
    let mut found = Vec::new();
    for name in [
        "install_requires",
        "tests_require",
        "setup_requires",
        "extras_require",
        "python_requires",
    ] {
        match argument(text, name) {
            Argument::Absent => {}
            Argument::Strings(all) => {
                found.extend(all.iter().map(|one| (name.to_owned(), normalized(one))));
            }
            Argument::Computed => return Err((AsText::WorkedOut, without_version(text))),
        }
    }
    Ok(found)
}

/// The lines of a program without comments and without the project's version
/// where it stands as an argument, or every release would be a change.
fn without_version(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let telling =
        lines.filter(|line| !line.is_empty() && !line.starts_with('#') && !is_version(line));
    telling.collect::<Vec<_>>().join("\n")
}

/// `version="1.2",` and nothing else. A variable of that name may be part of a
/// requirement, an argument may not.
fn is_version(line: &str) -> bool {
    let rest = line.strip_prefix("version").map(str::trim_start);
    let Some(value) = rest.and_then(|rest| rest.strip_prefix('=')) else {
        return false;
    };
    let value = value.trim_start();
    string(value).is_some_and(|(_, length)| value[length..].trim() == ",")
}

/// What is handed over under this name: the strings of a list, tuple or
/// dictionary, written there or given that name above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    Absent,
    /// The strings in it, in order; keys of dictionaries are among them.
    Strings(Vec<String>),
    /// It is worked out.
    Computed,
}

/// An argument of the call of `setup`.
#[must_use]
pub fn argument(text: &str, name: &str) -> Argument {
    match setup_py::argument(text, name, Names::UsedOnce) {
        Ok(Some(literal)) => Argument::Strings(literal.strings_and_keys()),
        Err(WorkedOut) => Argument::Computed,
        Ok(None) => {
            // A key of a dictionary that may be handed over as a whole.
            let key = |quote: &str| text.contains(&format!("{quote}{name}{quote}"));
            match key("'") || key("\"") {
                true => Argument::Computed,
                false => Argument::Absent,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over() {
        let check = |text: &str, expect: Argument| {
            assert_eq!(argument(text, "install_requires"), expect, "{text}");
        };
        let strings = |all: &[&str]| Argument::Strings(all.iter().map(|s| (*s).into()).collect());
        check("setup(name='a')", Argument::Absent);
        check(
            "setup(install_requires=['a', \"b>=1\",])",
            strings(&["a", "b>=1"]),
        );
        check(
            "setup(\n  install_requires = [ # two\n 'a', # 'no'\n 'b'],\n)",
            strings(&["a", "b"]),
        );
        check("setup(install_requires=('a',), x=1)", strings(&["a"]));
        check("R = ['a']\nsetup(install_requires=R)", strings(&["a"]));
        check("setup(install_requires='a')", strings(&["a"]));
        check(
            "# install_requires=['a']\ns = \"install_requires=['b']\"",
            Argument::Absent,
        );
        // Worked out.
        check(
            "setup(install_requires=open('r.txt').read().split())",
            Argument::Computed,
        );
        check("setup(install_requires=['a'] + more)", Argument::Computed);
        check("setup(install_requires=['a', b])", Argument::Computed);
        check(
            "R = ['a']\nR += ['b']\nsetup(install_requires=R)",
            Argument::Computed,
        );
        check("setup(install_requires=[", Argument::Computed);
        check("setup(install_requires=R)", Argument::Computed);
        check("install_requires == ['a']", Argument::Absent);
        check("setup(**{'install_requires': ['a']})", Argument::Computed);
        check("setup(install_requires=f'{x}')", Argument::Computed);
    }

    #[test]
    fn what_is_worked_out_compares_without_the_version() {
        let same = |a: &str, b: &str, expect: bool| {
            let (a, b) = (declared(a).unwrap_err(), declared(b).unwrap_err());
            assert_eq!(a == b, expect, "{a:?} {b:?}");
        };
        let with = |line: &str| format!("setup(\n  {line}\n  install_requires=read(),\n)");
        same(&with("version='1',"), &with("version = \"2\",  "), true);
        same(&with("# one"), &with(""), true);
        same(&with("version=V,"), &with("version=W,"), false);
        same(&with("version='1' + a,"), &with("version='2' + a,"), false);
        // A variable may be part of a requirement.
        let variable = |v: &str| format!("version = '{v}'\n{}", with("version=version,"));
        same(&variable("1"), &variable("2"), false);
    }

    #[test]
    fn quotes_without_an_end_take_no_time() {
        let began = std::time::Instant::now();
        for piece in ["'''\\", "'", "\"\"\"\\", "'\n", "["] {
            let text = format!("install_requires={}", piece.repeat(300_000));
            let _ = argument(&text, "install_requires");
        }
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }

    #[test]
    fn dictionaries_have_their_keys_among_the_strings() {
        let found = argument(
            "setup(extras_require={'test': ['a', 'b'], 'doc': ()})",
            "extras_require",
        );
        let expect = ["test", "a", "b", "doc"].map(str::to_owned);
        assert_eq!(found, Argument::Strings(expect.into()));
    }
}
