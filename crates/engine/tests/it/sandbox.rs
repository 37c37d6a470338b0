//! Containers run commands and take files, also in ways that no step needs: images that
//! lack a program, volumes that an image declares, processes that are left behind,
//! and files that do not come with the output.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_core::run::Limits;
use swe_ci_sandbox::{
    ContainerSpec, Docker, Exec, Exit, Instance, Purpose, Sandbox, SandboxContainer, SandboxError,
    WantedFiles,
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
        unprivileged: false,
        wanted: None,
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

/// An image of the base and this line.
fn image_with(line: &str) -> String {
    let image = format!("swe-ci/test:{}", uuid::Uuid::now_v7().simple());
    let recipe = format!("FROM {BASE}\n{line}\n");
    docker(&["build", "--quiet", "--tag", &image, "-"], &recipe);
    image
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_needs_no_tar() {
    let image = image_with("RUN rm $(command -v tar)");
    let installation = Installation::new();
    let container = installation.container(&image, Limits::default()).await;
    // The second command is none of the first process.
    let mut ran = Vec::new();
    for _ in 0..2 {
        ran.push(run_with_files(container.as_ref(), LOOK).await);
    }
    drop(container);
    drop(installation);
    docker(&["rmi", "--force", &image], "");
    for (exit, lines) in ran {
        let seen = SEEN.map(String::from);
        assert_eq!((exit, &*lines), (Exit::Code(3), &seen[..]));
    }
}

/// Whether or not they come with the output of the command that left them.
#[tokio::test(flavor = "multi_thread")]
async fn wanted_files_come_from_any_container() {
    let installation = Installation::new();
    let script = "mkdir code/new; printf 'b = 2\\n' >code/new/b.py; ln -s new/b.py code/link; \
        chmod +x code/pkg/a.py; echo printed; ";
    let spoilt = ["", "chmod 0 code/new/b.py", "rm $(command -v tar)"];
    let mut trees = Vec::new();
    for more in spoilt {
        let container = installation.container(BASE, Limits::default()).await;
        for path in ["/app/code", "/app/code/gone"] {
            let wanted = WantedFiles::folder(path, 100);
            let command = Exec {
                wanted: Some(wanted.clone()),
                ..exec(&format!("{script}{more}"))
            };
            let mut code = CodeTree::default();
            code.insert_file("pkg/a.py", "a = 1\n");
            let mut lines = Vec::new();
            let mut on_line = |line: &str| lines.push(line.to_owned());
            let parts = [("/app/code", &code)];
            if !path.ends_with("gone") {
                let exit = container.exec_with(&parts, &command, &mut on_line).await;
                assert_eq!(
                    (exit.unwrap(), &*lines),
                    (Exit::Code(0), &["printed".to_owned()][..])
                );
            }
            trees.push(container.get(&wanted).await.unwrap());
            let little = WantedFiles::folder(path, 10);
            if let Some(Some(_)) = trees.last() {
                let refused = container.get(&little).await;
                assert!(matches!(refused, Err(SandboxError::TooBig { .. })));
            }
        }
    }
    let first = trees[0].clone().unwrap();
    let paths: Vec<&str> = first.paths().collect();
    assert_eq!(paths, ["link", "new/b.py", "pkg/a.py"]);
    for pair in trees.chunks(2) {
        assert_eq!(pair, [Some(first.clone()), None]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_ends_although_processes_stay() {
    let installation = Installation::new();
    let run = async |script: &str| {
        let container = installation.container(BASE, Limits::default()).await;
        let command = Exec {
            working_dir: "/".into(),
            ..exec(script)
        };
        let mut lines = Vec::new();
        let mut on_line = |line: &str| lines.push(line.to_owned());
        let exit = container.exec(&command, &mut on_line).await;
        (exit.unwrap(), lines.join(" "))
    };
    let began = std::time::Instant::now();
    let left = run("sleep 100 & echo one; echo two >&2; printf three; exit 5").await;
    assert_eq!(left.0, Exit::Code(5));
    for word in ["one", "two", "three"] {
        assert!(left.1.contains(word), "{left:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(50));
    // Neither its group nor its parent takes the container with it.
    let killed = run("kill -9 $PPID; kill -9 0").await;
    assert_eq!(killed.0, Exit::Code(137));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_of_the_image_counts_as_disk() {
    let image = image_with("VOLUME /data");
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
