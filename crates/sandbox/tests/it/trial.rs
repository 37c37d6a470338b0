//! An engine, and commands in its containers.

use std::env;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use swe_ci_base::clock::ExcludedTime;
use swe_ci_core::run::Limits;
use swe_ci_sandbox::images::Images;
use swe_ci_sandbox::{
    ContainerSpec, Docker, EngineChoice, Exec, Exit, GatewayMount, Instance, Purpose, Sandbox,
    SandboxContainer,
};

const BASE: &str = "swe-ci/base:py311";
/// An image as `docker save` writes it, for engines that have none yet.
const ARCHIVE: &str = "SWE_CI_TEST_IMAGE";
/// How long the end of a process may take.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Trial {
    pub folder: tempfile::TempDir,
    docker: Docker,
    image: String,
}

impl Trial {
    #[expect(
        clippy::disallowed_methods,
        reason = "a script chooses the engine of a whole test run"
    )]
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let choice =
            env::var("SWE_CI_ENGINE").map_or(EngineChoice::Docker, |name| name.parse().unwrap());
        let runtime_folder = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let docker = Docker::new(Instance("test-engines".into()), folder.path())
            .with_engine(choice, runtime_folder)
            .with_runtime(env::var("SWE_CI_CONTAINER_RUNTIME").ok());
        let images = Images::new(docker.clone());
        let image = match images.digest(BASE).await.unwrap() {
            Some(digest) => digest,
            None => {
                let archive = env::var(ARCHIVE).expect("it names an archive of the base image");
                images.load(archive.as_ref()).await.unwrap()
            }
        };
        Self {
            folder,
            docker,
            image,
        }
    }

    pub async fn container(&self, limits: Limits) -> Box<dyn SandboxContainer> {
        self.open(ContainerSpec::new(
            &self.image,
            limits,
            Purpose::Step("test".into()),
        ))
        .await
    }

    /// A container that sees a folder of this machine.
    pub async fn with_folder(&self, folder: PathBuf) -> Box<dyn SandboxContainer> {
        let purpose = Purpose::Step("test".into());
        let mut spec = ContainerSpec::new(&self.image, Limits::default(), purpose);
        spec.gateway = Some(GatewayMount {
            folder,
            inside: "/run/swe-ci",
            relay: ["sh", "-c", "exec sleep infinity"],
        });
        self.open(spec).await
    }

    async fn open(&self, spec: ContainerSpec) -> Box<dyn SandboxContainer> {
        self.docker.open(&spec).await.unwrap()
    }
}

pub fn exec(command: &[&str]) -> Exec {
    Exec {
        command: command.iter().map(|&word| word.to_owned()).collect(),
        env: vec!["GREETING=hello".into()],
        reads_input: false,
        unprivileged: false,
        wanted: None,
        working_dir: "/".into(),
        time_limit: Duration::from_secs(60),
        off: ExcludedTime::default(),
    }
}

/// The exit of a command, and what it printed.
pub async fn run(container: &dyn SandboxContainer, command: &[&str]) -> (Exit, String) {
    let mut printed = String::new();
    let mut on_line = |line: &str| printed.extend([line, "\n"]);
    let exit = container.exec(&exec(command), &mut on_line).await.unwrap();
    (exit, printed)
}

/// The number of processes of this machine with a word in their command line.
pub fn processes_with(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let has = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(word);
    lines.filter(has).count()
}

pub async fn until_none_has(word: &str) {
    let began = Instant::now();
    while processes_with(word) > 0 {
        assert!(began.elapsed() < PATIENCE, "a process with {word} is left");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
