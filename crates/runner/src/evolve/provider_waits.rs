//! Detects that a step waits for its model, or repeats itself, and reports it to
//! watching clients.

use std::convert::Infallible;
use std::time::Duration;

use swe_ci_base::clock::{now_ms, rfc3339};
use swe_ci_gateway::GatewaySession;
use swe_ci_store::Claim;
use swe_ci_views::view::ProviderWait;

use crate::events::Events;

/// Shorter waits are not reported: every request waits for its turn.
const MIN_REPORTED: Duration = Duration::from_secs(3);
/// The same for answers: most take seconds.
const MIN_ANSWER: Duration = Duration::from_secs(5);
/// So many repetitions of a call are reported, and so many more again.
const REPEATS: u32 = 10;
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Reports the provider waits of one evolution, and their end when the watch is
/// dropped.
#[derive(Debug)]
pub(super) struct ProviderWaits<'a> {
    pub events: &'a Events,
    pub claim: &'a Claim,
}

impl ProviderWaits<'_> {
    /// Watches the step of this session for as long as it is polled.
    pub async fn watch(&self, session: &GatewaySession) -> Infallible {
        let _guard = ReportEnd(self);
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let waiting = match session.waiting() {
                Some(wait) => (wait.waited >= MIN_REPORTED).then(|| ProviderWait {
                    since: since(wait.waited),
                    why: wait.why,
                    next_try: wait.next_try.map(rfc3339),
                    probes: wait.probes,
                    probe_micro_usd: wait.probe_micro_usd,
                    ..ProviderWait::default()
                }),
                None => session
                    .under_way()
                    .filter(|(_, took)| *took >= MIN_ANSWER)
                    .map(|(request, took)| ProviderWait {
                        since: since(took),
                        answering: Some(request),
                        ..ProviderWait::default()
                    }),
            };
            let repeats = session.repeats() / REPEATS * REPEATS;
            let repeating = (repeats > 0).then(ProviderWait::default);
            self.report(
                waiting
                    .or(repeating)
                    .map(|wait| ProviderWait { repeats, ..wait }),
            );
        }
    }

    fn report(&self, waiting: Option<ProviderWait>) {
        let claim = self.claim;
        self.events
            .set_wait(&claim.run_id, &claim.evolution_id, waiting);
    }
}

fn since(took: Duration) -> String {
    rfc3339(now_ms() - i64::try_from(took.as_millis()).unwrap_or(0))
}

struct ReportEnd<'a>(&'a ProviderWaits<'a>);

impl Drop for ReportEnd<'_> {
    fn drop(&mut self) {
        self.0.report(None);
    }
}
