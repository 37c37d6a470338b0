//! What containers do with files, beyond what steps need: images that lack a
//! program, and volumes that an image declares.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_core::run::Limits;
use swe_ci_sandbox::{
    ContainerSpec, Docker, Exec, Exit, Instance, Purpose, Sandbox, SandboxContainer,
};

const BASE: &str = "swe-ci/base:py311";

/// A container of an installation of its own, which is removed with it.
struct Installation {
    folder: tempfile::TempDir,
    name: String,
}

impl Installation {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("test-{}", uuid::Uuid::now_v7());
        Self { folder, name }
    }

    async fn container(&self, image: &str, limits: Limits) -> Box<dyn SandboxContainer> {
        let docker = Docker::new(Instance(self.name.clone()), self.folder.path());
        let purpose = Purpose::Step("test".into());
        let spec = ContainerSpec::new(image, limits, purpose);
        docker.open(&spec).await.unwrap()
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        let filter = format!("label=swe-ci.instance={}", self.name);
        let left = docker(&["ps", "-aq", "--filter", &filter], "");
        for container in left.lines() {
            // It may be on its way out.
            let removed = ["rm", "--force", "--volumes", container];
            let _ = Command::new("docker").args(removed).output();
        }
    }
}

fn docker(args: &[&str], input: &str) -> String {
    let mut command = Command::new("docker")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = command.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = command.wait_with_output().unwrap();
    assert!(output.status.success(), "docker {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn exec(script: &str) -> Exec {
    Exec {
        command: ["sh", "-c", script].map(str::to_owned).into(),
        env: vec!["GREETING=hello".into()],
        reads_input: false,
        working_dir: "/app".into(),
        time_limit: Duration::from_secs(60),
        off: ExcludedTime::default(),
    }
}

/// The exit of a command that gets some files, and what it prints.
async fn run_with_files(container: &dyn SandboxContainer, script: &str) -> (Exit, Vec<String>) {
    let mut code = CodeTree::default();
    code.insert_file("pkg/a.py", "a = 1\n");
    let mut job = CodeTree::default();
    job.insert_file("large", vec![b'x'; 1 << 20]);
    let parts = [("/app/code", &code), ("/app/harness", &job)];
    let mut lines = Vec::new();
    let mut on_line = |line: &str| lines.push(line.to_owned());
    let exit = container
        .exec_with(&parts, &exec(script), &mut on_line)
        .await
        .unwrap();
    (exit, lines)
}

const LOOK: &str = "pwd; echo $GREETING; cat; cat code/pkg/a.py; wc -c <harness/large; exit 3";
const SEEN: [&str; 4] = ["/app", "hello", "a = 1", "1048576"];

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_on_files() {
    let installation = Installation::new();
    let container = installation.container(BASE, Limits::default()).await;
    let (exit, lines) = run_with_files(container.as_ref(), LOOK).await;
    assert_eq!(
        (exit, &*lines),
        (Exit::Code(3), &SEEN.map(String::from)[..])
    );
    // A command that prints what the platform does is no other.
    let (exit, lines) = run_with_files(
        container.as_ref(),
        "echo '<swe-ci: the files are in place>'; exit 4",
    )
    .await;
    assert_eq!(exit, Exit::Code(4));
    assert_eq!(lines, ["<swe-ci: the files are in place>"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_needs_no_tar() {
    let installation = Installation::new();
    let container = installation.container(BASE, Limits::default()).await;
    let mut on_line = |_: &str| {};
    let removal = Exec {
        working_dir: "/".into(),
        ..exec("rm $(command -v tar)")
    };
    let removed = container.exec(&removal, &mut on_line).await.unwrap();
    assert_eq!(removed, Exit::Code(0));
    let (exit, lines) = run_with_files(container.as_ref(), LOOK).await;
    assert_eq!(
        (exit, &*lines),
        (Exit::Code(3), &SEEN.map(String::from)[..])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_of_the_image_counts_as_disk() {
    let image = format!("swe-ci/test:{}", uuid::Uuid::now_v7().simple());
    let recipe = format!("FROM {BASE}\nVOLUME /data\n");
    docker(&["build", "--quiet", "--tag", &image, "-"], &recipe);
    let installation = Installation::new();
    let limits = Limits {
        disk_mb: 16,
        ..Limits::default()
    };
    let container = installation.container(&image, limits).await;
    let flood = Exec {
        working_dir: "/".into(),
        ..exec("for n in 1 2 3; do head -c 10M /dev/zero > /data/$n; done; sleep 50")
    };
    let mut on_line = |_: &str| {};
    let exit = container.exec(&flood, &mut on_line).await.unwrap();
    drop(container);
    drop(installation);
    docker(&["rmi", "--force", &image], "");
    assert_eq!(exit, Exit::DiskSpent);
}
