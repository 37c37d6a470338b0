//! Images: built, saved, loaded, looked up. The only place where something of
//! ours has a network, and only while an image is built.

mod layers;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use bollard::query_parameters::{BuildImageOptionsBuilder, ImportImageOptions, RemoveImageOptions};
use futures::{StreamExt, TryStreamExt};
use tokio_util::io::ReaderStream;

pub use layers::{Held, Layer};

use crate::code::CodeTree;
use crate::sandbox::Docker;

/// The file of a build context with the host's CA bundle.
const CA_FILE: &str = "host-ca.crt";
/// Settings the engine passes to `RUN` lines by itself, in either case, and
/// keeps out of an image's history.
const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "ftp_proxy", "no_proxy"];
/// What code of others may take while an image is built: all the container
/// engine lets be asked for.
const MEMORY: i32 = i32::MAX;
/// How often a removal is tried again while a container is in the way, and
/// after which time: those that have ended are on their way out.
const TRIES: usize = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(500);
/// The most characters of a step that are told.
const TOLD: usize = 100;

/// Where certificates of the usual distributions are.
const CA_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The host's CA bundle, if it is in one of the usual places.
#[must_use]
pub fn usual_ca_bundle() -> Option<PathBuf> {
    CA_BUNDLES
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.is_file())
}

/// An image to be made.
pub struct Order<'a> {
    pub tag: &'a str,
    pub from: &'a str,
    /// After `FROM`.
    pub lines: &'a [&'a str],
    /// What the lines copy.
    pub files: CodeTree,
    pub network: &'a BuildNetwork,
    /// For lines that run code of others: with 2 GiB of memory, and not in this
    /// machine's own network, where they would find what listens to nobody but
    /// the machine.
    pub apart: bool,
}

#[derive(Debug, Clone)]
pub struct Images {
    docker: Docker,
}

/// What image builds are given of the host's network settings.
#[derive(Debug, Clone, Default)]
pub struct BuildNetwork {
    /// Proxies and package registries, passed as build arguments: no container
    /// has them. An image's history tells all but the proxies.
    pub env: Vec<(String, String)>,
    /// The host's CA bundle, in use during the build alone. No container has
    /// it; a layer further down in the image does, and certificates are public.
    pub ca_bundle: Option<Vec<u8>>,
}

impl Images {
    pub fn new(docker: Docker) -> Self {
        Self { docker }
    }

    /// Content digest of an image by name or digest; `None` when the engine
    /// does not have it.
    pub async fn digest(&self, name: &str) -> anyhow::Result<Option<String>> {
        match self.docker.api()?.inspect_image(name).await {
            Ok(image) => Ok(image.id),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error).context("the container engine did not answer"),
        }
    }

    /// Where the container engine keeps images, when that is on this machine.
    pub async fn folder(&self) -> Option<PathBuf> {
        let info = self.docker.api().ok()?.info().await.ok()?;
        info.docker_root_dir
            .map(PathBuf::from)
            .filter(|f| f.is_dir())
    }

    /// Removes an image under all its names, with the layers no other image
    /// has; false when something still needs it.
    pub async fn remove(&self, digest: &str) -> anyhow::Result<bool> {
        let api = self.docker.api()?;
        let image = match api.inspect_image(digest).await {
            Ok(image) => image,
            Err(error) if is_absent(&error) => return Ok(true),
            Err(error) => return Err(error).context("the container engine did not answer"),
        };
        // By its digest, an image goes only when it has but one name.
        let mut names = image.repo_tags.unwrap_or_default();
        if names.len() < 2 {
            names = vec![digest.to_owned()];
        }
        for name in names {
            let mut tries = TRIES;
            while !self.remove_one(&name).await? {
                tries -= 1;
                if tries == 0 {
                    return Ok(false);
                }
                tokio::time::sleep(BETWEEN_TRIES).await;
            }
        }
        Ok(true)
    }

    async fn remove_one(&self, name: &str) -> anyhow::Result<bool> {
        let options = None::<RemoveImageOptions>;
        match self.docker.api()?.remove_image(name, options, None).await {
            Ok(_) => Ok(true),
            Err(error) if is_absent(&error) => Ok(true),
            Err(bollard::errors::Error::DockerResponseServerError {
                status_code: 409, ..
            }) => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot remove the image {name}")),
        }
    }

    /// Builds `tag` from lines of a Dockerfile. `RUN` lines see the host's CA
    /// bundle, proxies and registries.
    pub async fn build(
        &self,
        tag: &str,
        from: &str,
        lines: &[&str],
        network: &BuildNetwork,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<String> {
        let order = Order {
            tag,
            from,
            lines,
            files: CodeTree::default(),
            network,
            apart: false,
        };
        let mut last = Vec::new();
        let hear = |line: &str| {
            if line.starts_with("Step ") {
                say(readable(line));
            }
            last.push(line.to_owned());
            last.drain(..last.len().saturating_sub(30));
        };
        for (name, _) in network.split().1 {
            say(format!(
                "{name} is kept from the build: it names a user, and an image's history would tell it"
            ));
        }
        match self.make(order, hear).await? {
            Ok(digest) => Ok(digest),
            Err(problem) => bail!(
                "cannot build the image {tag}: {problem}\n{}",
                last.join("\n")
            ),
        }
    }

    /// Builds an image and tells every line of what is printed meanwhile. What
    /// the lines do wrong is not the engine's failure, and told inside.
    pub async fn make(
        &self,
        order: Order<'_>,
        mut hear: impl FnMut(&str),
    ) -> anyhow::Result<Result<String, String>> {
        let Order {
            tag,
            from,
            lines,
            files,
            network,
            apart,
        } = order;
        let (env, _) = network.split();
        let env: HashMap<&str, &str> = env.into_iter().collect();
        let context = context(from, lines, files, network).to_tar("")?;
        let options = BuildImageOptionsBuilder::default()
            .t(tag)
            .rm(true)
            .forcerm(true)
            .buildargs(&env);
        let options = match apart {
            true => options
                .networkmode("bridge")
                .memory(MEMORY)
                .memswap(MEMORY)
                .build(),
            false => options.networkmode("host").build(),
        };
        let body = Some(bollard::body_full(context.into()));
        let mut build = std::pin::pin!(self.docker.api()?.build_image(options, None, body));
        while let Some(info) = build.next().await {
            let info = match info {
                Ok(info) => info,
                // The stream may carry the failure of a line as its own.
                Err(bollard::errors::Error::DockerStreamError { error }) => return Ok(Err(error)),
                Err(error) => return Err(anyhow!("cannot build the image {tag}: {error}")),
            };
            let printed = info.stream.iter().flat_map(|text| text.lines());
            for line in printed.filter(|line| !line.trim().is_empty()) {
                hear(line);
            }
            if let Some(problem) = info.error_detail.and_then(|e| e.message) {
                return Ok(Err(problem));
            }
        }
        let digest = self.digest(tag).await?;
        let digest = digest.with_context(|| format!("the image {tag} was built and is not there"));
        digest.map(Ok)
    }

    /// Writes an image as `docker save` does, gzipped.
    pub async fn save(&self, name: &str, to: &Path) -> anyhow::Result<()> {
        let partial = crate::files::beside(to, "partial");
        let file = std::fs::File::create(&partial)
            .with_context(|| format!("cannot create {}", partial.display()))?;
        let (sender, receiver) = std::sync::mpsc::sync_channel::<bytes::Bytes>(16);
        // Packing blocks, and so goes beside the reading.
        let packing = tokio::task::spawn_blocking(move || {
            let mut gzip = flate2::write::GzEncoder::new(
                std::io::BufWriter::new(file),
                flate2::Compression::fast(),
            );
            for chunk in receiver {
                std::io::Write::write_all(&mut gzip, &chunk)?;
            }
            gzip.finish()?
                .into_inner()
                .map_err(std::io::IntoInnerError::into_error)?
                .sync_all()
        });
        let mut stream = std::pin::pin!(self.docker.api()?.export_image(name));
        while let Some(chunk) = stream
            .try_next()
            .await
            .with_context(|| format!("cannot save the image {name}"))?
        {
            let sender = sender.clone();
            if tokio::task::spawn_blocking(move || sender.send(chunk))
                .await?
                .is_err()
            {
                break; // the packing ended early; its error says why
            }
        }
        drop(sender);
        packing
            .await?
            .with_context(|| format!("cannot write {}: is the disk full?", partial.display()))?;
        std::fs::rename(&partial, to)?;
        Ok(())
    }

    /// Loads an image archive and returns the image's content digest.
    pub async fn load(&self, archive: &Path) -> anyhow::Result<String> {
        let shown = archive.display();
        let file = tokio::fs::File::open(archive)
            .await
            .with_context(|| format!("cannot open {shown}"))?;
        let stream = ReaderStream::with_capacity(file, 1 << 20);
        let mut load = std::pin::pin!(self.docker.api()?.import_image_stream(
            ImportImageOptions::default(),
            stream,
            None
        ));
        let mut loaded = None;
        while let Some(info) = load.next().await {
            let info =
                info.map_err(|e| anyhow!("the container engine cannot load {shown}: {e}"))?;
            if let Some(problem) = info.error_detail.and_then(|e| e.message) {
                bail!("the container engine cannot load {shown}: {problem}");
            }
            // "Loaded image: name:tag" or "Loaded image ID: sha256:…"
            for line in info.stream.iter().flat_map(|s| s.lines()) {
                if let Some((_, name)) = line
                    .split_once(": ")
                    .filter(|(head, _)| head.starts_with("Loaded image"))
                {
                    loaded = Some(name.trim().to_owned());
                }
            }
        }
        let name = loaded.with_context(|| format!("{shown} holds no image"))?;
        self.digest(&name)
            .await?
            .with_context(|| format!("the image of {shown} was loaded and is not there"))
    }
}

impl BuildNetwork {
    /// The variables that are passed on, and those that would put a password
    /// into an image.
    fn split(&self) -> (Vec<Variable<'_>>, Vec<Variable<'_>>) {
        let variables = self.env.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        variables.partition(|(name, value)| is_proxy(name) || !names_a_user(value))
    }
}

fn is_absent(error: &bollard::errors::Error) -> bool {
    matches!(
        error,
        bollard::errors::Error::DockerResponseServerError {
            status_code: 404,
            ..
        }
    )
}

/// A name and a value.
type Variable<'a> = (&'a str, &'a str);

fn is_proxy(name: &str) -> bool {
    PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
}

/// Whether an address in it has a part before the host.
pub fn names_a_user(value: &str) -> bool {
    value.split_whitespace().any(|address| {
        let rest = address.split_once("://").map(|(_, rest)| rest);
        let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
        authority.is_some_and(|authority| authority.contains('@'))
    })
}

/// A step of a build as one line for people, without what only sets things up.
fn readable(step: &str) -> String {
    let is_setting = |part: &str| part.starts_with("export ") || part.starts_with("set -");
    let told = match step.split_once(" : RUN ") {
        Some((step, command)) => {
            let mut parts = command.split("; ").skip_while(|part| is_setting(part));
            let first = parts.next().unwrap_or_default().to_owned();
            let command = parts.fold(first, |all, part| all + "; " + part);
            format!("{step} : {command}")
        }
        None => step.to_owned(),
    };
    match told.char_indices().nth(TOLD) {
        Some((at, _)) => format!("{}…", told[..at].trim_end()),
        None => told,
    }
}

/// The build context: a Dockerfile, and the CA bundle if there is one. The last
/// line removes it from what containers see.
fn context(from: &str, lines: &[&str], mut files: CodeTree, network: &BuildNetwork) -> CodeTree {
    let mut dockerfile = format!("FROM {from}\n");
    for (name, _) in network.split().0 {
        if !is_proxy(name) {
            dockerfile.push_str(&format!("ARG {name}\n"));
        }
    }
    let trust = network.ca_bundle.as_ref().map(|bundle| {
        files.insert_file(CA_FILE, bundle.clone());
        dockerfile.push_str(&format!("COPY {CA_FILE} /tmp/{CA_FILE}\n"));
        [
            "SSL_CERT_FILE",
            "PIP_CERT",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "CURL_CA_BUNDLE",
        ]
        .map(|name| format!("export {name}=/tmp/{CA_FILE}; "))
        .concat()
    });
    for line in lines {
        match (line.strip_prefix("RUN "), &trust) {
            (Some(command), Some(trust)) => dockerfile.push_str(&format!("RUN {trust}{command}\n")),
            _ => dockerfile.push_str(&format!("{line}\n")),
        }
    }
    if trust.is_some() {
        dockerfile.push_str(&format!("RUN rm -f /tmp/{CA_FILE}\n"));
    }
    files.insert_file("Dockerfile", dockerfile);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ca_bundle_is_for_run_lines() {
        let network = BuildNetwork {
            env: vec![],
            ca_bundle: Some(b"pem".to_vec()),
        };
        let files = context(
            "base",
            &["RUN pip install x", "ENV A=b"],
            CodeTree::default(),
            &network,
        );
        let text = std::str::from_utf8(files.file("Dockerfile").unwrap()).unwrap();
        assert!(
            text.starts_with(
                "FROM base\nCOPY host-ca.crt /tmp/host-ca.crt\nRUN export SSL_CERT_FILE="
            ),
            "{text}"
        );
        assert!(
            text.ends_with("; pip install x\nENV A=b\nRUN rm -f /tmp/host-ca.crt\n"),
            "{text}"
        );
        let plain = context(
            "base",
            &["RUN a"],
            CodeTree::default(),
            &BuildNetwork::default(),
        );
        assert_eq!(plain.file("Dockerfile").unwrap(), b"FROM base\nRUN a\n");
    }

    #[test]
    fn registries_are_declared_and_passwords_kept_back() {
        let check = |name: &str, value: &str, expect: &str| {
            let network = BuildNetwork {
                env: vec![(name.into(), value.into())],
                ca_bundle: None,
            };
            let passed = !network.split().0.is_empty();
            let files = context("base", &["RUN a"], CodeTree::default(), &network);
            let text = std::str::from_utf8(files.file("Dockerfile").unwrap()).unwrap();
            let declared = text.contains(&format!("\nARG {name}\n"));
            assert_eq!(
                (passed, declared),
                (expect != "kept back", expect == "declared"),
                "{name}"
            );
        };
        check("PIP_INDEX_URL", "https://mirror/simple", "declared");
        check("PIP_TRUSTED_HOST", "mirror", "declared");
        check("PIP_INDEX_URL", "https://u:p@mirror/simple", "kept back");
        check("PIP_EXTRA_INDEX_URL", "https://a https://p@b/", "kept back");
        check("npm_config_registry", "https://mirror/@scope/", "declared");
        check("HTTPS_PROXY", "http://u:p@proxy:1", "passed");
    }

    #[test]
    fn steps_are_told_in_one_line() {
        let check = |step: &str, expect: &str| assert_eq!(readable(step), expect);
        check("Step 1/4 : FROM base", "Step 1/4 : FROM base");
        check(
            "Step 3/4 : RUN export A=/b; export C=d; set -eu; export E=f; pip install x; rm y",
            "Step 3/4 : pip install x; rm y",
        );
        check(
            &format!("Step 4/4 : ENV A={}", "é".repeat(200)),
            &format!("Step 4/4 : ENV A={}…", "é".repeat(83)),
        );
    }
}
