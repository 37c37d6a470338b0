//! The cluster that is up, with a server without workers in front of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use url::Url;

use crate::worker::Worker;
use crate::{load, rows};

pub const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// How long anything may take before a test gives up.
/// 200 evolutions take ten minutes on two cores.
const PATIENCE: Duration = Duration::from_mins(25);
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// What `scripts/cluster.sh env` exports.
pub type Env = BTreeMap<String, String>;

pub struct Cluster {
    env: Env,
    /// Of the server and the tests; the cluster takes it along when it goes.
    folder: PathBuf,
    server: Option<Child>,
    /// One test at a time.
    _lock: File,
}

impl Cluster {
    /// With a running server; its split is imported if nobody has done so.
    pub async fn open() -> Self {
        let env = env();
        let folder = home().join("tests");
        std::fs::create_dir_all(&folder).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        let wait = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock));
        let mut cluster = Self {
            env,
            folder,
            server: None,
            _lock: wait.await.unwrap().unwrap(),
        };
        load::import(&cluster).await;
        cluster.start_server();
        cluster
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn env(&self, name: &str) -> &str {
        &self.env[name]
    }

    /// The variables of every process of the cluster.
    pub fn variables(&self) -> &Env {
        &self.env
    }

    /// Where processes of the nodes reach this machine.
    pub fn host(&self) -> String {
        let url = Url::parse(self.env("SWE_CI_DATABASE_URL")).unwrap();
        url.host_str().unwrap().to_owned()
    }

    /// The product as a command of this machine, with the first node's engine.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(args)
            .envs(&self.env)
            .env("SWE_CI_DATA", self.folder.join("server"))
            .env("SWE_CI_SITE", target().join("site"))
            .env("SWE_CI_LISTEN", "127.0.0.1:0")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command of the command line; what it prints.
    pub fn swe_ci(&self, args: &[&str]) -> String {
        printed(&mut self.command(args))
    }

    /// Stores the key of a provider, which the command reads from stdin.
    pub fn set_key(&self, name: &str, key: &str) {
        let file = self.folder.join("key");
        std::fs::write(&file, key).unwrap();
        let mut command = self.command(&["key", "set", name]);
        printed(command.stdin(File::open(file).unwrap()));
    }

    pub fn start_server(&mut self) {
        let log = append(&self.folder.join("server.log"));
        let mut command = self.command(&["serve", "--workers", "0", "--allow-private-endpoints"]);
        let command = command.stdout(log.try_clone().unwrap()).stderr(log);
        self.server = Some(command.spawn().unwrap());
    }

    pub fn kill_server(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    /// `scripts/cluster.sh` with these words.
    pub fn script(&self, words: &[&str]) -> String {
        script(words)
    }

    /// Removes all images of a node's engine that no container has.
    pub fn forget_images(&self, node: &str) {
        let engine = engine(node);
        let docker =
            |args: &[&str]| printed(Command::new("docker").args(["--host", &engine]).args(args));
        docker(&["image", "prune", "--all", "--force"]);
    }

    /// A worker with one slot on a node. It has the data that the node's last one left.
    pub fn worker(&self, node: &'static str) -> Worker {
        self.worker_with(node, &[], &[])
    }

    /// The same with these options, and other variables than the cluster's.
    pub fn worker_with(
        &self,
        node: &'static str,
        options: &[&str],
        other: &[(&str, &str)],
    ) -> Worker {
        let mut env = self.env.clone();
        for (name, value) in other {
            env.insert((*name).to_owned(), (*value).to_owned());
        }
        Worker::start(node, &env, options, &self.folder)
    }

    /// One worker on each node.
    pub fn workers(&self) -> Vec<Worker> {
        NODES.map(|node| self.worker(node)).into()
    }

    /// A run as `swe-ci run show --json` tells it.
    pub fn run(&self, id: &str) -> Value {
        serde_json::from_str(&self.swe_ci(&["run", "show", id, "--json"])).unwrap()
    }

    pub async fn until_over(&self, id: &str) {
        let mut database = rows::connect(self).await;
        let began = Instant::now();
        while !rows::is_over(&mut database, id).await {
            wait_on(began, "the run is over").await;
        }
    }

    /// Until a share of a run's evolutions has ended.
    pub async fn until_ended(&self, id: &str, count: usize) {
        let mut database = rows::connect(self).await;
        let began = Instant::now();
        while rows::ended(&mut database, id).await < count {
            wait_on(began, &format!("{count} evolutions have ended")).await;
        }
    }

    pub async fn until(&self, what: &str, mut done: impl FnMut() -> bool) {
        let began = Instant::now();
        while !done() {
            wait_on(began, what).await;
        }
    }

    /// No container, volume or socket of a worker is left on any node. An engine
    /// may still be at the removal of what a worker told it to remove.
    pub async fn nothing_is_left(&self) {
        for node in NODES {
            self.until(&format!("{node} is tidy"), || left_on(node).is_empty())
                .await;
        }
    }
}

async fn wait_on(began: Instant, what: &str) {
    assert!(began.elapsed() < PATIENCE, "never: {what}");
    tokio::time::sleep(POLL_INTERVAL).await;
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill_server();
    }
}

/// Lists containers, volumes and sockets that workers have left on a node.
pub fn left_on(node: &str) -> Vec<String> {
    let engine = engine(node);
    let docker =
        |args: &[&str]| printed(Command::new("docker").args(["--host", &engine]).args(args));
    let mut left: Vec<String> = docker(&["ps", "-aq", "--filter", "label=swe-ci.process"])
        .lines()
        .map(|id| format!("container {id}"))
        .collect();
    let volumes = docker(&["volume", "ls", "--quiet"]);
    left.extend(volumes.lines().map(|name| format!("volume {name}")));
    let data = home().join(node).join("data");
    let sockets = printed(Command::new("find").arg(data).args(["-type", "s"]));
    left.extend(sockets.lines().map(|path| format!("socket {path}")));
    left
}

/// The containers that work on a node right now.
pub fn containers_on(node: &str) -> usize {
    let listed = Command::new("docker")
        .args(["--host", &engine(node), "ps", "--quiet"])
        .args(["--filter", "label=swe-ci.process"])
        .output()
        .unwrap();
    String::from_utf8_lossy(&listed.stdout).lines().count()
}

fn engine(node: &str) -> String {
    format!("unix://{}/{node}/run/docker.sock", home().display())
}

pub fn script(words: &[&str]) -> String {
    printed(Command::new(root().join("scripts/cluster.sh")).args(words))
}

/// The cluster's folder.
#[expect(
    clippy::disallowed_methods,
    reason = "scripts/cluster.sh is told in the same way"
)]
pub fn home() -> PathBuf {
    std::env::var_os("SWE_CI_CLUSTER").map_or_else(|| "/tmp/swe-ci-cluster".into(), PathBuf::from)
}

fn env() -> Env {
    script(&["env"])
        .lines()
        .filter_map(|line| line.strip_prefix("export ")?.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// What a command prints.
pub fn printed(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?} {status}\n{stderr}");
    String::from_utf8(stdout).unwrap()
}

pub fn append(path: &Path) -> File {
    let mut options = File::options();
    options.create(true).append(true).open(path).unwrap()
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .into()
}

/// The folder cargo builds into.
fn target() -> PathBuf {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tmp.parent().unwrap().into()
}

pub fn program() -> PathBuf {
    // This test is target/<profile>/deps/cluster-…
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    folder.join("swe-ci")
}
