//! The live connection: applies server-sent events to the data of the page.

use std::time::Duration;

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use leptos::task::spawn_local;
use serde::{Deserialize, Serialize};
use swe_ci_core::step::Role;
use swe_ci_views::event::{RunEvent, What};
use swe_ci_views::finding::RunFinding;
use swe_ci_views::leaderboard::Scores;
use swe_ci_views::view::RunDetail;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

use super::event_updates::apply;
use super::log::Tail;
use super::pending_fetch::PendingFetch;
use crate::error::AppError;

/// Log lines within this time are shown together.
const TOGETHER: Duration = Duration::from_millis(120);

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// Nothing to follow, or not started.
    Off,
    Live,
    Lost,
}

/// The signals that the connection updates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Follower {
    pub detail: RwSignal<RunDetail>,
    pub scores: RwSignal<Vec<Scores>>,
    pub findings: RwSignal<Vec<RunFinding>>,
    pub tail: RwSignal<Tail>,
    pub link: RwSignal<Link>,
    fetch: StoredValue<PendingFetch>,
    /// Log lines waiting to be shown.
    lines: StoredValue<Vec<(String, Role, String)>>,
}

impl Follower {
    pub(super) fn new(
        detail: RwSignal<RunDetail>,
        scores: RwSignal<Vec<Scores>>,
        findings: RwSignal<Vec<RunFinding>>,
    ) -> Self {
        Self {
            detail,
            scores,
            findings,
            tail: RwSignal::new(Tail::default()),
            link: RwSignal::new(Link::Off),
            fetch: StoredValue::new(PendingFetch::default()),
            lines: StoredValue::new(Vec::new()),
        }
    }

    /// Follows the run in the browser until it is over or the reader leaves the
    /// page.
    ///
    /// The effect's own value holds the connection: effects do not run on the
    /// server, where no browser objects may be stored, and dropping the effect
    /// drops the connection.
    pub(super) fn start(self) {
        let over = Memo::new(move |_| self.detail.with(|d| d.summary.progress.is_over()));
        Effect::new(move |connection: Option<Option<Connection>>| {
            if over.get() {
                self.link.set(Link::Off);
                return None;
            }
            connection.flatten().or_else(|| {
                let id = self.detail.with_untracked(|d| d.summary.run_id.clone());
                Connection::open(&id, self)
            })
        });
    }

    fn opened(self) {
        self.link.try_set(Link::Live);
        // The rows contain what happened before, or during a lost connection.
        self.fetch();
    }

    fn take(self, event: RunEvent) {
        if let What::Log {
            evolution_id,
            role,
            line,
        } = event.what
        {
            self.log(&evolution_id, role, line);
            return;
        }
        self.detail.try_update(|d| apply(d, &event));
        let settles = matches!(event.what, What::Ended { .. } | What::Run { .. });
        self.fetch.try_update_value(|fetch| fetch.note(event));
        if settles {
            // Events do not carry times, reasons and scores.
            self.fetch();
        }
    }

    /// Fetches the rows, then applies the events that arrived meanwhile again,
    /// so that an older response undoes nothing. During a fetch, another
    /// follows it.
    fn fetch(self) {
        if self.fetch.try_update_value(PendingFetch::ask) != Some(true) {
            return;
        }
        let Some(id) = self.detail.try_with_untracked(|d| d.summary.run_id.clone()) else {
            return;
        };
        spawn_local(async move {
            let fresh = whole_run(id).await;
            // The reader may have left the page.
            let Some((since, again)) = self.fetch.try_update_value(PendingFetch::end) else {
                return;
            };
            if let Ok(PageData {
                mut detail,
                scores,
                findings,
                ..
            }) = fresh
            {
                since.iter().for_each(|event| apply(&mut detail, event));
                self.detail.try_set(detail);
                self.scores.try_set(scores);
                // Equal ones stay, and with them a reason that somebody types.
                let known = self.findings.try_with_untracked(|known| *known == findings);
                if known == Some(false) {
                    self.findings.try_set(findings);
                }
            }
            if again {
                self.fetch();
            }
        });
    }

    fn log(self, evolution_id: &str, role: Role, text: String) {
        let task = self.detail.try_with_untracked(|d| {
            let evolution = d
                .evolution_list
                .iter()
                .find(|e| e.evolution_id == evolution_id);
            evolution.map(|e| e.task_id.to_string()).unwrap_or_default()
        });
        let Some(task) = task else { return };
        let first = self.lines.try_update_value(|lines| {
            lines.push((task, role, text));
            lines.len() == 1
        });
        if first == Some(true) {
            set_timeout(move || self.show_lines(), TOGETHER);
        }
    }

    fn show_lines(self) {
        let Some(lines) = self.lines.try_update_value(std::mem::take) else {
            return;
        };
        self.tail.try_update(|tail| {
            for (task, role, text) in lines {
                tail.push(task, role, text);
            }
        });
    }
}

/// An open event source; dropping it closes it. It reconnects by itself.
#[derive(Debug)]
struct Connection {
    source: EventSource,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_open: Closure<dyn FnMut(Event)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Connection {
    fn open(run_id: &str, follower: Follower) -> Option<Self> {
        let source = EventSource::new(&format!("/api/v1/runs/{run_id}/events")).ok()?;
        let on_message = Closure::new(move |message: MessageEvent| {
            let event = message
                .data()
                .as_string()
                .and_then(|d| serde_json::from_str(&d).ok());
            // Unknown events of a newer server are skipped.
            if let Some(event) = event {
                follower.take(event);
            }
        });
        let on_open = Closure::new(move |_: Event| follower.opened());
        let on_error = Closure::new(move |_: Event| {
            follower.link.try_set(Link::Lost);
        });
        source.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        source.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Self {
            source,
            _on_message: on_message,
            _on_open: on_open,
            _on_error: on_error,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.source.close();
    }
}

#[server(prefix = "/api/pages", endpoint = "run", input = GetUrl)]
pub async fn run(id: String) -> Result<RunDetail, AppError> {
    Ok(crate::error::engine()?.run(&id).await?)
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PageData {
    pub detail: RunDetail,
    /// At γ = 1, in each convention that has any.
    pub scores: Vec<Scores>,
    /// By task, sample and iteration.
    pub findings: Vec<RunFinding>,
    /// The reproducibility card, as text.
    pub card: String,
}

#[server(prefix = "/api/pages", endpoint = "whole-run", input = GetUrl)]
pub async fn whole_run(id: String) -> Result<PageData, AppError> {
    use swe_ci_core::metrics::{Convention, Gamma};

    let engine = crate::error::engine()?;
    let detail = engine.run(&id).await?;
    let mut scores = Vec::new();
    for convention in Convention::ALL {
        scores.push(engine.scores(&id, Gamma::ONE, convention).await?);
    }
    scores.retain(|scores| scores.evoscore.is_some());
    let card = engine.card(&id).await?.to_text();
    Ok(PageData {
        detail,
        scores,
        findings: engine.findings(&id).await?,
        card,
    })
}
