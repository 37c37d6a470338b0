//! The experiments with each model, whose results sessions share.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;

use super::protocol::Form;

/// The longest pause between two tries, unless the provider asks for more.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Ways of a provider's own to end an answer that are remembered.
const MAX_ENDS: usize = 8;

/// Whether a request is worth another try before the probe, which it may save.
pub(super) fn is_transient(status: StatusCode) -> bool {
    status.is_server_error() || [408, 429].contains(&status.as_u16())
}

/// Whether the request itself, or its form, may be at fault.
pub(super) fn is_refusal(status: StatusCode) -> bool {
    status.is_client_error() && !is_transient(status)
}

/// How long the first part of an answer took; or why the provider cannot answer.
pub(super) type Verdict = Result<Duration, String>;

/// The same of one probe, with the status that refused it.
pub(super) type ProbeResult = Result<Duration, (Option<StatusCode>, String)>;

#[derive(Debug, Default)]
pub(super) struct ProviderRecord {
    /// The latest probe: when it began, and its verdict.
    pub probe: tokio::sync::Mutex<Option<(Instant, Verdict)>>,
    learned: Mutex<Learned>,
    /// Whether its streams hold tool calls. Some servers leave them in the text.
    pub streams_calls: OnceLock<bool>,
}

#[derive(Debug, Default)]
struct Learned {
    /// While probes are not answered, when the next is due, and the pause before it.
    due: Option<(Instant, Duration)>,
    probes: ProbeSupport,
    /// The shortest time from a request to the first part of its answer, or its end.
    fastest: Option<Duration>,
    /// The reasons that end answers to probes and are none of the protocol's.
    ends: BTreeSet<String>,
    /// The first of the forms of requests that is not refused.
    form: Form,
}

/// Whether the provider answers requests as small as a probe.
#[derive(Debug, Default, Clone, Copy)]
enum ProbeSupport {
    #[default]
    Unknown,
    Answered,
    /// As all requests, perhaps; since when.
    Refused(Instant),
    /// With this status while an agent's were answered: a probe lacks something.
    AlwaysRefused(StatusCode),
}

impl ProviderRecord {
    /// `after_answer`: an agent's request, sent after a refused probe, was answered.
    pub fn learn(&self, asked: ProbeResult, after_answer: bool, first_pause: Duration) -> Verdict {
        let mut learned = self.learned();
        let status = asked.as_ref().err().and_then(|(status, _)| *status);
        let refused = status.filter(|status| is_refusal(*status));
        learned.probes = match (learned.probes, refused) {
            _ if asked.is_ok() => ProbeSupport::Answered,
            (ProbeSupport::Unknown, Some(_)) => ProbeSupport::Refused(Instant::now()),
            (ProbeSupport::Refused(_), Some(status)) if after_answer => {
                ProbeSupport::AlwaysRefused(status)
            }
            (probes, _) => probes,
        };
        // A provider that refuses what it always refuses is there.
        let is_usual =
            matches!(learned.probes, ProbeSupport::AlwaysRefused(usual) if refused == Some(usual));
        let verdict = match asked {
            Err(_) if is_usual => Ok(Duration::ZERO),
            asked => asked.map_err(|(_, why)| why),
        };
        learned.due = verdict.is_err().then(|| {
            let doubled = |(_, pause): (Instant, Duration)| pause.saturating_mul(2);
            let pause = learned.due.map_or(first_pause, doubled).min(LONGEST_PAUSE);
            (Instant::now() + pause, pause)
        });
        verdict
    }

    /// When the next probe is due after one that was not answered.
    pub fn due(&self) -> Instant {
        let due = self.learned().due;
        due.map_or_else(Instant::now, |(due, _)| due)
    }

    /// Whether a probe was refused before this moment, and none was answered.
    pub fn has_refused_before(&self, moment: Instant) -> bool {
        matches!(self.learned().probes, ProbeSupport::Refused(since) if since < moment)
    }

    pub fn learn_speed(&self, took: Duration) {
        let fastest = &mut self.learned().fastest;
        *fastest = Some(fastest.map_or(took, |fastest| fastest.min(took)));
    }

    /// The time to the first part of an answer where nothing is slow; zero if unknown.
    pub fn fastest(&self) -> Duration {
        self.learned().fastest.unwrap_or_default()
    }

    pub fn learn_end(&self, end: String) {
        let ends = &mut self.learned().ends;
        if ends.len() < MAX_ENDS {
            ends.insert(end);
        }
    }

    /// Whether answers to probes end for this reason too.
    pub fn knows_end(&self, end: &str) -> bool {
        self.learned().ends.contains(end)
    }

    pub fn learn_form(&self, form: Form) {
        self.learned().form = form;
    }

    /// The form in which the provider answers.
    pub fn form(&self) -> Form {
        self.learned().form
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Address, full name of the key, and name of a model.
type Model = (String, Option<String>, String);

#[derive(Debug, Default)]
pub(super) struct ProviderRecords(Mutex<HashMap<Model, Arc<ProviderRecord>>>);

impl ProviderRecords {
    pub fn of(&self, url: &str, key: Option<String>, model: &str) -> Arc<ProviderRecord> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let model = (url.to_owned(), key, model.to_owned());
        all.entry(model).or_default().clone()
    }
}
