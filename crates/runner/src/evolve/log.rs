//! The output of a step.

use swe_ci_core::step::Role;
use swe_ci_store::Claim;
use swe_ci_views::event::What;

use crate::events::Events;

/// Lines of a step's output sent to watching clients.
const LIVE_LINES: usize = 300;
/// Bytes of a step's output that are stored.
const STORED_BYTES: usize = 8 * 1024 * 1024;

/// Stores the output up to one limit and sends it live up to a smaller one.
pub(super) struct Log<'a> {
    pub text: String,
    sent: usize,
    events: &'a Events,
    claim: &'a Claim,
    role: Role,
}

impl<'a> Log<'a> {
    pub fn new(events: &'a Events, claim: &'a Claim, role: Role) -> Self {
        Self {
            text: String::new(),
            sent: 0,
            events,
            claim,
            role,
        }
    }

    pub fn line(&mut self, line: &str) {
        if self.text.len() + line.len() < STORED_BYTES {
            self.text.push_str(line);
            self.text.push('\n');
        }
        if self.sent < LIVE_LINES {
            self.sent += 1;
            let what = What::Log {
                evolution_id: self.claim.evolution_id.clone(),
                role: self.role,
                line: line.chars().take(500).collect(),
            };
            self.events.publish(&self.claim.run_id, what);
        }
    }
}
