//! Inspection of a container through the engine's API. Nothing runs inside the
//! container for it: the code in there could forge the answer.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use bollard::query_parameters::EventsOptionsBuilder;
use futures::TryStreamExt;
use jiff::Timestamp;
use rustix::process::Pid;
use swe_ci_base::code::CodeTree;
use swe_ci_views::container::Engine;

use super::container::{DockerContainer, Record};
use crate::watch::{Holds, hold};
use crate::{Exit, Seen, WantedFiles};

/// What Podman puts before the names of images that are from no registry.
const LOCAL: &str = "localhost/";
/// How far ahead of the engine's clock its events are asked for, where it must be.
const FUTURE: Duration = Duration::from_millis(500);

impl DockerContainer {
    /// Records that a command starts.
    pub(super) fn record_start(&self) {
        self.record().has_run_code = true;
    }

    pub(super) fn has_run_code(&self) -> bool {
        self.record().has_run_code
    }

    /// Records how a command ended; `None` when it was interrupted.
    pub(super) fn record_command(&self, run_time: Duration, exit: Option<&Exit>) {
        let mut record = self.record();
        record.run_time += run_time;
        record.exit_code = match exit {
            Some(Exit::Code(code)) => Some(*code),
            _ => None,
        };
    }

    /// How this container's limits are held.
    pub(super) async fn holds(&self) -> Holds {
        let find = || async {
            if !self.engine.rootless {
                return Holds::BY_ENGINE;
            }
            let container = self.api.inspect_container(&self.id, None).await;
            let state = container.ok().and_then(|container| container.state);
            let pid = state.and_then(|state| state.pid).unwrap_or_default();
            let first = i32::try_from(pid).ok().and_then(Pid::from_raw);
            let limits = self.limits;
            let found = tokio::task::spawn_blocking(move || Holds::of(first, limits)).await;
            found.unwrap_or(Holds::BY_ENGINE)
        };
        *self.holds.get_or_init(find).await
    }

    /// Holds the limits that the engine does not, as long as a command runs.
    pub(super) async fn hold_limits(&self) -> Infallible {
        let ran_out = || self.record().out_of_memory = true;
        hold(self.holds().await, self.limits, ran_out).await
    }

    pub(super) fn record_sent(&self, files: Option<(WantedFiles, CodeTree)>) {
        self.record().sent = files;
    }

    /// These files, if the latest command has sent them.
    pub(super) fn take_sent(&self, wanted: &WantedFiles) -> Option<CodeTree> {
        let sent = self.record().sent.take_if(|(sent, _)| sent == wanted);
        sent.map(|(_, files)| files)
    }

    /// The engine's current view, or the latest one it gave.
    #[tracing::instrument(name = "inspect a container", level = "debug", skip_all)]
    pub(super) async fn inspect(&self) -> Option<Seen> {
        let container = self.api.inspect_container(&self.id, None).await;
        if let Ok(container) = container {
            self.note_creation(container.created.as_deref());
            let (image_name, had_oom_event) = tokio::join!(self.image_name(), self.had_oom_event());
            let killed = container.state.and_then(|state| state.oom_killed);
            let holds = self.holds().await;
            let mut record = self.record();
            record.latest = Some(Seen {
                image: container.image.unwrap_or_default(),
                image_name,
                exit_code: record.exit_code,
                out_of_memory: killed == Some(true) || had_oom_event || record.out_of_memory,
                engine: Some(Engine {
                    name: self.engine.to_string(),
                    memory: holds.memory,
                    processes: holds.processes,
                }),
                seconds: record.run_time.as_secs_f64(),
            });
        }
        self.record().latest.clone()
    }

    async fn image_name(&self) -> Option<String> {
        let image = self.api.inspect_image(&self.image).await.ok()?;
        let name = image.repo_tags.unwrap_or_default().into_iter().next()?;
        Some(name.trim_start_matches(LOCAL).to_owned())
    }

    /// Whether the engine reported a process killed for lack of memory. The
    /// state of a container does not always include its exec'd processes.
    async fn had_oom_event(&self) -> bool {
        // Podman has no such event.
        !self.engine.podman
            && self
                .events(&["oom"])
                .await
                .is_ok_and(|events| !events.is_empty())
    }

    /// The engine's events of these names about this container so far. It keeps
    /// its last 256 events, of all containers.
    pub(super) async fn events(
        &self,
        names: &[&'static str],
    ) -> Result<Vec<&'static str>, bollard::errors::Error> {
        let created = self.creation().await;
        // Podman tells nothing of a time that is over when it begins to look.
        let wait = if self.engine.podman {
            FUTURE
        } else {
            Duration::ZERO
        };
        let until = created + self.created.elapsed() + wait;
        // It has other names for the events in filters.
        let filters = HashMap::from([("container", vec![self.id.clone()])]);
        let options = EventsOptionsBuilder::default()
            .since(&seconds(created))
            .until(&seconds(until))
            .filters(&filters)
            .build();
        let mut events = std::pin::pin!(self.api.events(Some(options)));
        let mut found = Vec::new();
        while let Some(event) = events.try_next().await? {
            let action = match event.action.as_deref() {
                Some("remove") => Some("destroy"),
                action => action,
            };
            found.extend(names.iter().filter(|name| action == Some(**name)));
        }
        Ok(found)
    }

    /// When the container was made, by the engine's clock. That of this machine may
    /// be behind, and would miss events, or ahead: then the engine keeps the events
    /// open until its own clock gets there.
    async fn creation(&self) -> Timestamp {
        let known = self.record().creation;
        if let Some(creation) = known {
            return creation;
        }
        if let Ok(container) = self.api.inspect_container(&self.id, None).await {
            self.note_creation(container.created.as_deref());
        }
        // Without it, the container is gone.
        let known = self.record().creation;
        known.unwrap_or_else(|| Timestamp::now() - self.created.elapsed())
    }

    fn note_creation(&self, time: Option<&str>) {
        let time = time.and_then(|time| time.parse().ok());
        let mut record = self.record();
        record.creation = record.creation.or(time);
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time in the engine's format: seconds since the epoch, with a fraction.
fn seconds(time: Timestamp) -> String {
    format!("{}.{:09}", time.as_second(), time.subsec_nanosecond())
}
