//! Builds an image in which the tests of a source distribution run, with
//! repairs. Needs Docker, the base image `swe-ci/base:py311` and the package
//! index:
//!
//! ```sh
//! cargo run -p swe-ci-curate --example environment -- <cache folder> <name>==<version>…
//! ```
//!
//! `<folder>@<time>`, such as `../project@2024-01-05T10:00:00Z`, uses a local
//! folder. The cache folder keeps builds, their last output and the attempts
//! under `builds/`.
//!
//! The release stands in for a commit, and its upload time for the commit's
//! time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use jiff::Timestamp;
use swe_ci_curate::environment::configuration::{Configuration, Files};
use swe_ci_curate::environment::diagnosis::{diagnose, missing_modules, own_modules};
use swe_ci_curate::environment::distribution::{Finder, Index, IndexFile, Provider};
use swe_ci_curate::environment::python;
use swe_ci_curate::environment::recipe::{CODE, Recipe};
use swe_ci_curate::environment::repair::Repair;

const CA: &str = "/etc/ssl/certs/ca-certificates.crt";
const INDEX: &str = "https://pypi.org/simple";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let cache = PathBuf::from(arguments.next().context("name the cache folder")?);
    let ca = std::fs::read(CA).ok();
    for release in arguments {
        let index = || Index::new(INDEX, &cache.join("index"), ca.as_deref());
        if let Err(error) = attempt(&release, index()?, &Finder::new(index()?), &cache).await {
            say(&format!("{release}: {error:#}"));
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the example reports on stdout")]
fn say(text: &str) {
    println!("{text}");
}

async fn attempt(release: &str, index: Index, finder: &Finder, cache: &Path) -> anyhow::Result<()> {
    let folder = cache
        .join("builds")
        .join(release.replace("==", "-").replace('/', "_"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let (name, version, uploaded) = if let Some((code, time)) = release.split_once('@') {
        let copied = Command::new("cp")
            .arg("-r")
            .arg(code)
            .arg(folder.join(CODE))
            .status()?;
        ensure!(copied.success(), "cannot copy {code}");
        ("folder", "1.2.3", time.parse()?)
    } else {
        let (name, version) = release.split_once("==").context("pass name==version")?;
        let file = sdist(&index, name, version).await?;
        unpack(&index.download(&file).await?, &folder.join(CODE))?;
        (
            name,
            version,
            file.upload_time
                .context("the index does not publish its upload time")?,
        )
    };
    let (files, paths) = tree(&folder.join(CODE))?;
    let own = own_modules(paths.iter().map(String::as_str));

    let configuration = Configuration::read(&files);
    say(&format!(
        "\n# {release}, uploaded {uploaded}\n{configuration:?}"
    ));
    let images = python::BaseImages::from([("3.11".into(), "swe-ci/base:py311".into())]);
    let day = uploaded.to_zoned(jiff::tz::TimeZone::UTC).date();
    let interpreter = python::choose(&configuration, &images, day)?;
    say(&format!(
        "python {}: {}",
        interpreter.version, interpreter.reason
    ));
    let mut recipe = Recipe::new(&configuration, &interpreter, uploaded, Some(version))?;
    let mut repair = Repair::new(5);
    let tag = format!("environment-try:{}", name.to_lowercase());
    let mut launched = None;
    loop {
        let began = Instant::now();
        let (built, mut output) = build(&recipe, &folder, &tag)?;
        say(&format!(
            "build {} in {:.1} s",
            if built { "done" } else { "failed" },
            began.elapsed().as_secs_f64()
        ));
        if built {
            let began = Instant::now();
            let (code, report) = tests(&folder.join(CODE), &tag)?;
            let last = report.lines().last().unwrap_or_default();
            say(&format!(
                "pytest ended with {code} in {:.1} s: {last}",
                began.elapsed().as_secs_f64()
            ));
            if code < 2 {
                launched = Some(recipe.clone());
            }
            if code == 0 {
                break;
            }
            // Failing tests may name a package the environment lacks.
            output = report;
        }
        std::fs::write(folder.join("output.txt"), &output)?;
        let findings = diagnose(&output, &own);
        let found = find(finder, &missing_modules(&findings), uploaded).await?;
        let next = repair.next(&recipe, &findings, &found);
        let attempt = repair.attempts.last().context("an attempt was made")?;
        say(&format!(
            "findings {:?}\nactions {:?}\nreasons {:?}",
            attempt.findings, attempt.actions, attempt.reasons
        ));
        match next {
            Some(next) => recipe = next,
            None => break,
        }
    }
    let Some(recipe) = launched else {
        bail!("not repaired; see {}", folder.join("output.txt").display());
    };
    say(&format!(
        "FROM {}\n{}\n{}",
        recipe.base_image,
        recipe.lines().join("\n"),
        recipe.files()[0].1
    ));
    std::fs::write(
        folder.join("attempts.json"),
        serde_json::to_vec_pretty(&repair)?,
    )?;
    Ok(())
}

async fn sdist(index: &Index, name: &str, version: &str) -> anyhow::Result<IndexFile> {
    let files = index.files(name).await?;
    let fits = |file: &&IndexFile| !file.is_wheel() && file.version().as_deref() == Some(version);
    files
        .iter()
        .find(fits)
        .cloned()
        .with_context(|| format!("no {name}-{version}.tar.gz on the index"))
}

async fn find(
    finder: &Finder,
    modules: &[&str],
    cut_off: Timestamp,
) -> anyhow::Result<BTreeMap<String, Provider>> {
    let mut all = BTreeMap::new();
    for module in modules {
        if let Some(found) = finder.find(module, cut_off).await? {
            all.insert((*module).to_owned(), found);
        }
    }
    Ok(all)
}

/// Unpacks an archive without its top folder, which has the name of the
/// release.
fn unpack(bytes: &[u8], to: &Path) -> anyhow::Result<()> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path: PathBuf = entry.path()?.components().skip(1).collect();
        if entry.header().entry_type().is_file() {
            let to = to.join(path);
            std::fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            entry.unpack(&to)?;
        }
    }
    Ok(())
}

/// The files a configuration is read from, and the paths of all files.
fn tree(root: &Path) -> anyhow::Result<(Files, Vec<String>)> {
    let (mut files, mut paths) = (Files::new(), Vec::new());
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
            if !name.contains('/') || name.starts_with("requirements/") {
                files.insert(name.clone(), std::fs::read(&path)?);
            }
            paths.push(name);
        }
    }
    Ok((files, paths))
}

/// Builds like the engine's `Images::build`, with the CA bundle for `RUN`
/// lines.
fn build(recipe: &Recipe, folder: &Path, tag: &str) -> anyhow::Result<(bool, String)> {
    std::fs::copy(CA, folder.join("host-ca.crt"))?;
    let mut dockerfile = format!(
        "FROM {}\nCOPY host-ca.crt /tmp/host-ca.crt\n",
        recipe.base_image
    );
    for line in recipe.lines() {
        let line = match line.strip_prefix("RUN ") {
            Some(command) => format!(
                "RUN export SSL_CERT_FILE=/tmp/host-ca.crt; export PIP_CERT=/tmp/host-ca.crt; {command}"
            ),
            None => line,
        };
        dockerfile += &format!("{line}\n");
    }
    for (path, content) in recipe.files() {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        std::fs::write(path, content)?;
    }
    std::fs::write(folder.join("Dockerfile"), dockerfile)?;
    let built = Command::new("docker")
        .args([
            "build",
            "--network",
            "host",
            "--rm",
            "--force-rm",
            "-t",
            tag,
        ])
        .arg(folder)
        .env("DOCKER_BUILDKIT", "0")
        .stdin(Stdio::null())
        .output()?;
    let text = [built.stdout, built.stderr].concat();
    Ok((
        built.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    ))
}

/// Runs the tests like the engine's suite: without a network, with the code
/// copied in.
fn tests(code: &Path, tag: &str) -> anyhow::Result<(i32, String)> {
    let name = format!("environment-try-{}", std::process::id());
    let made = Command::new("docker")
        .args([
            "create",
            "--name",
            &name,
            "--network",
            "none",
            "-w",
            "/app/code",
            "-e",
            "PYTHONPATH=src:.",
            tag,
        ])
        .args([
            "python",
            "-m",
            "pytest",
            "-o",
            "addopts=",
            "--json-report",
            "--json-report-file=/tmp/r.json",
            "tests",
        ])
        .output()?;
    ensure!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let copied = Command::new("docker")
        .arg("cp")
        .arg(code.join("."))
        .arg(format!("{name}:/app/code"))
        .output()?;
    ensure!(
        copied.status.success(),
        "{}",
        String::from_utf8_lossy(&copied.stderr)
    );
    let ran = Command::new("docker")
        .args(["start", "-a", &name])
        .output()?;
    Command::new("docker").args(["rm", "-f", &name]).output()?;
    let text = [ran.stdout, ran.stderr].concat();
    Ok((
        ran.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&text).into_owned(),
    ))
}
