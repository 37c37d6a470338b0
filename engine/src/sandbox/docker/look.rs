//! What Docker knows of a container. Nothing is asked inside: whoever worked
//! there could answer as they like.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bollard::query_parameters::EventsOptionsBuilder;
use futures::TryStreamExt;

use super::container::DockerBox;
use crate::sandbox::{Exit, Seen};

/// What happened in a container, and what was seen of it last.
#[derive(Debug, Default)]
pub(super) struct Account {
    exit_code: Option<i64>,
    took: Duration,
    seen: Option<Seen>,
}

impl DockerBox {
    /// Takes down how a command went; `None` when it was broken off.
    pub(super) fn charge(&self, took: Duration, exit: Option<&Exit>) {
        let mut account = self.account();
        account.took += took;
        account.exit_code = match exit {
            Some(Exit::Code(code)) => Some(*code),
            _ => None,
        };
    }

    /// What Docker says now, or said last.
    pub(super) async fn look(&self) -> Option<Seen> {
        if let Ok(container) = self.api.inspect_container(&self.id, None).await {
            let killed = container.state.and_then(|state| state.oom_killed);
            let image = container.image.unwrap_or_default();
            let image_name = self.name_of(&image).await;
            let out_of_memory = killed == Some(true) || self.was_killed().await;
            let mut account = self.account();
            account.seen = Some(Seen {
                image,
                image_name,
                exit_code: account.exit_code,
                out_of_memory,
                seconds: account.took.as_secs_f64(),
            });
        }
        self.account().seen.clone()
    }

    async fn name_of(&self, image: &str) -> Option<String> {
        let image = self.api.inspect_image(image).await.ok()?;
        image.repo_tags.unwrap_or_default().into_iter().next()
    }

    /// Whether Docker told of a process that was killed for want of memory.
    /// The state of a container does not always have those that were run in it.
    async fn was_killed(&self) -> bool {
        let filters = HashMap::from([
            ("container", vec![self.id.clone()]),
            ("event", vec!["oom".to_owned()]),
        ]);
        let options = EventsOptionsBuilder::default()
            .since(&seconds(self.made))
            .until(&seconds(SystemTime::now()))
            .filters(&filters)
            .build();
        let mut events = std::pin::pin!(self.api.events(Some(options)));
        matches!(events.try_next().await, Ok(Some(_)))
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As Docker takes a time: seconds of the epoch, with a fraction.
fn seconds(time: SystemTime) -> String {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}.{:09}", since.as_secs(), since.subsec_nanos())
}
