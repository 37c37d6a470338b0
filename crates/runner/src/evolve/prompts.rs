//! The prompts of the two agents, in each mode. The texts are ours, after the
//! paper's description of the roles (section 3.2); a run records their digest.

use swe_ci_base::digest::sha256_hex;
use swe_ci_core::requirement::Mode;
use swe_ci_core::step::Role;

/// Rises with every meaningful change of the texts.
pub const VERSION: u32 = 1;

/// The prompt of a role; empty for the test step.
pub fn prompt(mode: Mode, role: Role) -> &'static str {
    match (mode, role) {
        (Mode::Tdd, Role::Architect) => include_str!("prompts/tdd/architect.md"),
        (Mode::Tdd, Role::Programmer) => include_str!("prompts/tdd/programmer.md"),
        (Mode::Rdd, Role::Architect) => include_str!("prompts/rdd/architect.md"),
        (Mode::Rdd, Role::Programmer) => include_str!("prompts/rdd/programmer.md"),
        (_, Role::Test) => "",
    }
}

/// Version and digest of a mode's prompts, as a run records them:
/// `1 sha256:…`.
pub fn recorded(mode: Mode) -> String {
    let [architect, programmer] =
        [Role::Architect, Role::Programmer].map(|role| prompt(mode, role));
    let both = [architect, "\0", programmer].concat();
    format!("{VERSION} sha256:{}", sha256_hex(both.as_bytes()))
}
