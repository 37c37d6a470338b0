//! The command lines by which bubblewrap makes containers. Another program that does
//! the same without root, such as Apptainer, would stand here; none was tried.
//!
//! A container has a user namespace of its own. In there its layers are mounted as
//! its root, and bubblewrap makes the other namespaces. Each command enters the
//! former, and bubblewrap joins the latter for it.

use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::Exec;

/// Mounts the root, then becomes bubblewrap. Whatever goes wrong before that is told
/// in a file. Is given the folder of the layers, the mount's options, the root, the
/// folder of shared memory, that file, and three others.
const LAUNCH: &str = r#"
    { cd "$1" && mount -t overlay overlay -o "$2" "$3" &&
      mount -t tmpfs -o size=64m,mode=1777 shm "$4"; } 2>"$5" || exit 125
    exec 5>"$6" 8<"$7" 9<"$8"; shift 8; exec "$@""#;
/// Enters a container, then becomes bubblewrap. Is given its first process and two
/// files.
const ENTER: &str = r#"
    exec 7<"/proc/$1/ns/pid" 8<"$2" 9<"$3"; at=$1; shift 3
    exec nsenter --net="/proc/$at/ns/net" --ipc="/proc/$at/ns/ipc" --uts="/proc/$at/ns/uts" "$@""#;
/// Gives a missing program the exit code that shells give it.
const RUN: [&str; 3] = ["sh", "-c", r#"exec "$0" "$@" 7<&-"#];

/// What a container is made of.
#[derive(Debug)]
pub(super) struct Recipe {
    /// Its own files.
    pub folder: PathBuf,
    pub layers_folder: PathBuf,
    /// The names of the layers' folders, highest first.
    pub layers: Vec<String>,
    /// A folder of the host and where code reads it.
    pub mount: Option<(PathBuf, &'static str)>,
    pub env: Vec<String>,
    /// The most processes and threads.
    pub pids: u32,
    pub file_bytes: u64,
}

impl Recipe {
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The files of the container, as its processes see them.
    pub fn root(&self) -> PathBuf {
        self.file("root")
    }

    /// What code has written.
    pub fn upper(&self) -> PathBuf {
        self.file("upper")
    }

    /// The first process.
    pub fn launch(&self, command: &[&str]) -> Command {
        let (layers, work) = (self.layers.join(":"), self.file("work"));
        let options = format!(
            "lowerdir={layers},upperdir={},workdir={},userxattr",
            self.upper().display(),
            work.display()
        );
        let mut launch = Command::new("unshare");
        launch.args(["--user", "--map-root-user", "--mount"]);
        launch.args(["sh", "-c", LAUNCH, "sh"]);
        launch.arg(&self.layers_folder).arg(options);
        let files = ["root", "shm", "problem", "info", "allowed", "refused"];
        launch.args(files.map(|name| self.file(name)));
        self.bubblewrap(&mut launch, "/", &[]);
        launch.args(["--unshare-pid", "--unshare-net", "--unshare-ipc"]);
        launch.args(["--unshare-uts", "--unshare-cgroup-try"]);
        launch.args(["--hostname", super::HOST, "--as-pid-1", "--info-fd", "5"]);
        launch.arg("--").args(command);
        launch
    }

    /// A command beside the first process; the two are those of [`Self::launch`]
    /// and of the container.
    pub fn enter(&self, outer: i32, inner: i32, exec: &Exec) -> Command {
        let mut enter = Command::new("nsenter");
        enter.args(["--preserve-credentials", "--user", "--mount"]);
        enter.args(["--target", &outer.to_string(), "sh", "-c", ENTER, "sh"]);
        enter.arg(inner.to_string());
        enter.args(["allowed", "refused"].map(|name| self.file(name)));
        self.bubblewrap(&mut enter, &exec.working_dir, &exec.env);
        enter
            .args(["--pidns", "7", "--"])
            .args(RUN)
            .args(&exec.command);
        enter
    }

    /// What is the same for all processes of the container.
    fn bubblewrap(&self, to: &mut Command, working_dir: &str, env: &[String]) {
        to.args(["prlimit", "--core=0"]);
        to.arg(format!("--nproc={}", self.pids));
        to.arg(format!("--fsize={}", self.file_bytes));
        to.args([
            "bwrap",
            "--die-with-parent",
            "--new-session",
            "--cap-drop",
            "ALL",
        ]);
        to.args(["--add-seccomp-fd", "8", "--add-seccomp-fd", "9"]);
        let mut bind = |kind: &str, source: &Path, target: &str| {
            to.arg(kind).arg(source).arg(target);
        };
        bind("--bind", &self.root(), "/");
        bind("--ro-bind", &self.file("hosts"), "/etc/hosts");
        if let Some((folder, inside)) = &self.mount {
            bind("--ro-bind", folder, inside);
        }
        to.args(["--proc", "/proc", "--dev", "/dev"]);
        to.arg("--bind").arg(self.file("shm")).arg("/dev/shm");
        to.args(["--chdir", working_dir, "--clearenv"]);
        for setting in self.env.iter().chain(env) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            to.args(["--setenv", name, value]);
        }
    }
}
