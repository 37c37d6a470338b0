//! Containers without an engine and without root: bubblewrap over unpacked images. It
//! runs images and loads them from archives; where images are built, an engine is.
//!
//! Containers die with this process: one thread makes them all, and the kernel kills
//! them when it ends.

mod command;
mod container;
mod files;
mod seccomp;
mod store;

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, mpsc};

use anyhow::{Context, bail, ensure};
use swe_ci_base::files::lock_opened;
use tokio::process::Child;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use self::command::Recipe;
use self::container::BubblewrapContainer;
pub(crate) use self::files::entries;
pub(crate) use self::store::Store;
use crate::{ContainerSpec, SandboxError};

/// A container's name of itself.
const HOST: &str = "container";
const HOSTS: &str = "127.0.0.1 localhost container\n::1 localhost ip6-localhost ip6-loopback\n";
/// What every command begins with, unless the image says otherwise.
const ENV: [&str; 3] = [
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
    "HOSTNAME=container",
];
/// What the folder of a process is locked by.
const LOCK: &str = "lock";
/// The programs that make containers; all but the first are of util-linux.
const PROGRAMS: [&str; 4] = ["bwrap", "unshare", "nsenter", "prlimit"];

/// The way to make containers by bubblewrap in a data folder.
#[derive(Debug, Clone)]
pub(crate) struct Bubblewrap {
    pub store: Store,
    pub version: String,
    /// Where the containers of this process are.
    folder: Arc<ProcessFolder>,
}

/// Its lock tells other processes that this one is alive.
#[derive(Debug)]
struct ProcessFolder {
    path: PathBuf,
    _lock: File,
}

impl Drop for ProcessFolder {
    fn drop(&mut self) {
        let _ = files::remove(&self.path);
    }
}

impl Bubblewrap {
    /// Blocks.
    ///
    /// # Errors
    /// When this user cannot make containers here, with what to do about it.
    pub fn open(root: &Path) -> anyhow::Result<Self> {
        let version = usable()?;
        DirBuilder::new().recursive(true).mode(0o700).create(root)?;
        let store = Store::open(root.canonicalize()?)?;
        let run = store.root.join("run");
        clean(&run);
        let path = run.join(uuid::Uuid::now_v7().simple().to_string());
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::create(path.join(LOCK))?;
        lock.lock()?;
        let folder = Arc::new(ProcessFolder { path, _lock: lock });
        Ok(Self {
            store,
            version,
            folder,
        })
    }

    /// Makes and starts a container.
    pub async fn container(
        &self,
        spec: &ContainerSpec,
        profile: &'static str,
    ) -> Result<BubblewrapContainer, SandboxError> {
        if spec.layer.is_some() {
            return Err(anyhow::anyhow!("bubblewrap mounts no layers").into());
        }
        let (engine, of) = (self.clone(), spec.clone());
        let made = tokio::task::spawn_blocking(move || engine.recipe(&of, profile));
        let recipe = made.await.map_err(anyhow::Error::new)??;
        BubblewrapContainer::start(self, recipe, spec).await
    }

    /// Blocks.
    fn recipe(&self, spec: &ContainerSpec, profile: &str) -> Result<Recipe, SandboxError> {
        let image = self.store.image(&spec.image);
        let image = image.ok_or_else(|| SandboxError::NoImage(spec.image.clone()))?;
        let id = uuid::Uuid::now_v7().simple().to_string();
        let folder = self.folder.path.join(id);
        let names = image.layers().into_iter().rev().filter_map(|layer| {
            let folder = self.store.layer(&layer);
            Some(folder.file_name()?.to_str()?.to_owned())
        });
        let recipe = Recipe {
            layers_folder: self.store.root.join("layers"),
            layers: names.collect(),
            mount: spec.gateway.as_ref().map(|g| (g.folder.clone(), g.inside)),
            env: ENV
                .map(str::to_owned)
                .into_iter()
                .chain(image.env())
                .collect(),
            pids: spec.limits.pids,
            file_bytes: u64::from(spec.limits.disk_mb) << 20,
            folder,
        };
        let write = || {
            for part in ["root", "upper", "work", "shm"] {
                fs::create_dir_all(recipe.file(part))?;
            }
            fs::write(recipe.file("image"), &image.digest)?;
            fs::write(recipe.file("hosts"), HOSTS)?;
            let [allowed, refused] = seccomp::programs(profile)?;
            fs::write(recipe.file("allowed"), allowed)?;
            fs::write(recipe.file("refused"), refused)?;
            anyhow::Ok(())
        };
        write().with_context(|| format!("cannot write {}", recipe.folder.display()))?;
        Ok(recipe)
    }
}

/// The version of bubblewrap, if this user can make containers.
fn usable() -> anyhow::Result<String> {
    ensure!(
        !rustix::process::geteuid().is_root(),
        "bubblewrap is for ordinary users: to the kernel, the code in its containers is its user"
    );
    for program in PROGRAMS {
        let found = Command::new(program).arg("--version").output();
        found.with_context(|| {
            format!("cannot run {program}; install the packages bubblewrap and util-linux")
        })?;
    }
    let mut trial = Command::new("unshare");
    trial.args(["--user", "--map-root-user", "--mount", "true"]);
    let trial = trial.stdin(Stdio::null()).output()?;
    if !trial.status.success() {
        bail!(
            "the kernel gives ordinary users no namespaces ({}); an administrator allows them by \
             kernel.unprivileged_userns_clone=1, user.max_user_namespaces or \
             kernel.apparmor_restrict_unprivileged_userns=0",
            String::from_utf8_lossy(&trial.stderr).trim()
        );
    }
    let version = Command::new(PROGRAMS[0]).arg("--version").output()?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    Ok(version
        .split_whitespace()
        .last()
        .unwrap_or_default()
        .to_owned())
}

/// Removes what killed processes left: their containers died with them.
fn clean(run: &Path) {
    for entry in fs::read_dir(run).into_iter().flatten().flatten() {
        let lock = File::open(entry.path().join(LOCK)).and_then(lock_opened);
        if let Ok(Some(_lock)) = lock {
            let _ = files::remove(&entry.path());
        }
    }
}

type Spawn = (
    tokio::process::Command,
    Handle,
    oneshot::Sender<std::io::Result<Child>>,
);

/// The thread that makes processes. It lives as long as this process, and they die
/// with it: a thread of the runtime may end earlier.
static SPAWNER: LazyLock<mpsc::Sender<Spawn>> = LazyLock::new(|| {
    let (sender, receiver) = mpsc::channel::<Spawn>();
    std::thread::spawn(move || {
        for (mut command, runtime, answer) in receiver {
            let _inside = runtime.enter();
            let _ = answer.send(command.spawn());
        }
    });
    sender
});

async fn spawn(mut command: tokio::process::Command) -> Result<Child, SandboxError> {
    // Nothing of this process's environment is for others, and no signal of its
    // terminal.
    let path = ENV[0].trim_start_matches("PATH=");
    command.env_clear().env("PATH", path).process_group(0);
    let (sender, receiver) = oneshot::channel();
    let gone = || SandboxError::Engine("no thread makes processes any more".into());
    let sent = SPAWNER.send((command, Handle::current(), sender));
    sent.map_err(|_| gone())?;
    let spawned = receiver.await.map_err(|_| gone())?;
    spawned.map_err(|e| SandboxError::Engine(format!("cannot start a process: {e}")))
}
