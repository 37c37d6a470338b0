//! Images: built, saved, loaded, looked up. Image builds are the only code of
//! ours that has a network, and only while they run.

mod archive;
mod layers;
mod load;
mod network;
mod registry;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use bollard::models::ImageInspect;
use bollard::query_parameters::{
    BuildImageOptionsBuilder, CreateImageOptionsBuilder, ListImagesOptionsBuilder,
    RemoveImageOptions,
};
use futures::{StreamExt, TryStreamExt};

pub use layers::{EvictableImage, Layer};
pub use load::task_image_name;
use network::is_proxy;
pub use network::{BuildNetwork, names_a_user, usual_ca_bundle};
pub use registry::{Registry, SharedName};

use crate::{Docker, LABEL_INSTANCE, LABEL_PURPOSE, status_of};
use archive::renamed;
pub(crate) use archive::unpacked;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;

/// The file of a build context with the host's CA bundle.
const CA_FILE: &str = "host-ca.crt";
/// The variables that name it to programs.
const TRUSTING: &str = "\
    SSL_CERT_FILE PIP_CERT REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS CURL_CA_BUNDLE";
/// Memory limit of image builds that run untrusted code: the largest value the
/// engine accepts.
const MEMORY: i32 = i32::MAX;
/// How often, and at which interval, a removal is retried while a container
/// blocks it: containers that have ended are about to disappear.
const TRIES: usize = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(500);
/// How long a registry may take to say whether it has an image, and to send it.
const REGISTRY_ANSWER: Duration = Duration::from_secs(10);
const PULL_TIME_LIMIT: Duration = Duration::from_mins(15);
/// The longest progress line of a build step, in characters.
const MAX_STEP_CHARS: usize = 100;

#[derive(Debug)]
pub struct ImageBuild<'a> {
    pub tag: &'a str,
    pub from: &'a str,
    /// The lines after `FROM`.
    pub lines: &'a [&'a str],
    /// The files that the lines copy.
    pub files: CodeTree,
    pub network: &'a BuildNetwork,
    /// For lines that run untrusted code: limits them to 2 GiB of memory and
    /// always keeps them out of the host's own network, where they would reach
    /// services that listen only on the host. The remains of such builds are
    /// for [`Images::remove_build_remains`].
    pub apart: bool,
}

/// The public image that serves as a base image under another name.
const PUBLIC_BASE: &str = "python:3.11-slim";
/// Why an image of an untrusted build exists: its label.
const CANDIDATE: &str = "candidate";

/// Says that a base image is missing, and how to get it.
pub fn no_base_image(name: &str) -> String {
    let advice = base_image_advice(name);
    format!("the base image {name} is not there; next: {advice}")
}

/// How to get a missing base image. Who installed a package has no Makefile, and
/// an image with a name of ours is in no registry.
pub fn base_image_advice(name: &str) -> String {
    match name.starts_with("swe-ci/") {
        true => format!(
            "`docker pull {PUBLIC_BASE}`, then `docker tag {PUBLIC_BASE} {name}`, or, from source, `make setup`"
        ),
        false => format!("`docker pull {name}`"),
    }
}

#[derive(Debug, Clone)]
pub struct Images {
    docker: Docker,
}

impl Images {
    pub fn new(docker: Docker) -> Self {
        Self { docker }
    }

    /// Content digest of an image by name or digest; `None` when the engine
    /// does not have it.
    pub async fn digest(&self, name: &str) -> anyhow::Result<Option<String>> {
        Ok(self.inspect(name).await?.and_then(|image| image.id))
    }

    /// The engine's facts about an image; `None` when it does not have it.
    async fn inspect(&self, name: &str) -> anyhow::Result<Option<ImageInspect>> {
        if let Some(store) = self.docker.unpacked()? {
            let (store, name) = (store.clone(), name.to_owned());
            return blocking(move || Ok(store.image(&name).map(|image| store.facts(image)))).await;
        }
        match self.docker.api()?.inspect_image(name).await {
            Ok(image) => Ok(Some(image)),
            Err(error) if status_of(&error) == Some(404) => Ok(None),
            Err(error) => Err(error).context("the container engine did not answer"),
        }
    }

    /// The processor that an image is for, and the engine's, if they differ. Such
    /// an image works only where the machine emulates its processor.
    pub async fn other_processor(&self, name: &str) -> anyhow::Result<Option<[String; 2]>> {
        let of_image = self.inspect(name).await?.and_then(|i| i.architecture);
        let of_engine = match self.docker.unpacked()? {
            Some(_) => Some(architecture().to_owned()),
            None => self.docker.api()?.version().await?.arch,
        };
        let both = of_image.zip(of_engine);
        Ok(both.and_then(|(image, engine)| (image != engine).then_some([image, engine])))
    }

    /// Whether the engine has an image, or its registry does.
    pub async fn is_available(&self, name: &str) -> anyhow::Result<bool> {
        if self.digest(name).await?.is_some() {
            return Ok(true);
        }
        if self.docker.unpacked()?.is_some() {
            return Ok(false);
        }
        let asked = self.docker.api()?.inspect_registry_image(name, None);
        let answer = tokio::time::timeout(REGISTRY_ANSWER, asked).await;
        Ok(matches!(answer, Ok(Ok(_))))
    }

    /// Pulls an image, unless the engine has it.
    pub async fn pull_missing(&self, name: &str) -> anyhow::Result<()> {
        if self.digest(name).await?.is_some() {
            return Ok(());
        }
        let options = CreateImageOptionsBuilder::default()
            .from_image(name)
            .build();
        let pulling = self.docker.api()?.create_image(Some(options), None, None);
        let pulled =
            tokio::time::timeout(PULL_TIME_LIMIT, pulling.try_for_each(|_| async { Ok(()) }));
        let cannot = || format!("cannot pull the image {name}");
        pulled.await.with_context(cannot)?.with_context(cannot)
    }

    /// The folder where the container engine stores images, if it is on this
    /// machine.
    pub async fn folder(&self) -> Option<PathBuf> {
        if let Some(store) = self.docker.unpacked().ok()? {
            return Some(store.root.clone());
        }
        let info = self.docker.api().ok()?.info().await.ok()?;
        let folder = PathBuf::from(info.docker_root_dir?);
        folder.is_dir().then_some(folder)
    }

    /// Removes an image under all its names, with the layers that no other
    /// image uses; `false` when something still uses it.
    pub async fn remove(&self, digest: &str) -> anyhow::Result<bool> {
        let Some(image) = self.inspect(digest).await? else {
            return Ok(true);
        };
        // Removal by digest works only when the image has one name.
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

    /// Removes one name of an image, and the image with its last name.
    pub async fn untag(&self, name: &str) -> anyhow::Result<()> {
        self.remove_one(name).await.map(|_| ())
    }

    async fn remove_one(&self, name: &str) -> anyhow::Result<bool> {
        if let Some(store) = self.docker.unpacked()? {
            let (store, name) = (store.clone(), name.to_owned());
            return blocking(move || store.remove(&name)).await;
        }
        let options = None::<RemoveImageOptions>;
        let Err(error) = self.docker.api()?.remove_image(name, options, None).await else {
            return Ok(true);
        };
        match status_of(&error) {
            Some(404) => Ok(true),
            Some(409) => Ok(false),
            _ => Err(error).with_context(|| format!("cannot remove the image {name}")),
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
        report: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<String> {
        let spec = ImageBuild {
            tag,
            from,
            lines,
            files: CodeTree::default(),
            network,
            apart: false,
        };
        let mut last = Vec::new();
        let on_line = |line: &str| {
            // Docker's word and Podman's.
            if line.starts_with("Step ") || line.starts_with("STEP ") {
                report(readable(line));
            }
            last.push(line.to_owned());
            last.drain(..last.len().saturating_sub(30));
        };
        for (name, _) in network.split().1 {
            report(format!(
                "{name} is not passed to the build: it names a user, and an image's history would reveal it"
            ));
        }
        match self.make(spec, on_line).await? {
            Ok(digest) => Ok(digest),
            Err(problem) => bail!(
                "cannot build the image {tag}: {problem}\n{}",
                last.join("\n")
            ),
        }
    }

    /// Builds an image and reports every line of the output. The inner error is
    /// a failure of the lines, not of the engine.
    pub async fn make(
        &self,
        spec: ImageBuild<'_>,
        mut on_line: impl FnMut(&str),
    ) -> anyhow::Result<Result<String, String>> {
        let (tag, network) = (spec.tag, spec.network);
        let (env, _) = network.split();
        let env: HashMap<&str, &str> = env.into_iter().collect();
        // A name could be given to another image while this one is built.
        let base = self.digest(spec.from).await?;
        let base = base.with_context(|| no_base_image(spec.from))?;
        // The first line, so that the layers of a build that fails have it too.
        let label = format!("LABEL {}", self.candidate_labels().join(" "));
        let mut lines = spec.lines.to_vec();
        if spec.apart {
            lines.insert(0, &label);
        }
        let context = context(&base, &lines, spec.files, network).to_tar("")?;
        let options = BuildImageOptionsBuilder::default()
            .t(tag)
            .rm(true)
            .forcerm(true)
            .networkmode(network.mode(spec.apart))
            .buildargs(&env);
        let options = match spec.apart {
            true => options.memory(MEMORY).memswap(MEMORY),
            false => options,
        };
        let (api, body) = (self.docker.api()?, bollard::body_full(context.into()));
        let mut build = std::pin::pin!(api.build_image(options.build(), None, Some(body)));
        while let Some(info) = build.next().await {
            let info = match info {
                Ok(info) => info,
                // The stream may report the failure of a line as its own.
                Err(bollard::errors::Error::DockerStreamError { error }) => return Ok(Err(error)),
                Err(error) => return Err(anyhow!("cannot build the image {tag}: {error}")),
            };
            let printed = info.stream.iter().flat_map(|text| text.lines());
            for line in printed.filter(|line| !line.trim().is_empty()) {
                on_line(line);
            }
            if let Some(problem) = info.error_detail.and_then(|e| e.message) {
                return Ok(Err(problem));
            }
        }
        let digest = self.digest(tag).await?;
        let digest = digest.with_context(|| format!("the image {tag} was built but is missing"));
        digest.map(Ok)
    }

    fn candidate_labels(&self) -> [String; 2] {
        let instance = &self.docker.instance().0;
        [
            format!("{LABEL_INSTANCE}={instance}"),
            format!("{LABEL_PURPOSE}={CANDIDATE}"),
        ]
    }

    /// Removes what untrusted builds of this installation left without a name:
    /// the layers of failed builds, and images whose name went to a later one.
    /// Returns how many there were. No such build may be running.
    pub async fn remove_build_remains(&self) -> anyhow::Result<usize> {
        let labels = self.candidate_labels();
        let filters = HashMap::from([
            ("dangling", vec!["true"]),
            ("label", labels.iter().map(String::as_str).collect()),
        ]);
        let mut removed = 0;
        // The parents of an image that was removed may be without a name too.
        loop {
            let options = ListImagesOptionsBuilder::default()
                .filters(&filters)
                .build();
            let found = self.docker.api()?.list_images(Some(options)).await;
            let found = found.context("the container engine did not list its images")?;
            let mut gone = 0;
            for image in found {
                gone += usize::from(self.remove_one(&image.id).await?);
            }
            removed += gone;
            if gone == 0 {
                return Ok(removed);
            }
        }
    }

    /// Writes an image as `docker save` does, gzipped, under the name that the
    /// engine has for the image of a task. Equal images give equal bytes.
    pub async fn save(&self, name: &str, to: &Path) -> anyhow::Result<()> {
        let partial = swe_ci_base::files::beside(to, "partial");
        let file = std::fs::File::create(&partial)
            .with_context(|| format!("cannot create {}", partial.display()))?;
        let digest = self.digest(name).await?;
        let saved_name = task_image_name(digest.as_deref().unwrap_or(name));
        let (sender, receiver) = std::sync::mpsc::sync_channel::<bytes::Bytes>(16);
        // Packing blocks, so it runs on another thread than the reading.
        let packing = tokio::task::spawn_blocking(move || {
            let mut gzip = flate2::write::GzEncoder::new(
                std::io::BufWriter::new(file),
                flate2::Compression::fast(),
            );
            renamed(ChunkReader::new(receiver), &mut gzip, Some(&saved_name))?;
            let file = gzip.finish()?.into_inner();
            file.map_err(std::io::IntoInnerError::into_error)?
                .sync_all()?;
            anyhow::Ok(())
        });
        let mut stream = std::pin::pin!(self.docker.api()?.export_image(name));
        let cannot = || format!("cannot save the image {name}");
        while let Some(chunk) = stream.try_next().await.with_context(cannot)? {
            let sender = sender.clone();
            let sent = tokio::task::spawn_blocking(move || sender.send(chunk)).await?;
            if sent.is_err() {
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
}

/// Reads the chunks of another thread.
struct ChunkReader {
    chunks: std::sync::mpsc::Receiver<bytes::Bytes>,
    current: bytes::Bytes,
}

impl ChunkReader {
    fn new(chunks: std::sync::mpsc::Receiver<bytes::Bytes>) -> Self {
        let current = bytes::Bytes::new();
        Self { chunks, current }
    }
}

impl std::io::Read for ChunkReader {
    /// Fills the buffer, wherever chunks end: a compressor's output depends on
    /// the sizes of its input.
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let mut filled = 0;
        while filled < to.len() {
            if self.current.is_empty() {
                match self.chunks.recv() {
                    Ok(chunk) => self.current = chunk,
                    Err(_) => break,
                }
            }
            let n = self.current.len().min(to.len() - filled);
            to[filled..filled + n].copy_from_slice(&self.current.split_to(n));
            filled += n;
        }
        Ok(filled)
    }
}

/// This machine's processor, as images name it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// A build step as one line for people, without its setup commands.
fn readable(step: &str) -> String {
    let is_setting = |part: &str| part.starts_with("export ") || part.starts_with("set -");
    let line = match step.split_once(" : RUN ") {
        Some((step, command)) => {
            let mut parts = command.split("; ").skip_while(|part| is_setting(part));
            let first = parts.next().unwrap_or_default().to_owned();
            let command = parts.fold(first, |all, part| all + "; " + part);
            format!("{step} : {command}")
        }
        None => step.to_owned(),
    };
    match line.char_indices().nth(MAX_STEP_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

/// The build context: a Dockerfile, and the CA bundle if there is one. The last
/// line removes the bundle from the containers' view.
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
        let trust = |name| format!("export {name}=/tmp/{CA_FILE}; ");
        TRUSTING.split(' ').map(trust).collect::<String>()
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
            ca_bundle: Some(b"pem".to_vec()),
            ..BuildNetwork::default()
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
    fn a_missing_base_image_comes_with_the_commands_that_bring_it() {
        let check = |name: &str, expect: &str| {
            let expect = format!("the base image {name} is not there; next: {expect}");
            assert_eq!(no_base_image(name), expect);
        };
        check(
            "swe-ci/base:py311",
            "`docker pull python:3.11-slim`, then `docker tag python:3.11-slim swe-ci/base:py311`, \
             or, from source, `make setup`",
        );
        check("python:3.12-slim", "`docker pull python:3.12-slim`");
    }

    #[test]
    fn reads_do_not_show_where_chunks_end() {
        let check = |chunks: &[&'static str]| {
            let (sender, receiver) = std::sync::mpsc::sync_channel(chunks.len());
            for chunk in chunks {
                sender
                    .send(bytes::Bytes::from_static(chunk.as_bytes()))
                    .unwrap();
            }
            drop(sender);
            let mut reader = ChunkReader::new(receiver);
            let mut buffer = [0; 4];
            let read = [(); 3].map(|()| std::io::Read::read(&mut reader, &mut buffer).unwrap());
            assert_eq!(read, [4, 2, 0], "{chunks:?}");
        };
        check(&["abcdef"]);
        check(&["a", "", "bcde", "f"]);
    }

    #[test]
    fn a_step_is_reported_in_one_line() {
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
