//! What is left behind, and removing it.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptionsBuilder;

use super::container::remove;
use super::{Docker, LABEL_INSTANCE, LABEL_PROCESS, LABEL_PURPOSE, refused};
use crate::sandbox::SandboxError;

/// Which containers of an installation nobody needs any more, as the process
/// knows that holds the worker's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Steps that other processes began, which must be dead, and preparations
    /// so old that no process can be about them.
    ByOthers,
    /// Those, and all that this process made.
    ByAnyone,
}

/// No preparation takes this long.
const LONG_AGO: Duration = Duration::from_hours(24);

impl Docker {
    /// Removes containers of this installation that are left; how many there
    /// were.
    pub async fn sweep(&self, left_by: Left) -> Result<usize, SandboxError> {
        let label = format!("{LABEL_INSTANCE}={}", self.instance.0);
        let options = ListContainersOptionsBuilder::default()
            .all(true)
            .filters(&HashMap::from([("label", vec![label.as_str()])]))
            .build();
        let api = self.api()?;
        let left = api
            .list_containers(Some(options))
            .await
            .map_err(|e| refused("list containers", &e))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = i64::try_from(now.unwrap_or_default().as_secs()).unwrap_or(i64::MAX);
        let stale = left.into_iter().filter(|c| self.is_left(c, left_by, now));
        let ids: Vec<String> = stale.filter_map(|container| container.id).collect();
        for id in &ids {
            remove(api, id).await;
        }
        Ok(ids.len())
    }

    /// `now` in seconds, as the container engine counts.
    fn is_left(&self, container: &ContainerSummary, left_by: Left, now: i64) -> bool {
        let label = |name| container.labels.as_ref()?.get(name).map(String::as_str);
        if label(LABEL_PROCESS) == Some(&*self.process) {
            return left_by == Left::ByAnyone;
        }
        let age = now.saturating_sub(container.created.unwrap_or(now));
        label(LABEL_PURPOSE) == Some("step") || age > LONG_AGO.as_secs().cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Instance;
    use super::*;

    #[test]
    fn what_is_left_by_whom() {
        let docker = Docker::new(Instance("here".into()));
        let ours = docker.process.to_string();
        let check = |process: &str, purpose: &str, hours: i64, left_by, expect: bool| {
            let container = ContainerSummary {
                created: Some(1_000_000 - hours * 3_600),
                labels: Some(HashMap::from([
                    (LABEL_PROCESS.to_owned(), process.to_owned()),
                    (LABEL_PURPOSE.to_owned(), purpose.to_owned()),
                ])),
                ..ContainerSummary::default()
            };
            let left = docker.is_left(&container, left_by, 1_000_000);
            assert_eq!(left, expect, "{process} {purpose} {hours} {left_by:?}");
        };
        check(&ours, "step", 48, Left::ByOthers, false);
        check(&ours, "preparation", 0, Left::ByOthers, false);
        check("dead", "step", 0, Left::ByOthers, true);
        // An import may be under way in a process beside the server.
        check("other", "preparation", 1, Left::ByOthers, false);
        check("other", "preparation", 1, Left::ByAnyone, false);
        check("dead", "preparation", 25, Left::ByOthers, true);
        check(&ours, "step", 0, Left::ByAnyone, true);
        check(&ours, "preparation", 0, Left::ByAnyone, true);
    }
}
