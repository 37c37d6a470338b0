//! Layers: an installed program in a volume, mounted read-only in every task's
//! container.
//!
//! A layer is an image built on the base image, and a volume that the container
//! engine fills from it. A record in the data folder, written last, marks a
//! volume as complete, so that remains of a killed process never pass for a
//! layer.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType, VolumeCreateRequest};
use bollard::query_parameters::{
    CreateContainerOptions, CreateImageOptionsBuilder, ListContainersOptionsBuilder,
    ListVolumesOptionsBuilder, RemoveContainerOptionsBuilder, RemoveVolumeOptions,
};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::files;
use swe_ci_sandbox::image_cache::{read_record, records};
use swe_ci_sandbox::images::{self, BuildNetwork, EvictableImage, Images, Registry, SharedName};
use swe_ci_sandbox::{Docker, Instance, LABEL_INSTANCE, LABEL_PURPOSE, LAYER_FOLDER, status_of};
use swe_ci_store::Store;

use super::program::Recipe;
use super::shared_build::SharedBuild;

/// The layer of a volume, or of the container that fills one.
const LABEL_LAYER: &str = "swe-ci.layer";

/// How often it looks for a layer that another worker builds.
const LOOK: Duration = Duration::from_secs(2);

/// Larger packages of an agent program are refused.
const MAX_TARBALL: u64 = 1 << 30;

/// An installed program.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Name of the volume, to be mounted at [`LAYER_FOLDER`].
    pub volume: String,
    /// Digest of the image that filled the volume.
    pub digest: String,
    /// How long the build took; 0 when the layer existed already.
    pub seconds: f64,
}

#[derive(Debug, Clone)]
pub struct Layers {
    docker: Docker,
    images: Images,
    instance: Instance,
    base_image: String,
    shared: Option<Shared>,
    /// Where the operator puts packages.
    packages: PathBuf,
    records: PathBuf,
}

/// The registry and the database that several processes use.
#[derive(Debug, Clone)]
struct Shared {
    registry: Registry,
    /// Has the leases on builds.
    store: Store,
}

/// Marks a volume as complete.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    volume: String,
    digest: String,
}

/// A package that the operator provides.
struct Tarball {
    files: CodeTree,
    digest: String,
}

struct LayerBuild<'a> {
    recipe: &'a Recipe,
    tarball: Option<Tarball>,
    /// Digest of the base image: its name could be given to another one.
    base: String,
    /// Digest of everything that decides its content.
    key: String,
}

impl Layers {
    /// `data` is the data folder.
    pub fn new(docker: Docker, instance: Instance, base_image: &str, data: &Path) -> Self {
        Self {
            images: Images::new(docker.clone()),
            docker,
            instance,
            base_image: base_image.to_owned(),
            shared: None,
            packages: data.join("harnesses"),
            records: data.join("layers"),
        }
    }

    /// Layers come from this registry if it has them, and go there else. One of
    /// the processes on this database builds a layer, and the others wait for it.
    #[must_use]
    pub fn shared_in(self, registry: Option<Registry>, store: &Store) -> Self {
        let store = store.clone();
        let shared = registry.map(|registry| Shared { registry, store });
        Self { shared, ..self }
    }

    /// Pushes the base image, for the machines that have none.
    pub async fn share_base(&self) -> anyhow::Result<()> {
        let Some(Shared { registry, .. }) = &self.shared else {
            return Ok(());
        };
        let name = SharedName::of_base(&self.base_image);
        self.images.push(&self.base_image, registry, &name).await
    }

    /// The digest of the base image.
    async fn base(&self) -> anyhow::Result<String> {
        if let Some(digest) = self.images.digest(&self.base_image).await? {
            return Ok(digest);
        }
        let name = &self.base_image;
        let pulled = match &self.shared {
            Some(Shared { registry, .. }) => {
                self.images
                    .pull(registry, &SharedName::of_base(name))
                    .await?
            }
            None => None,
        };
        let digest = pulled.with_context(|| images::no_base_image(name))?;
        self.images.tag(&digest, name).await?;
        Ok(digest)
    }

    /// The layer of a recipe, built if it does not exist. Other callers for the
    /// same recipe, here or in another process of this data folder, wait for
    /// it.
    pub async fn ready(
        &self,
        recipe: &Recipe,
        network: &BuildNetwork,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<Layer> {
        let build = self.plan(recipe).await?;
        if let Some(layer) = self.recorded(&build.key).await? {
            return Ok(layer);
        }
        let _lock = self.lock(&build.key).await?;
        if let Some(layer) = self.recorded(&build.key).await? {
            return Ok(layer);
        }
        let what = format!("{} {}", recipe.title, recipe.version);
        say(format!("installing {what}"));
        self.build(&build, network, say)
            .await
            .with_context(|| format!("cannot install {what}"))
    }

    async fn plan<'a>(&self, recipe: &'a Recipe) -> anyhow::Result<LayerBuild<'a>> {
        let base = self.base().await?;
        let tarball = self.tarball(recipe).await?;
        let mut parts = CodeTree::default();
        parts.insert_file("base", base.clone());
        parts.insert_file("program", recipe.digest());
        if let Some(tarball) = &tarball {
            parts.insert_file("tarball", tarball.digest.clone());
        }
        Ok(LayerBuild {
            recipe,
            tarball,
            base,
            key: parts.digest()[..32].to_owned(),
        })
    }

    async fn tarball(&self, recipe: &Recipe) -> anyhow::Result<Option<Tarball>> {
        let Some(name) = recipe.tarball.clone() else {
            return Ok(None);
        };
        let path = self.packages.join(&name);
        if !path.exists() {
            bail!(
                "{} {} is in no package registry; put its package at {} to use it",
                recipe.title,
                recipe.version,
                path.display()
            );
        }
        blocking(move || {
            let mut files = CodeTree::default();
            files.insert_file(&name, files::read_limited(&path, MAX_TARBALL)?);
            let digest = files.digest();
            Ok(Some(Tarball { files, digest }))
        })
        .await
    }

    /// All layers, for eviction.
    pub async fn evictable(&self) -> anyhow::Result<Vec<EvictableImage>> {
        let base = self.images.layers(&self.base_image).await?;
        let base: HashSet<images::Layer> = base.into_iter().flatten().collect();
        let mut evictable = Vec::new();
        let folder = self.records.clone();
        for (name, record, used) in blocking(move || Ok(records::<Record>(&folder))).await? {
            let image = self.images.layers(&record.digest).await?;
            let mut layers = image.unwrap_or_default();
            // The volume holds what the image has above its base.
            let own = layers.iter().filter(|layer| !base.contains(layer));
            let bytes = own.map(|(_, bytes)| bytes).sum();
            layers.push((record.volume, bytes));
            evictable.push(EvictableImage { name, used, layers });
        }
        Ok(evictable)
    }

    /// Removes a layer: its volume and the image that filled it. False when
    /// something still uses it. It is built again at next use.
    pub async fn evict(&self, key: &str) -> anyhow::Result<bool> {
        let _lock = self.lock(key).await?;
        let (path, key) = (self.record(key), key.to_owned());
        let reading = path.clone();
        let record = blocking(move || Ok(read_record::<Record>(&reading)));
        let Some(record) = record.await? else {
            return Ok(true);
        };
        let (api, options) = (self.docker.api()?, None::<RemoveVolumeOptions>);
        if let Err(error) = api.remove_volume(&record.volume, options).await {
            match status_of(&error) {
                Some(404) => {}
                Some(409) => return Ok(false),
                _ => {
                    let what = format!("cannot remove the volume of the layer {key}");
                    return Err(error).context(what);
                }
            }
        }
        blocking(move || Ok(std::fs::remove_file(path)?)).await?;
        self.images.remove(&record.digest).await?;
        Ok(true)
    }

    /// The recorded layer, if its volume still exists.
    async fn recorded(&self, key: &str) -> anyhow::Result<Option<Layer>> {
        let path = self.record(key);
        let record = blocking(move || {
            let record = read_record(&path);
            files::touch(&path);
            Ok(record)
        });
        let Some(Record { volume, digest }) = record.await? else {
            return Ok(None);
        };
        let volume_info = match self.docker.api()?.inspect_volume(&volume).await {
            Ok(info) => info,
            Err(error) if status_of(&error) == Some(404) => return Ok(None),
            Err(error) => return Err(error).context("the container engine did not answer"),
        };
        // A volume of this name without the label was created by a container
        // that requested it after its removal, and is empty.
        let layer = volume_info.labels.get(LABEL_LAYER);
        let complete = layer.is_some_and(|of| of == key);
        Ok(complete.then_some(Layer {
            volume,
            digest,
            seconds: 0.0,
        }))
    }

    fn record(&self, key: &str) -> PathBuf {
        self.records.join(format!("{key}.json"))
    }

    /// The lock is held as long as the file is open, so never longer than the
    /// process lives.
    async fn lock(&self, key: &str) -> anyhow::Result<File> {
        let folder = self.records.clone();
        let path = folder.join(format!("{key}.lock"));
        blocking(move || {
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            let lock = File::create(&path);
            let lock = lock.with_context(|| format!("cannot open {}", path.display()))?;
            let locked = lock.lock();
            locked.with_context(|| format!("cannot lock {}", path.display()))?;
            Ok(lock)
        })
        .await
    }

    async fn build(
        &self,
        build: &LayerBuild<'_>,
        network: &BuildNetwork,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<Layer> {
        let began = Instant::now();
        let LayerBuild { recipe, key, .. } = build;
        let digest = match &self.shared {
            Some(shared) => self.pulled_or_built(build, shared, network, say).await?,
            None => self.built(build, network, say).await?,
        };
        self.sweep(key).await?;
        let volume = format!("swe-ci-{}-{}", recipe.name, uuid::Uuid::now_v7().simple());
        self.fill(&volume, &digest, key).await?;
        let record = Record { volume, digest };
        let (path, text) = (self.record(key), serde_json::to_vec(&record)?);
        blocking(move || files::write_whole(&path, &text)).await?;
        Ok(Layer {
            volume: record.volume,
            digest: record.digest,
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    async fn pulled_or_built(
        &self,
        build: &LayerBuild<'_>,
        shared: &Shared,
        network: &BuildNetwork,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<String> {
        let Shared { registry, store } = shared;
        let name = SharedName::of_layer(&build.key);
        let one_of_all = SharedBuild {
            store,
            name: format!("layer {}", build.key),
            holder: format!("{}/{}", self.instance.0, uuid::Uuid::now_v7().simple()),
            pause: LOOK,
        };
        let pull = || self.images.pull(registry, &name);
        let make = || async {
            let digest = self.built(build, network, say).await?;
            self.images.push(&digest, registry, &name).await?;
            Ok(digest)
        };
        let waits = || say("another worker installs it; waiting".into());
        one_of_all.fetched_or_made(pull, make, waits).await
    }

    /// The digest of the image with the program, built here.
    async fn built(
        &self,
        build: &LayerBuild<'_>,
        network: &BuildNetwork,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<String> {
        let LayerBuild {
            recipe, base, key, ..
        } = build;
        let package_image = match &build.tarball {
            Some(tarball) => self.import_package(tarball).await?,
            None => String::new(),
        };
        let mut lines = recipe.lines(&package_image);
        lines.push(format!("LABEL {LABEL_INSTANCE}={}", self.instance.0));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let tag = format!("swe-ci/agent-{}:{key}", recipe.name);
        self.images.build(&tag, base, &lines, network, say).await
    }

    /// Creates an image that holds only a package, for builds to copy it from.
    async fn import_package(&self, tarball: &Tarball) -> anyhow::Result<String> {
        let tag = &tarball.digest[..32];
        let options = CreateImageOptionsBuilder::default()
            .from_src("-")
            .repo("swe-ci/given")
            .tag(tag)
            .changes(vec![format!("LABEL {LABEL_INSTANCE}={}", self.instance.0)])
            .build();
        let body = bollard::body_full(tarball.files.to_tar("")?.into());
        let api = self.docker.api()?;
        api.create_image(Some(options), Some(body), None)
            .try_collect::<Vec<_>>()
            .await
            .context("the container engine did not import the package")?;
        Ok(format!("swe-ci/given:{tag}"))
    }

    /// The engine fills a new volume when a container with it is created, from
    /// the image's folder at that path. The container itself is never started.
    async fn fill(&self, volume: &str, image: &str, key: &str) -> anyhow::Result<()> {
        let api = self.docker.api()?;
        let labels = HashMap::from([
            (LABEL_INSTANCE.to_owned(), self.instance.0.clone()),
            (LABEL_PURPOSE.to_owned(), "preparation".to_owned()),
            (LABEL_LAYER.to_owned(), key.to_owned()),
        ]);
        api.create_volume(VolumeCreateRequest {
            name: Some(volume.to_owned()),
            labels: Some(labels.clone()),
            ..VolumeCreateRequest::default()
        })
        .await
        .context("the container engine did not create a volume")?;
        let mount = Mount {
            typ: Some(MountType::VOLUME),
            source: Some(volume.to_owned()),
            target: Some(LAYER_FOLDER.to_owned()),
            ..Mount::default()
        };
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            network_disabled: Some(true),
            labels: Some(labels),
            host_config: Some(HostConfig {
                mounts: Some(vec![mount]),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        };
        let filled = api
            .create_container(None::<CreateContainerOptions>, body)
            .await
            .context("the container engine did not fill a volume; is the disk full?")?;
        remove_container(api, &filled.id).await
    }

    /// Removes what killed processes left of a layer. The caller must hold its
    /// lock, and know that no complete volume is recorded.
    async fn sweep(&self, key: &str) -> anyhow::Result<()> {
        let api = self.docker.api()?;
        let instance = format!("{LABEL_INSTANCE}={}", self.instance.0);
        let labels = vec![format!("{LABEL_LAYER}={key}"), instance];
        let filters = HashMap::from([("label", labels)]);
        let options = ListContainersOptionsBuilder::default()
            .all(true)
            .filters(&filters)
            .build();
        let containers = api
            .list_containers(Some(options))
            .await
            .context("the container engine did not list its containers")?;
        for id in containers.into_iter().filter_map(|container| container.id) {
            remove_container(api, &id).await?;
        }
        let options = ListVolumesOptionsBuilder::default()
            .filters(&filters)
            .build();
        let stale = api
            .list_volumes(Some(options))
            .await
            .context("the container engine did not list its volumes")?;
        for volume in stale.volumes.unwrap_or_default() {
            // A step may still use a volume whose record is lost.
            let options = None::<RemoveVolumeOptions>;
            if let Err(error) = api.remove_volume(&volume.name, options).await {
                tracing::debug!(volume = volume.name, %error, "volume not removed");
            }
        }
        Ok(())
    }
}

async fn remove_container(api: &bollard::Docker, id: &str) -> anyhow::Result<()> {
    let force = RemoveContainerOptionsBuilder::default().force(true).build();
    api.remove_container(id, Some(force))
        .await
        .context("the container engine did not remove a container")
}
