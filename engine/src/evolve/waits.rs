//! Noticing that a step waits for its model's provider, for those who watch.

use std::convert::Infallible;
use std::time::Duration;

use swe_ci_core::view::ProviderWait;

use crate::clock::{now_ms, rfc3339};
use crate::events::Events;
use crate::gateway::Door;
use crate::store::Claim;

/// Shorter waits are nobody's business: every request waits for its turn.
const WORTH_TELLING: Duration = Duration::from_secs(3);
/// How often one looks.
const EVERY: Duration = Duration::from_secs(1);

/// Tells of one evolution's waits. What it told of last is taken back when it
/// is let go of.
#[derive(Debug)]
pub(super) struct Waits {
    events: Events,
    run_id: String,
    evolution_id: String,
}

impl Waits {
    pub fn new(events: &Events, claim: &Claim) -> Self {
        Self {
            events: events.clone(),
            run_id: claim.run_id.clone(),
            evolution_id: claim.evolution_id.clone(),
        }
    }

    /// Watches the step at this door for as long as it is polled.
    pub async fn watch(&self, door: &Door) -> Infallible {
        let _over = Over(self);
        loop {
            tokio::time::sleep(EVERY).await;
            let waiting = door
                .waiting()
                .filter(|(waited, _)| *waited >= WORTH_TELLING);
            self.tell(waiting.map(|(waited, why)| ProviderWait {
                since: rfc3339(now_ms() - i64::try_from(waited.as_millis()).unwrap_or(0)),
                why,
            }));
        }
    }

    fn tell(&self, waiting: Option<ProviderWait>) {
        self.events
            .tell_wait(&self.run_id, &self.evolution_id, waiting);
    }
}

struct Over<'a>(&'a Waits);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.tell(None);
    }
}
