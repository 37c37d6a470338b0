//! The prompts of the two agents. The texts are ours, after the paper's
//! description of the roles (section 3.2); a run records their digest.

use swe_ci_base::digest::sha256_hex;
use swe_ci_core::step::Role;

const ARCHITECT: &str = include_str!("prompts/architect.md");
const PROGRAMMER: &str = include_str!("prompts/programmer.md");

/// Rises with every meaningful change of the texts.
pub const VERSION: u32 = 1;

/// The prompt of a role; empty for the test step.
pub fn for_role(role: Role) -> &'static str {
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
