//! Checks everything a run needs, and says how to fix problems.

use swe_ci_sandbox::host;

use crate::Engine;

/// The result of one check.
#[derive(Debug, Clone)]
pub struct Check {
    pub name: &'static str,
    pub ok: bool,
    /// The finding, in words.
    pub found: String,
    /// How to fix it; empty when it is fine.
    pub advice: String,
}

impl Check {
    fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            found: found.into(),
            advice: String::new(),
        }
    }

    fn bad(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            name,
            ok: false,
            found: found.into(),
            advice: advice.into(),
        }
    }
}

/// Less free space than this is too little to start with.
const FREE_BYTES: u64 = 5 << 30;

pub(crate) async fn examine(engine: &Engine) -> Vec<Check> {
    let mut checks = vec![data_folder(engine), database(engine).await];
    let docker = docker(engine).await;
    let reachable = docker.ok;
    checks.push(docker);
    if reachable {
        checks.push(base_image(engine).await);
    }
    checks.push(demo(engine).await);
    checks
}

fn data_folder(engine: &Engine) -> Check {
    let folder = &engine.config().data;
    let shown = folder.display().to_string();
    let probe = folder.join(".probe");
    let written = std::fs::write(&probe, b"x").and_then(|()| std::fs::remove_file(&probe));
    if let Err(error) = written {
        return Check::bad(
            "data folder",
            format!("{shown}: {error}"),
            "set SWE_CI_DATA to a writable folder",
        );
    }
    match host::free_bytes(folder) {
        Some(free) if free < FREE_BYTES => Check::bad(
            "data folder",
            format!("{shown}, {:.1} GiB free", gib(free)),
            format!(
                "free at least {:.0} GiB, or point SWE_CI_DATA elsewhere",
                gib(FREE_BYTES)
            ),
        ),
        Some(free) => Check::fine("data folder", format!("{shown}, {:.0} GiB free", gib(free))),
        None => Check::fine("data folder", shown),
    }
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

async fn database(engine: &Engine) -> Check {
    match engine.splits().await {
        Ok(splits) => Check::fine("database", format!("answers, {} split(s)", splits.len())),
        Err(error) => Check::bad(
            "database",
            error.to_string(),
            "check SWE_CI_DATABASE_URL and that the database runs",
        ),
    }
}

async fn docker(engine: &Engine) -> Check {
    let advice = "`make setup` installs and starts an engine on Debian; elsewhere start Docker, or set DOCKER_HOST";
    let api = match engine.docker.api() {
        Ok(api) => api,
        Err(error) => return Check::bad("container engine", error.to_string(), advice),
    };
    match api.version().await {
        Ok(version) => Check::fine(
            "container engine",
            format!("Docker {}", version.version.unwrap_or_default()),
        ),
        Err(error) => Check::bad("container engine", error.to_string(), advice),
    }
}

async fn base_image(engine: &Engine) -> Check {
    let name = &engine.config().base_image;
    match engine.images.digest(name).await {
        Ok(Some(digest)) => Check::fine(
            "base image",
            format!("{name} ({})", digest.get(..19).unwrap_or(&digest)),
        ),
        Ok(None) => Check::bad(
            "base image",
            format!("{name} is not there"),
            "`make setup` fetches or makes it",
        ),
        Err(error) => Check::bad(
            "base image",
            format!("{error:#}"),
            "see the container engine above",
        ),
    }
}

async fn demo(engine: &Engine) -> Check {
    match engine.splits().await {
        Ok(splits) if splits.iter().any(|s| s.ready > 0) => {
            let ready: u32 = splits.iter().map(|s| s.ready).sum();
            Check::fine("tasks", format!("{ready} ready"))
        }
        _ => Check::bad(
            "tasks",
            "none is ready",
            "`swe-ci dataset demo` makes four small ones",
        ),
    }
}
