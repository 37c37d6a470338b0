//! Images: built, saved, loaded, looked up. The only place where something of
//! ours has a network, and only while an image is built.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use bollard::query_parameters::{BuildImageOptionsBuilder, ImportImageOptions};
use futures::{StreamExt, TryStreamExt};
use tokio_util::io::ReaderStream;

use crate::code::CodeTree;
use crate::sandbox::Docker;

/// The folder of a build context the host's CA bundle is put into.
const CA_FILE: &str = "host-ca.crt";

#[derive(Debug, Clone)]
pub struct Images {
    docker: Docker,
}

/// What image builds are given of the host's network settings.
#[derive(Debug, Clone, Default)]
pub struct BuildNetwork {
    /// Proxy variables, passed as build arguments (not kept in the image).
    pub env: Vec<(String, String)>,
    /// The host's CA bundle, in use during the build alone.
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
            Err(bollard::errors::Error::DockerResponseServerError {
                status_code: 404, ..
            }) => Ok(None),
            Err(error) => Err(error).context("the container engine did not answer"),
        }
    }

    /// Builds `tag` from lines of a Dockerfile. `RUN` lines see the host's CA
    /// bundle and proxies.
    pub async fn build(
        &self,
        tag: &str,
        from: &str,
        lines: &[&str],
        network: &BuildNetwork,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<String> {
        let context = context(from, lines, network).to_tar("")?;
        let options = BuildImageOptionsBuilder::default()
            .t(tag)
            .rm(true)
            .forcerm(true)
            .networkmode("host")
            .buildargs(
                &network
                    .env
                    .iter()
                    .map(|(k, v)| (k.as_str(), v.as_str()))
                    .collect::<HashMap<_, _>>(),
            )
            .build();
        let mut build = std::pin::pin!(self.docker.api()?.build_image(
            options,
            None,
            Some(bollard::body_full(context.into()))
        ));
        let mut last = Vec::new();
        while let Some(info) = build.next().await {
            let info = info
                .map_err(|e| anyhow!("cannot build the image {tag}: {e}\n{}", last.join("\n")))?;
            if let Some(problem) = info.error_detail.and_then(|e| e.message) {
                bail!(
                    "cannot build the image {tag}: {problem}\n{}",
                    last.join("\n")
                );
            }
            for line in info
                .stream
                .iter()
                .flat_map(|s| s.lines())
                .filter(|l| !l.trim().is_empty())
            {
                if line.starts_with("Step ") {
                    say(line.to_owned());
                }
                last.push(line.to_owned());
                last.drain(..last.len().saturating_sub(30));
            }
        }
        self.digest(tag)
            .await?
            .with_context(|| format!("the image {tag} was built and is not there"))
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

/// The build context: a Dockerfile, and the CA bundle if there is one. It is
/// removed again in the same layer, so that it never stays in an image.
fn context(from: &str, lines: &[&str], network: &BuildNetwork) -> CodeTree {
    let mut files = CodeTree::default();
    let mut dockerfile = format!("FROM {from}\n");
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
        let files = context("base", &["RUN pip install x", "ENV A=b"], &network);
        let text = std::str::from_utf8(files.file("Dockerfile").unwrap()).unwrap();
        assert!(
            text.starts_with(
                "FROM base\nCOPY host-ca.crt /tmp/host-ca.crt\nRUN export SSL_CERT_FILE="
            ),
            "{text}"
        );
        assert!(text.contains("; pip install x\nENV A=b\n"));
        let plain = context("base", &["RUN a"], &BuildNetwork::default());
        assert_eq!(plain.file("Dockerfile").unwrap(), b"FROM base\nRUN a\n");
    }
}
