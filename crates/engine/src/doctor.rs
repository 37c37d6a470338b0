//! Checks everything a run needs, and says how to fix problems.

use swe_ci_base::blocking::blocking;
use swe_ci_sandbox::host;
use swe_ci_sandbox::images::base_image_advice;

use crate::Engine;

#[derive(Debug, Clone, serde::Serialize)]
pub struct Check {
    pub name: &'static str,
    pub ok: bool,
    /// The finding, in words.
    pub found: String,
    /// How to fix it; empty when it is fine.
    pub advice: String,
}

/// A finding, in words; with how to fix it when it is a problem.
type Finding = Result<String, (String, String)>;

impl Check {
    fn new(name: &'static str, finding: Finding) -> Self {
        let ok = finding.is_ok();
        let (found, advice) = finding.map_or_else(|bad| bad, |found| (found, String::new()));
        Self {
            name,
            ok,
            found,
            advice,
        }
    }
}

fn bad(found: impl Into<String>, advice: impl Into<String>) -> Finding {
    Err((found.into(), advice.into()))
}

/// Less free space than this is too little to start with.
const FREE_BYTES: u64 = 5 << 30;

pub(crate) async fn examine(engine: &Engine) -> Vec<Check> {
    let mut checks = vec![
        Check::new("data folder", data_folder(engine)),
        Check::new("database", database(engine).await),
        Check::new("git", git().await),
        Check::new("container engine", docker(engine).await),
    ];
    if checks[3].ok {
        checks.push(Check::new("base image", base_image(engine).await));
        if let Some(image) = any_image(engine).await {
            checks.push(Check::new("isolation", isolation(engine, &image).await));
            checks.push(Check::new("localhost", localhost(engine, &image).await));
        }
    }
    checks.push(Check::new("tasks", tasks(engine).await));
    checks
}

fn data_folder(engine: &Engine) -> Finding {
    let folder = &engine.config.data;
    let shown = folder.display().to_string();
    let probe = folder.join(".probe");
    let written = std::fs::write(&probe, b"x").and_then(|()| std::fs::remove_file(&probe));
    if let Err(error) = written {
        let advice = "set SWE_CI_DATA to a writable folder";
        return bad(format!("{shown}: {error}"), advice);
    }
    match host::free_bytes(folder) {
        Some(free) if free < FREE_BYTES => bad(
            format!("{shown}, {:.1} GiB free", gib(free)),
            format!(
                "free at least {:.0} GiB, or point SWE_CI_DATA elsewhere",
                gib(FREE_BYTES)
            ),
        ),
        Some(free) => Ok(format!("{shown}, {:.0} GiB free", gib(free))),
        None => Ok(shown),
    }
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

async fn database(engine: &Engine) -> Finding {
    let advice = "check SWE_CI_DATABASE_URL and that the database runs";
    match engine.splits().await {
        Ok(splits) => Ok(format!("answers, {} split(s)", splits.len())),
        Err(error) => bad(error.to_string(), advice),
    }
}

async fn git() -> Finding {
    let version = blocking(|| swe_ci_git::checked(swe_ci_git::command().arg("version").output()));
    match version.await {
        Ok(version) => Ok(String::from_utf8_lossy(&version).trim().to_owned()),
        Err(error) => bad(format!("{error:#}"), "install git 2.34 or newer"),
    }
}

async fn docker(engine: &Engine) -> Finding {
    match engine.docker.facts().await {
        Ok(facts) => Ok(facts.to_string()),
        Err(error) => bad(
            error.to_string(),
            "install Docker and start it, or set DOCKER_HOST; from source on Debian `make setup` does it; \
             docs/engines.md has ways without root",
        ),
    }
}

/// An image to try containers with: the base image, or that of a task.
async fn any_image(engine: &Engine) -> Option<String> {
    let base = &engine.config.base_image;
    if let Ok(Some(_)) = engine.images.digest(base).await {
        return Some(base.clone());
    }
    let images = engine.image_cache.images().await.ok()?;
    images.into_iter().next().map(|image| image.name)
}

async fn isolation(engine: &Engine, image: &str) -> Finding {
    match swe_ci_sandbox::probe(engine.sandbox().as_ref(), image).await {
        Ok(found) => Ok(format!(
            "no network, no privileges, few system calls; {}",
            found.limits()
        )),
        Err(error) => bad(
            format!("{error:#}"),
            "agents' code must not run like that: see docs/engines.md and the engine's configuration",
        ),
    }
}

async fn base_image(engine: &Engine) -> Finding {
    let name = &engine.config.base_image;
    match engine.images.digest(name).await {
        Ok(Some(digest)) => Ok(format!("{name} ({})", digest.get(..19).unwrap_or(&digest))),
        Ok(None) if engine.docker.builds_images() => {
            bad(format!("{name} is not there"), base_image_advice(name))
        }
        Ok(None) => Ok("none, since this engine builds no images".into()),
        Err(error) => bad(format!("{error:#}"), "see the container engine above"),
    }
}

async fn localhost(engine: &Engine, image: &str) -> Finding {
    let sandbox = engine.sandbox();
    match swe_ci_dataset::pip::localhost(sandbox.as_ref(), image).await {
        Ok(addresses) => Ok(format!("{addresses} in containers")),
        Err(error) => bad(
            format!("{error:#}"),
            "tests that serve on localhost fail in such containers: see that the engine writes their /etc/hosts, \
             and that loopback works without a network",
        ),
    }
}

async fn tasks(engine: &Engine) -> Finding {
    let splits = engine.splits().await.unwrap_or_default();
    match splits.iter().map(|split| split.ready).sum::<u32>() {
        0 => bad(
            "none is ready",
            "`swe-ci dataset demo` makes four small ones",
        ),
        ready => Ok(format!("{ready} ready")),
    }
}
