//! The output of a step.

use swe_ci_core::step::Role;
use swe_ci_store::Claim;
use swe_ci_views::event::What;

use crate::events::Events;

/// Lines of a step's output sent to watching clients.
const LIVE_LINES: usize = 300;
/// Bytes of a step's output that are stored.
const STORED_BYTES: usize = 8 * 1024 * 1024;
/// Stands at the end of an output that went on.
const CUT: &str = "[the output goes on; its first 8 MiB are stored]\n";

/// Stores the output up to one limit and sends it live up to a smaller one.
pub(super) struct Log<'a> {
    pub text: String,
    is_cut: bool,
    sent: usize,
    events: &'a Events,
    claim: &'a Claim,
    role: Role,
}

impl<'a> Log<'a> {
    pub fn new(events: &'a Events, claim: &'a Claim, role: Role) -> Self {
        Self {
            text: String::new(),
            is_cut: false,
            sent: 0,
            events,
            claim,
            role,
        }
    }

    pub fn line(&mut self, line: &str) {
        if self.text.len() + line.len() >= STORED_BYTES && !self.is_cut {
            self.is_cut = true;
            self.text.push_str(CUT);
        }
        if !self.is_cut {
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

#[cfg(test)]
mod tests {
    use swe_ci_core::task::TaskId;

    use super::*;

    /// A short line after a long one that did not fit would hide the gap.
    #[test]
    fn an_output_that_is_cut_says_so() {
        let events = Events::default();
        let claim = Claim {
            evolution_id: "e".into(),
            run_id: "r".into(),
            task_id: TaskId::new("t").unwrap(),
            number: 1,
        };
        let mut log = Log::new(&events, &claim, Role::Test);
        let half = "x".repeat(STORED_BYTES / 2);
        log.line(&half);
        assert!(!log.text.contains(CUT));
        for line in [half.as_str(), "short", "short"] {
            log.line(line);
        }
        assert_eq!(log.text, format!("{half}\n{CUT}"));
    }
}
