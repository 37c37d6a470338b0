//! Harnesses: listing them, whether they are installed, and installing them
//! ahead.

use std::collections::HashMap;

use anyhow::Context;
use bollard::query_parameters::ListImagesOptionsBuilder;
use serde::Serialize;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::{AgentConfig, HarnessConfig, Protocol};
use swe_ci_runner::harness::{Catalogue, Program};
use swe_ci_sandbox::LABEL_INSTANCE;
use swe_ci_views::account::AccountRole;

use crate::{Engine, Say};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HarnessView {
    pub name: String,
    pub title: String,
    /// The default version.
    pub version: String,
    /// The protocol its endpoint must speak; none if it uses no model.
    pub protocol: Option<Protocol>,
    pub installed: Installed,
    pub note: Option<String>,
}

/// Whether a harness must be built before use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Installed {
    /// Part of this program.
    BuiltIn,
    /// Some version is installed; `bytes` is what its image adds to the base
    /// image. Programs that need Node share it.
    Yes {
        bytes: u64,
    },
    No,
    /// The operator must provide its package; `path` is where it belongs.
    PackageMissing {
        path: String,
    },
    /// The container engine does not answer.
    Unknown,
}

/// An installed layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BuiltLayer {
    pub name: String,
    pub version: String,
    /// Digest of the image it came from.
    pub digest: String,
    /// How long the build took; 0 if it existed.
    pub seconds: f64,
}

/// Bytes of the programs' images, by the program's name.
type Sizes = HashMap<String, u64>;

#[swe_ci_boxed::boxed]
impl Engine {
    /// All harnesses, the platform's own first.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the operator's invalid description.
    pub async fn harnesses(&self) -> Result<Vec<HarnessView>> {
        let known = self.catalogue().await?;
        let sizes = self.installed_sizes().await;
        let sizes =
            sizes.inspect_err(|error| tracing::debug!("cannot tell what is installed: {error:#}"));
        let sizes = sizes.ok();
        let programs = known.iter().map(|p| self.view_of(p, sizes.as_ref()));
        Ok(self.own().into_iter().chain(programs).collect())
    }

    /// Builds a program's layer if it does not exist; its pinned version unless
    /// another is given. For administrators.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no such program.
    pub async fn build_layer(
        &self,
        name: &str,
        version: Option<&str>,
        say: Say<'_>,
    ) -> Result<BuiltLayer> {
        self.require(AccountRole::Admin)?;
        self.layer(name, version, say).await
    }

    /// [`Engine::build_layer`], for callers that have authorised.
    pub(crate) async fn layer(
        &self,
        name: &str,
        version: Option<&str>,
        say: Say<'_>,
    ) -> Result<BuiltLayer> {
        let known = self.catalogue().await?;
        if known.get(name).is_none() {
            let own = self.own().iter().any(|harness| harness.name == name);
            return Err(Error::Invalid(match own {
                true => format!(
                    "the harness `{name}` is a part of this program: there is nothing to build"
                ),
                false => format!(
                    "there is no harness `{name}`; `swe-ci harness list` shows those there are"
                ),
            }));
        }
        let installing = self.harnesses.installed(name, version, say);
        let installed = Box::pin(installing).await?;
        Ok(BuiltLayer {
            name: installed.program.name,
            version: installed.version,
            digest: installed.layer.digest,
            seconds: installed.layer.seconds,
        })
    }

    fn own(&self) -> [HarnessView; 2] {
        let own = |harness: HarnessConfig, title: &str, protocol, note: &str| {
            let name = harness.name().to_owned();
            let agent = AgentConfig {
                harness,
                endpoint: None,
            };
            HarnessView {
                name,
                title: title.to_owned(),
                version: self.harnesses.check(&agent).unwrap_or_default(),
                protocol,
                installed: Installed::BuiltIn,
                note: Some(note.to_owned()),
            }
        };
        [
            own(
                HarnessConfig::Replay { max_chunks: 1 },
                "Replay",
                None,
                "The real history, without a model: the human baseline.",
            ),
            own(
                HarnessConfig::Builtin,
                "Builtin",
                Some(Protocol::Chat),
                "A shell and an editor. Needs nothing in the image, so any model can be measured with it.",
            ),
        ]
    }

    pub(super) async fn catalogue(&self) -> Result<Catalogue> {
        let harnesses = self.harnesses.clone();
        let read = blocking(move || Ok(harnesses.catalogue())).await?;
        read.map_err(Error::Invalid)
    }

    fn view_of(&self, program: &Program, sizes: Option<&Sizes>) -> HarnessView {
        let package = program.recipe(&program.version).tarball;
        let package = package.map(|name| self.config.data.join("harnesses").join(name));
        let installed = match (package, sizes) {
            (Some(path), _) if !path.exists() => Installed::PackageMissing {
                path: path.display().to_string(),
            },
            (_, None) => Installed::Unknown,
            (_, Some(sizes)) => match sizes.get(&program.name) {
                Some(bytes) => Installed::Yes { bytes: *bytes },
                None => Installed::No,
            },
        };
        HarnessView {
            name: program.name.clone(),
            title: program.title.clone(),
            version: program.version.clone(),
            protocol: Some(program.protocol),
            installed,
            note: program.note.clone(),
        }
    }

    /// Sizes of what this installation has built; of several versions the
    /// largest.
    async fn installed_sizes(&self) -> anyhow::Result<Sizes> {
        let api = self.docker.api()?;
        let base = api.inspect_image(&self.config.base_image).await;
        let base = base.ok().and_then(|image| image.size).unwrap_or(0);
        let label = format!("{LABEL_INSTANCE}={}", self.instance);
        let options = ListImagesOptionsBuilder::default()
            .filters(&HashMap::from([("label", vec![label])]))
            .build();
        let images = api.list_images(Some(options)).await;
        let images = images.context("the container engine did not list its images")?;
        let mut sizes = Sizes::new();
        for image in images {
            let bytes = u64::try_from(image.size - base).unwrap_or(0);
            for name in image.repo_tags.iter().filter_map(|tag| program_of(tag)) {
                let known = sizes.entry(name.to_owned()).or_default();
                *known = bytes.max(*known);
            }
        }
        Ok(sizes)
    }
}

fn program_of(tag: &str) -> Option<&str> {
    // Podman says so of images from no registry.
    let tag = tag.trim_start_matches("localhost/");
    let (name, _) = tag.strip_prefix("swe-ci/agent-")?.rsplit_once(':')?;
    Some(name)
}
