//! Inspection of a container through the engine's API. Nothing runs inside the
//! container for it: the code in there could forge the answer.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bollard::models::EventMessage;
use bollard::query_parameters::EventsOptionsBuilder;
use futures::{Stream, TryStreamExt};

use super::container::{DockerContainer, Record};
use crate::{Exit, Seen};

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

    /// The engine's current view, or the latest one it gave.
    #[tracing::instrument(name = "inspect a container", level = "debug", skip_all)]
    pub(super) async fn inspect(&self) -> Option<Seen> {
        let (container, image_name, had_oom_event) = tokio::join!(
            self.api.inspect_container(&self.id, None),
            self.image_name(),
            self.had_oom_event(),
        );
        if let Ok(container) = container {
            let killed = container.state.and_then(|state| state.oom_killed);
            let mut record = self.record();
            record.latest = Some(Seen {
                image: container.image.unwrap_or_default(),
                image_name,
                exit_code: record.exit_code,
                out_of_memory: killed == Some(true) || had_oom_event,
                seconds: record.run_time.as_secs_f64(),
            });
        }
        self.record().latest.clone()
    }

    async fn image_name(&self) -> Option<String> {
        let image = self.api.inspect_image(&self.image).await.ok()?;
        image.repo_tags.unwrap_or_default().into_iter().next()
    }

    /// Whether the engine reported a process killed for lack of memory. The
    /// state of a container does not always include its exec'd processes.
    async fn had_oom_event(&self) -> bool {
        let mut events = std::pin::pin!(self.events(&["oom"]));
        matches!(events.try_next().await, Ok(Some(_)))
    }

    /// The engine's events of these names about this container so far. It keeps
    /// its last 256 events, of all containers.
    pub(super) fn events(
        &self,
        names: &[&str],
    ) -> impl Stream<Item = Result<EventMessage, bollard::errors::Error>> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let filters = HashMap::from([("container", vec![self.id.clone()]), ("event", names)]);
        let options = EventsOptionsBuilder::default()
            .since(&seconds(self.created))
            .until(&seconds(SystemTime::now()))
            .filters(&filters)
            .build();
        self.api.events(Some(options))
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time in the engine's format: seconds since the epoch, with a fraction.
fn seconds(time: SystemTime) -> String {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}.{:09}", since.as_secs(), since.subsec_nanos())
}
