//! Removes the containers that ended or stopped processes left behind.

use std::collections::{HashMap, HashSet};

use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptionsBuilder;
use swe_ci_base::blocking::blocking;

use super::connection::Connection;
use super::container::remove;
use super::error::engine_error;
use super::{Docker, LABEL_INSTANCE, LABEL_PROCESS};
use crate::SandboxError;

/// Which containers of an installation to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepScope {
    /// The containers of dead processes.
    ByOthers,
    /// The containers of dead processes, and all of this process.
    ByAnyone,
}

impl Docker {
    /// Removes leftover containers of this installation and returns how many
    /// there were.
    pub async fn sweep(&self, scope: SweepScope) -> Result<usize, SandboxError> {
        let Connection::Api(api) = self.connection()? else {
            // They died with their processes.
            return Ok(0);
        };
        let label = format!("{LABEL_INSTANCE}={}", self.instance.0);
        let options = ListContainersOptionsBuilder::default()
            .all(true)
            .filters(&HashMap::from([("label", vec![label.as_str()])]))
            .build();
        let containers = api
            .list_containers(Some(options))
            .await
            .map_err(|e| engine_error("list containers", &e))?;
        // List the processes after the containers: a process announces itself
        // before it creates a container.
        let process = self.process.clone();
        let alive = blocking(move || process.alive()).await?;
        let stale = containers
            .into_iter()
            .filter(|c| self.is_leftover(c, scope, &alive));
        let ids: Vec<String> = stale.filter_map(|container| container.id).collect();
        for id in &ids {
            remove(api, id).await;
        }
        Ok(ids.len())
    }

    fn is_leftover(
        &self,
        container: &ContainerSummary,
        scope: SweepScope,
        alive: &HashSet<String>,
    ) -> bool {
        let labels = container.labels.as_ref();
        match labels.and_then(|labels| labels.get(LABEL_PROCESS)) {
            Some(process) if *process == self.process.name => scope == SweepScope::ByAnyone,
            Some(process) => !alive.contains(process),
            // The engine's own container, used while it builds one of our
            // images.
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Instance;
    use super::*;

    #[test]
    fn scope_selects_the_leftover_containers() {
        let data = tempfile::tempdir().unwrap();
        let docker = Docker::new(Instance("here".into()), data.path());
        let ours = docker.process.name.clone();
        let alive = HashSet::from(["other".to_owned()]);
        let check = |process: Option<&str>, scope, expect: bool| {
            let label = |process: &str| (LABEL_PROCESS.to_owned(), process.to_owned());
            let container = ContainerSummary {
                labels: Some(process.map(label).into_iter().collect()),
                ..ContainerSummary::default()
            };
            let leftover = docker.is_leftover(&container, scope, &alive);
            assert_eq!(leftover, expect, "{process:?} {scope:?}");
        };
        check(Some(&ours), SweepScope::ByOthers, false);
        check(Some("dead"), SweepScope::ByOthers, true);
        // An import may be running in a process beside the server.
        check(Some("other"), SweepScope::ByOthers, false);
        check(Some("other"), SweepScope::ByAnyone, false);
        check(Some(&ours), SweepScope::ByAnyone, true);
        check(None, SweepScope::ByAnyone, false);
    }
}
