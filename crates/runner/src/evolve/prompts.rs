//! The prompts of the two agents, in each mode. The texts are ours, after the
//! paper's description of the roles (section 3.2); a run records their digest.

use swe_ci_base::digest::sha256_hex;
use swe_ci_core::requirement::Mode;
use swe_ci_core::step::Role;
use swe_ci_core::task::TestCommand;

/// Rises with every meaningful change of the texts.
pub const VERSION: u32 = 1;

/// The prompt of a role; empty for the test step.
pub fn prompt(mode: Mode, role: Role) -> &'static str {
    match (mode, role) {
        (Mode::Tdd | Mode::Impossible, Role::Architect) => include_str!("prompts/tdd/architect.md"),
        (Mode::Tdd | Mode::Impossible, Role::Programmer) => {
            include_str!("prompts/tdd/programmer.md")
        }
        (Mode::Rdd, Role::Architect) => include_str!("prompts/rdd/architect.md"),
        (Mode::Rdd, Role::Programmer) => include_str!("prompts/rdd/programmer.md"),
        (_, Role::Test) => "",
    }
}

/// What a prompt says of Python, and of the folder that holds its tests, and in its
/// place where the tests are run by a plan. The second has the paths of its tests.
const OF_PYTHON: [(&str, &str); 5] = [
    ("by pytest or in any other way", "in any way"),
    (
        "Its tests in `/app/code/tests` already",
        "Its tests (in `/app/code`: TESTS) already",
    ),
    (
        "path/of/the/file.py, the class or",
        "path/of/the/file, the type or",
    ),
    (
        "Do not change anything below `/app/code/tests`; it is replaced",
        "Do not change the tests (in `/app/code`: TESTS); they are replaced",
    ),
    (
        "Whatever you put below `/app/code/tests` is",
        "Tests that you write (in `/app/code`: TESTS) are",
    ),
];

/// The prompt of a role for a task: with its language's own words.
pub fn prompt_for(mode: Mode, role: Role, command: &TestCommand) -> String {
    let mut text = prompt(mode, role).to_owned();
    if let Some(plan) = command.plan() {
        let tests: Vec<String> = plan.tests.iter().map(|path| format!("`{path}`")).collect();
        for (of_python, other) in OF_PYTHON {
            text = text.replace(of_python, &other.replace("TESTS", &tests.join(", ")));
        }
    }
    text
}

/// Version and digest of a mode's prompts, as a run records them:
/// `1 sha256:…`.
pub fn recorded(mode: Mode) -> String {
    let [architect, programmer] =
        [Role::Architect, Role::Programmer].map(|role| prompt(mode, role));
    let both = [architect, "\0", programmer].concat();
    format!("{VERSION} sha256:{}", sha256_hex(both.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_python_elsewhere() {
        let rust: TestCommand = "rust".parse().unwrap();
        for mode in [Mode::Tdd, Mode::Rdd] {
            for role in [Role::Architect, Role::Programmer] {
                let python = prompt_for(mode, role, &TestCommand::PLATFORM);
                assert_eq!(python, prompt(mode, role));
                let text = prompt_for(mode, role, &rust);
                for word in ["pytest", ".py", "/app/code/tests", "Python", "TESTS"] {
                    assert!(!text.contains(word), "{word}: {text}");
                }
                assert!(text.contains("`tests/**`"), "{text}");
            }
        }
    }
}
