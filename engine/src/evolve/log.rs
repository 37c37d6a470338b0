//! What a step prints.

use swe_ci_core::event::What;
use swe_ci_core::step::Cursor;

use super::Evolution;

/// Lines of a step's output told to those who watch.
const TOLD_LINES: usize = 300;
/// Bytes of a step's output that are kept.
const KEPT_LOG: usize = 8 * 1024 * 1024;

/// Kept up to a limit, told live up to a smaller one.
pub(super) struct Log {
    pub text: String,
    told: usize,
    tell: Box<dyn Fn(String) + Send>,
}

impl Log {
    pub fn new(evolution: &Evolution<'_>, at: Cursor) -> Self {
        let (events, run_id) = (
            evolution.evolver.events.clone(),
            evolution.claim.run_id.clone(),
        );
        let evolution_id = evolution.claim.evolution_id.clone();
        let tell = Box::new(move |line| {
            events.tell(
                &run_id,
                What::Log {
                    evolution_id: evolution_id.clone(),
                    role: at.role,
                    line,
                },
            );
        });
        Self {
            text: String::new(),
            told: 0,
            tell,
        }
    }

    pub fn line(&mut self, line: &str) {
        if self.text.len() + line.len() < KEPT_LOG {
            self.text.push_str(line);
            self.text.push('\n');
        }
        if self.told < TOLD_LINES {
            self.told += 1;
            (self.tell)(line.chars().take(500).collect());
        }
    }
}
