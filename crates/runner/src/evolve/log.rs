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
pub(super) struct Log {
    pub text: String,
    sent: usize,
    send: Box<dyn Fn(String) + Send>,
}

impl Log {
    pub fn new(events: &Events, claim: &Claim, role: Role) -> Self {
        let (events, run_id) = (events.clone(), claim.run_id.clone());
        let evolution_id = claim.evolution_id.clone();
        let send = Box::new(move |line| {
            events.publish(
                &run_id,
                What::Log {
                    evolution_id: evolution_id.clone(),
                    role,
                    line,
                },
            );
        });
        Self {
            text: String::new(),
            sent: 0,
            send,
        }
    }

    pub fn line(&mut self, line: &str) {
        if self.text.len() + line.len() < STORED_BYTES {
            self.text.push_str(line);
            self.text.push('\n');
        }
        if self.sent < LIVE_LINES {
            self.sent += 1;
            (self.send)(line.chars().take(500).collect());
        }
    }
}
