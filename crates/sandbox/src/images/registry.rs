//! A registry between machines: prepared images are pushed there once, and
//! pulled by the machines that need them.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bollard::auth::DockerCredentials;
use bollard::query_parameters::{
    CreateImageOptionsBuilder, PushImageOptionsBuilder, TagImageOptionsBuilder,
};
use futures::TryStreamExt;
use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::retry::{Backoff, Retries};

use super::{Images, PULL_TIME_LIMIT};
use crate::pulls::PulledBytes;
use crate::status_of;

/// For about five minutes: a registry that is away or busy costs time, and no
/// attempt at a step.
const RETRIES: Retries = Retries {
    first_delay: Duration::from_secs(1),
    max_delay: Duration::from_secs(30),
    max_requested: Duration::from_secs(30),
    tries: 15,
};

/// Where images are shared.
#[derive(Debug, Clone)]
pub struct Registry {
    /// `host:port`, perhaps with a path.
    pub address: String,
    /// Name and password; none for a registry that asks for none.
    pub account: Option<(String, SecretString)>,
}

/// An image's name in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedName {
    repository: &'static str,
    tag: String,
}

impl SharedName {
    /// Of the image of a task. The engine's digest of an image covers its content
    /// and all its layers, so it names the same image on every machine.
    pub fn of_task(digest: &str) -> Self {
        Self {
            repository: "task",
            tag: digest.trim_start_matches("sha256:").to_owned(),
        }
    }

    /// Of an installed program: the layer's key covers what it is made of.
    pub fn of_layer(key: &str) -> Self {
        Self {
            repository: "layer",
            tag: key.to_owned(),
        }
    }

    /// Of a base image, by its local name.
    pub fn of_base(name: &str) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        Self {
            repository: "base",
            tag: name.chars().map(plain).collect(),
        }
    }
}

impl Registry {
    fn repository(&self, name: &SharedName) -> String {
        format!("{}/{}", self.address.trim_end_matches('/'), name.repository)
    }

    fn credentials(&self) -> Option<DockerCredentials> {
        let (user, password) = self.account.as_ref()?;
        Some(DockerCredentials {
            username: Some(user.clone()),
            password: Some(password.expose_secret().to_owned()),
            ..DockerCredentials::default()
        })
    }
}

impl Images {
    /// Pushes an image under a shared name.
    pub async fn push(
        &self,
        image: &str,
        registry: &Registry,
        name: &SharedName,
    ) -> anyhow::Result<()> {
        let api = self.docker.api()?;
        let repository = registry.repository(name);
        let cannot = || format!("cannot push the image {image} to {repository}");
        let tag = TagImageOptionsBuilder::default()
            .repo(&repository)
            .tag(&name.tag)
            .build();
        api.tag_image(image, Some(tag)).await.with_context(cannot)?;
        let options = PushImageOptionsBuilder::default().tag(&name.tag).build();
        let pushing = api
            .push_image(&repository, Some(options), registry.credentials())
            .try_for_each(|line| async move {
                match line.error_detail.and_then(|detail| detail.message) {
                    Some(error) => Err(bollard::errors::Error::DockerStreamError { error }),
                    None => Ok(()),
                }
            });
        let pushed = tokio::time::timeout(PULL_TIME_LIMIT, pushing).await;
        self.untag(&format!("{repository}:{}", name.tag)).await?;
        pushed.with_context(cannot)?.with_context(cannot)
    }

    /// Pulls an image by its shared name; returns its digest, or `None` when the
    /// registry does not have it.
    pub async fn pull(
        &self,
        registry: &Registry,
        name: &SharedName,
    ) -> anyhow::Result<Option<String>> {
        let api = self.docker.api()?;
        let repository = registry.repository(name);
        let full = format!("{repository}:{}", name.tag);
        let options = CreateImageOptionsBuilder::default()
            .from_image(&repository)
            .tag(&name.tag)
            .build();
        let mut tries = Backoff::new(RETRIES, 0);
        loop {
            let (began, mut bytes) = (Instant::now(), PulledBytes::default());
            let pulling = api
                .create_image(Some(options.clone()), None, registry.credentials())
                .try_for_each(|line| {
                    bytes.see(line);
                    std::future::ready(Ok(()))
                });
            let error = match tokio::time::timeout(PULL_TIME_LIMIT, pulling).await {
                Ok(Ok(())) => {
                    self.docker.pulls().count(bytes.total(), began.elapsed());
                    return self.digest(&full).await;
                }
                Ok(Err(error)) if is_missing(&error) => return Ok(None),
                Ok(Err(error)) => error,
                Err(_) => bail!("{full} could not be pulled within {PULL_TIME_LIMIT:?}"),
            };
            let delay = tries.failed(None).filter(|_| !is_refusal(&error));
            let Some(delay) = delay else {
                return Err(error).with_context(|| format!("cannot pull {full}"));
            };
            let seconds = delay.as_secs();
            tracing::warn!("cannot pull {full}, next try in {seconds} s: {error:#}");
            tokio::time::sleep(delay).await;
        }
    }
}

/// Says nobody may have it: asking again would not help.
fn is_refusal(error: &bollard::errors::Error) -> bool {
    let text = error.to_string();
    ["unauthorized", "denied", "no basic auth"]
        .iter()
        .any(|word| text.contains(word))
}

/// Registries and engines word it differently.
fn is_missing(error: &bollard::errors::Error) -> bool {
    let text = error.to_string();
    status_of(error) == Some(404) || text.contains("manifest unknown") || text.contains("not found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_by_content() {
        let registry = Registry {
            address: "registry.example.org:5000/bench/".into(),
            account: None,
        };
        let check = |name: SharedName, expect: &str| {
            let found = format!("{}:{}", registry.repository(&name), name.tag);
            assert_eq!(found, format!("registry.example.org:5000/bench/{expect}"));
        };
        check(SharedName::of_task("sha256:ab12"), "task:ab12");
        check(SharedName::of_layer("cd"), "layer:cd");
        check(
            SharedName::of_base("swe-ci/base:py311"),
            "base:swe-ci-base-py311",
        );
    }
}
