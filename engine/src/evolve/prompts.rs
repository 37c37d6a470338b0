//! What the two agents are told. The texts are ours, after the paper's
//! description of the roles (section 3.2); a run records their digest.

use swe_ci_core::step::Role;

use crate::code::sha256_hex;

const ARCHITECT: &str = include_str!("prompts/architect.md");
const PROGRAMMER: &str = include_str!("prompts/programmer.md");

/// Counted up with every change of the texts that is meant to matter.
pub const VERSION: u32 = 1;

/// The text for a role; the tests are told nothing.
pub fn of(role: Role) -> &'static str {
    match role {
        Role::Architect => ARCHITECT,
        Role::Programmer => PROGRAMMER,
        Role::Test => "",
    }
}

/// Version and digest, as a run records them: `1 sha256:…`.
pub fn recorded() -> String {
    let both = [ARCHITECT, "\0", PROGRAMMER].concat();
    format!("{VERSION} sha256:{}", sha256_hex(both.as_bytes()))
}
