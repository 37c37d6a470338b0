//! A worker on a node.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::cluster::{Env, append, containers_on, home, program};

/// It has so long to end its steps.
const GRACE_SECONDS: &str = "20";
const PATIENCE: Duration = Duration::from_mins(2);

/// Killed when dropped.
pub struct Worker {
    pub node: &'static str,
    process: Child,
}

impl Worker {
    pub fn start(node: &'static str, env: &Env, options: &[&str], logs: &Path) -> Self {
        let log = append(&logs.join(format!("{node}.log")));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/cluster.sh");
        // Each of these programs takes the place of the one before.
        let process = Command::new(script)
            .args(["on", node])
            .arg(program())
            .args(["work", "--slots", "1", "--grace", GRACE_SECONDS])
            .args(options)
            .envs(env)
            .env("SWE_CI_CLUSTER", home())
            .env("SWE_CI_DATA", "/var/lib/swe-ci/worker")
            .env("SWE_CI_CODE_STYLE", "no")
            .env("SWE_CI_AUDIT", "no")
            .env("SWE_CI_LOG", "info")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Self { node, process }
    }

    /// Whether a container of a step runs on its node.
    pub fn is_in_a_step(&self) -> bool {
        containers_on(self.node) > 0
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// SIGTERM, as an orchestrator does.
    pub fn ask_to_end(&self) {
        let pid = self.process.id().to_string();
        let told = Command::new("kill").arg(pid).status();
        assert!(told.unwrap().success());
    }

    pub async fn end(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "{} does not end", self.node);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub fn has_ended(&mut self) -> bool {
        self.process.try_wait().unwrap().is_some()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Asks all to end; each does so in order.
pub async fn end_all(workers: &mut [Worker]) {
    for worker in &*workers {
        worker.ask_to_end();
    }
    for worker in workers {
        let status = worker.end().await;
        assert!(status.success(), "{} on {}", status, worker.node);
    }
}
