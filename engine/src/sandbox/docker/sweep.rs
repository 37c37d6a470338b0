//! What is left behind, and removing it.

use std::collections::{HashMap, HashSet};

use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptionsBuilder;

use super::container::remove;
use super::{Docker, LABEL_INSTANCE, LABEL_PROCESS, refused};
use crate::blocking::blocking;
use crate::sandbox::SandboxError;

/// Which containers of an installation nobody needs any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Those of processes that are dead.
    ByOthers,
    /// Those, and all that this process made.
    ByAnyone,
}

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
        // Asked after the containers: whoever makes one is alive before it.
        let process = self.process.clone();
        let alive = blocking(move || process.alive()).await?;
        let stale = left.into_iter();
        let stale = stale.filter(|c| self.is_left(c, left_by, &alive));
        let ids: Vec<String> = stale.filter_map(|container| container.id).collect();
        for id in &ids {
            remove(api, id).await;
        }
        Ok(ids.len())
    }

    fn is_left(
        &self,
        container: &ContainerSummary,
        left_by: Left,
        alive: &HashSet<String>,
    ) -> bool {
        let labels = container.labels.as_ref();
        match labels.and_then(|labels| labels.get(LABEL_PROCESS)) {
            Some(process) if *process == self.process.name => left_by == Left::ByAnyone,
            Some(process) => !alive.contains(process),
            // The container engine's own, while it builds an image of ours.
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Instance;
    use super::*;

    #[test]
    fn what_is_left_by_whom() {
        let data = tempfile::tempdir().unwrap();
        let docker = Docker::new(Instance("here".into()), data.path());
        let ours = docker.process.name.clone();
        let alive = HashSet::from(["other".to_owned()]);
        let check = |process: Option<&str>, left_by, expect: bool| {
            let label = |process: &str| (LABEL_PROCESS.to_owned(), process.to_owned());
            let container = ContainerSummary {
                labels: Some(process.map(label).into_iter().collect()),
                ..ContainerSummary::default()
            };
            let left = docker.is_left(&container, left_by, &alive);
            assert_eq!(left, expect, "{process:?} {left_by:?}");
        };
        check(Some(&ours), Left::ByOthers, false);
        check(Some("dead"), Left::ByOthers, true);
        // An import may be under way in a process beside the server.
        check(Some("other"), Left::ByOthers, false);
        check(Some("other"), Left::ByAnyone, false);
        check(Some(&ours), Left::ByAnyone, true);
        check(None, Left::ByAnyone, false);
    }
}
