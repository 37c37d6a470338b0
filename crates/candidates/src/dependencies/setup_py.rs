//! The requirements in `setup.py`. If the program computes them, its text is
//! compared instead.

use super::requirement::normalized;
use super::{Reading, Unparsed};
use crate::setup_py::{self, Computed, Names, string};

/// Lists of requirements that the project needs when it is used.
const RUNTIME: [&str; 2] = ["install_requires", "python_requires"];
/// Lists that only tests, builds and developers need.
const OTHER: [&str; 3] = ["tests_require", "setup_requires", "extras_require"];

/// The requirements. If the program computes a list, the text without the lines
/// that say nothing about dependencies stands for that list, or for all of them
/// if the project needs it when it is used.
pub(super) fn declared(text: &str) -> Reading {
    let mut found = Vec::new();
    for name in RUNTIME.into_iter().chain(OTHER) {
        match argument(text, name) {
            Argument::Absent => {}
            Argument::Strings(all) => {
                found.extend(all.iter().map(|one| (name.to_owned(), normalized(one))));
            }
            Argument::Computed if RUNTIME.contains(&name) => {
                return Err((Unparsed::Computed, without_version(text)));
            }
            Argument::Computed => found.push((name.to_owned(), without_version(text))),
        }
    }
    Ok(found)
}

/// The lines of a program without comments and without a literal `version`
/// argument; otherwise every release would count as a change.
fn without_version(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let telling =
        lines.filter(|line| !line.is_empty() && !line.starts_with('#') && !is_version(line));
    telling.collect::<Vec<_>>().join("\n")
}

/// Whether the line is exactly `version="1.2",`. A variable of that name may be
/// part of a requirement; an argument cannot be.
fn is_version(line: &str) -> bool {
    let rest = line.strip_prefix("version").map(str::trim_start);
    let Some(value) = rest.and_then(|rest| rest.strip_prefix('=')) else {
        return false;
    };
    let value = value.trim_start();
    string(value).is_some_and(|(_, length)| value[length..].trim() == ",")
}

/// The strings of a list, tuple or dictionary passed as an argument, written in
/// the call or assigned to a name above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    Absent,
    /// The strings in order, including the keys of dictionaries.
    Strings(Vec<String>),
    Computed,
}

/// An argument of the `setup` call.
pub fn argument(text: &str, name: &str) -> Argument {
    match setup_py::argument(text, name, Names::UsedOnce) {
        Ok(Some(literal)) => Argument::Strings(literal.strings_and_keys()),
        Err(Computed) => Argument::Computed,
        Ok(None) => {
            // It may be a key of a dictionary passed as `**kwargs`.
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
    fn arguments_of_setup() {
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
        // Computed.
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
    fn computed_requirements_compare_without_the_version() {
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

    /// Quadratic work on texts of this size would outlast the time limit of the
    /// test runner.
    #[test]
    fn quotes_without_an_end_take_no_time() {
        for piece in ["'''\\", "'", "\"\"\"\\", "'\n", "["] {
            let text = format!("install_requires={}", piece.repeat(300_000));
            let _ = argument(&text, "install_requires");
        }
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
