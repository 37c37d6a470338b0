//! The real binary on a throw-away data folder.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use sqlx::Connection;
use swe_ci_engine::Engine;
use swe_ci_engine::testing::{self, TinyTask};
use tokio::sync::OnceCell;

/// How long anything may take before a test gives up.
pub const PATIENCE: Duration = Duration::from_mins(3);

const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub struct Product {
    /// The built site.
    site: PathBuf,
    pub folder: tempfile::TempDir,
    /// Where the running server answers.
    pub url: String,
    /// Whether its server executes what is queued.
    works: bool,
    /// What its environment holds beside what every server is told.
    env: Vec<(&'static str, &'static str)>,
    server: Option<Child>,
    /// Reads the data folder as the command line does, without a process for each look.
    reader: OnceCell<Engine>,
}

impl Product {
    /// Imports these tasks as the split `split`; the server is not started.
    pub async fn with_split(split: &str, tasks: &[TinyTask<'_>]) -> Self {
        let make = async |made: &Path| {
            let product = Self::empty();
            product.import(split, tasks).await;
            testing::copy(&product.data(), made).unwrap();
        };
        Self::made(&testing::name_of(split, tasks), make).await
    }

    /// A running server on what a product left behind whose work is finished: the
    /// first test of this build that asks for `name` makes it, the others get a copy.
    pub async fn finished(name: &str, make: impl AsyncFnOnce() -> Self) -> Self {
        let make = async |made: &Path| {
            let mut product = make().await;
            product.stop();
            testing::copy(&product.data(), made).unwrap();
        };
        let mut product = Self::made(name, make).await;
        product.start().await;
        product
    }

    async fn made(name: &str, make: impl AsyncFnOnce(&Path)) -> Self {
        let product = Self::empty();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let programs = [binary("swe-ci"), std::env::current_exe().unwrap()];
        testing::made_once(cache, name, &programs, &product.data(), make)
            .await
            .unwrap();
        product
    }

    /// An empty data folder; the server is not started.
    pub fn empty() -> Self {
        Self {
            site: target().join("site"),
            folder: tempfile::tempdir().unwrap(),
            url: String::new(),
            works: true,
            env: Vec::new(),
            server: None,
            reader: OnceCell::new(),
        }
    }

    /// Shows what these statements write, and executes nothing: no Docker is
    /// needed. Without any it has nothing to show.
    pub async fn showing(sql: &str) -> Self {
        Self::showing_site(sql, &target().join("site")).await
    }

    /// The same with another build of the site.
    pub async fn showing_site(sql: &str, site: &Path) -> Self {
        let mut product = Self::empty();
        product.site = site.to_owned();
        product.works = false;
        product.engine().await;
        let database = product.data().join("swe-ci.sqlite");
        let url = format!("sqlite:{}", database.display());
        let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
        let sql = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()));
        sql.execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        product.start().await;
        product
    }

    /// Puts something into the environment of the servers to come.
    pub fn set_env(&mut self, name: &'static str, value: &'static str) {
        self.env.push((name, value));
    }

    async fn import(&self, split: &str, tasks: &[TinyTask<'_>]) {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let image = testing::image_archive(self.engine().await, cache).await;
        let image = image.unwrap();
        let dataset = self.folder.path().join("dataset");
        testing::write_dataset(&dataset, split, &image, tasks).unwrap();
        let said = self.swe_ci(&[
            "dataset",
            "import",
            "--from",
            dataset.to_str().unwrap(),
            "--split",
            split,
            "--repeats",
            "1",
        ]);
        assert!(said.status.success(), "{said:?}");
    }

    /// Beside the server's, on the same data folder.
    pub async fn engine(&self) -> &Engine {
        let open = || async { Engine::open(testing::config(self.data(), 0)).await.unwrap() };
        self.reader.get_or_init(open).await
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The program with the settings of this product, and no input.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary("swe-ci"));
        command
            .args(args)
            .env("SWE_CI_DATA", self.data())
            .env("SWE_CI_SITE", &self.site);
        command
            .env("SWE_CI_LISTEN", "127.0.0.1:0")
            // What is about code style asks for it: the tools take a while.
            .env("SWE_CI_CODE_STYLE", "no")
            .env("SWE_CI_AUDIT", "no")
            .stdin(Stdio::null());
        command.envs(self.env.iter().copied());
        if !self.works {
            command.env("SWE_CI_WORKERS", "0");
        }
        command
    }

    /// Runs a command of the command line to its end.
    pub fn swe_ci(&self, args: &[&str]) -> std::process::Output {
        self.command(args).output().unwrap()
    }

    /// Starts the server on a port of the system's choice and waits until it
    /// says which.
    pub async fn start(&mut self) {
        self.start_with(&[]).await;
    }

    /// The same with these options.
    pub async fn start_with(&mut self, options: &[&str]) {
        let log = self.folder.path().join("log");
        let seen = self.log().len();
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        let server = self
            .command(&["serve"])
            .args(options)
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        self.server = Some(server);
        let address = || {
            let log = self.log();
            let rest = log[seen..].split_once("serving at ")?.1;
            Some(rest.split_once(char::is_whitespace)?.0.to_owned())
        };
        self.until("the server tells its address", || async {
            address().is_some()
        })
        .await;
        self.url = address().unwrap();
    }

    /// `kill -9`: no chance to tidy up.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    /// As a deployment does: asks it to end, and waits for that. How long it
    /// took, and whether it says that all went well.
    pub fn stop(&mut self) -> (Duration, bool) {
        let mut server = self.server.take().expect("the server runs");
        let began = Instant::now();
        let told = Command::new("kill").arg(server.id().to_string()).status();
        assert!(told.unwrap().success());
        let status = server.wait().unwrap();
        (began.elapsed(), status.success())
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Queues a run by a configuration in JSON; its id.
    pub fn submit(&self, config: &Value) -> String {
        let file = self.folder.path().join("run.json");
        std::fs::write(&file, config.to_string()).unwrap();
        let said = self.swe_ci(&["run", "submit", file.to_str().unwrap()]);
        assert!(said.status.success(), "{said:?}");
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    }

    /// A run as `swe-ci run show --json` tells it.
    pub async fn run(&self, id: &str) -> Value {
        let run = self.engine().await.run(id).await.unwrap();
        serde_json::to_value(run).unwrap()
    }

    /// Containers made by this data folder's servers, those that ended among
    /// them.
    pub fn containers(&self) -> Vec<String> {
        let instance = std::fs::read_to_string(self.data().join("instance")).unwrap_or_default();
        let filter = format!("label=swe-ci.instance={instance}");
        let listed = Command::new("docker")
            .args(["ps", "-aq", "--filter", &filter])
            .args(["--filter", "label=swe-ci.process"])
            .output();
        let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let ids = listed.unwrap_or_default();
        ids.split_whitespace().map(str::to_owned).collect()
    }

    pub async fn until_finished(&self, id: &str) {
        self.until("the run is finished", || async {
            self.run(id).await["progress"] == "finished"
        })
        .await;
    }

    pub async fn until<F: Future<Output = bool>>(&self, what: &str, done: impl FnMut() -> F) {
        self.until_within(PATIENCE, what, done).await;
    }

    /// The same of what takes longer.
    pub async fn until_within<F: Future<Output = bool>>(
        &self,
        patience: Duration,
        what: &str,
        mut done: impl FnMut() -> F,
    ) {
        let began = Instant::now();
        while !done().await {
            assert!(began.elapsed() < patience, "never: {what}\n{}", self.log());
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        self.kill();
        // What the killed server left is swept by the next one on the same
        // data folder; there will be none, so it is done here.
        for id in self.containers() {
            let _ = Command::new("docker").args(["rm", "-f", &id]).output();
        }
    }
}

/// The configuration of a run that replays the history in chunks.
pub fn replay(model: &str, split: &str, chunks: u32, iterations: u32) -> Value {
    serde_json::json!({
        "model": model,
        "kind": "measured",
        "split": split,
        "harness": { "name": "replay", "max_chunks": chunks },
        "plan": { "max_iterations": iterations, "max_attempts": 2 },
    })
}

/// The folder cargo builds into.
pub fn target() -> PathBuf {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tmp.parent().unwrap().to_path_buf()
}

fn binary(name: &str) -> PathBuf {
    // This test is target/<profile>/deps/it-…
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join(name);
    assert!(
        path.exists(),
        "{} is not built: `make build`",
        path.display()
    );
    path
}
