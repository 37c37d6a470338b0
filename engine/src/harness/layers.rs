//! Layers: an installed program in a volume, which any task's container has
//! mounted, read only.
//!
//! A layer is an image built on the base image, and a volume that the container
//! engine fills from it. Which volume is whole is told by a record in the data
//! folder, written last: what a killed process leaves behind is never taken
//! for a layer.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use anyhow::{Context, bail};
use bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType, VolumeCreateRequest};
use bollard::query_parameters::{
    CreateContainerOptions, CreateImageOptionsBuilder, ListContainersOptionsBuilder,
    ListVolumesOptionsBuilder, RemoveContainerOptionsBuilder, RemoveVolumeOptions,
};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};

use super::program::Recipe;
use crate::blocking::blocking;
use crate::code::CodeTree;
use crate::files;
use crate::images::{self, BuildNetwork, Held, Images};
use crate::sandbox::{Docker, Instance, LABEL_INSTANCE, LABEL_PURPOSE, LAYER_FOLDER};

/// Which layer a volume was made for, or a container that fills one.
const LABEL_LAYER: &str = "swe-ci.layer";

/// No package of an agent program is larger.
const MAX_TARBALL: u64 = 1 << 30;

/// An installed program.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Name of the volume, to be mounted at [`LAYER_FOLDER`].
    pub volume: String,
    /// Of the image the volume was filled from.
    pub digest: String,
    /// How long building took; 0 when it was there.
    pub seconds: f64,
}

#[derive(Debug, Clone)]
pub struct Layers {
    docker: Docker,
    images: Images,
    instance: Instance,
    base_image: String,
    /// Where an operator puts packages.
    packages: PathBuf,
    records: PathBuf,
}

/// That a volume is whole.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    volume: String,
    digest: String,
}

/// A package an operator brought along.
struct Tarball {
    files: CodeTree,
    digest: String,
}

/// A layer to be built.
struct Order<'a> {
    recipe: &'a Recipe,
    tarball: Option<Tarball>,
    /// Of everything that decides what is in it.
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
            packages: data.join("harnesses"),
            records: data.join("layers"),
        }
    }

    /// The layer of a recipe, built when it is not there. Whoever else asks
    /// for the same one meanwhile, here or in another process of this data
    /// folder, waits for it.
    pub async fn ready(
        &self,
        recipe: &Recipe,
        network: &BuildNetwork,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<Layer> {
        let order = self.order(recipe).await?;
        if let Some(layer) = self.recorded(&order.key).await? {
            return Ok(layer);
        }
        let _lock = self.lock(&order.key).await?;
        if let Some(layer) = self.recorded(&order.key).await? {
            return Ok(layer);
        }
        let what = format!("{} {}", recipe.title, recipe.version);
        say(format!("installing {what}"));
        self.build(&order, network, say)
            .await
            .with_context(|| format!("cannot install {what}"))
    }

    async fn order<'a>(&self, recipe: &'a Recipe) -> anyhow::Result<Order<'a>> {
        let base = self.images.digest(&self.base_image).await?;
        let base = base.with_context(|| {
            format!(
                "the base image {} is not there; `make setup` fetches or makes it",
                self.base_image
            )
        })?;
        let tarball = self.tarball(recipe).await?;
        let mut parts = CodeTree::default();
        parts.insert_file("base", base);
        parts.insert_file("program", recipe.digest());
        if let Some(tarball) = &tarball {
            parts.insert_file("tarball", tarball.digest.clone());
        }
        Ok(Order {
            recipe,
            tarball,
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

    /// The layers there are.
    pub async fn held(&self) -> anyhow::Result<Vec<Held>> {
        let base = self.images.layers(&self.base_image).await?;
        let base: HashSet<images::Layer> = base.into_iter().flatten().collect();
        let mut held = Vec::new();
        let folder = self.records.clone();
        for (key, record, used) in blocking(move || Ok(records(&folder))).await? {
            let image = self.images.layers(&record.digest).await?;
            let mut layers = image.unwrap_or_default();
            // The volume has what the image has above its base.
            let own = layers.iter().filter(|layer| !base.contains(layer));
            let bytes = own.map(|(_, bytes)| bytes).sum();
            layers.push((record.volume, bytes));
            held.push(Held {
                name: key,
                used,
                layers,
            });
        }
        Ok(held)
    }

    /// Removes a layer: its volume and the image that filled it. False when
    /// something still needs it. It is built again when it is asked for.
    pub async fn give_back(&self, key: &str) -> anyhow::Result<bool> {
        let _lock = self.lock(key).await?;
        let (path, key) = (self.record(key), key.to_owned());
        let Some(record) = blocking({
            let path = path.clone();
            move || Ok(read(&path))
        })
        .await?
        else {
            return Ok(true);
        };
        let options = None::<RemoveVolumeOptions>;
        match self
            .docker
            .api()?
            .remove_volume(&record.volume, options)
            .await
        {
            Ok(())
            | Err(bollard::errors::Error::DockerResponseServerError {
                status_code: 404, ..
            }) => {}
            Err(bollard::errors::Error::DockerResponseServerError {
                status_code: 409, ..
            }) => return Ok(false),
            Err(error) => {
                let what = format!("cannot remove the volume of the layer {key}");
                return Err(error).context(what);
            }
        }
        blocking(move || Ok(std::fs::remove_file(path)?)).await?;
        self.images.remove(&record.digest).await?;
        Ok(true)
    }

    /// The layer that is recorded, if its volume is still there.
    async fn recorded(&self, key: &str) -> anyhow::Result<Option<Layer>> {
        let path = self.record(key);
        let record = blocking(move || {
            let record = read(&path);
            files::touch(&path);
            Ok(record)
        });
        let Some(Record { volume, digest }) = record.await? else {
            return Ok(None);
        };
        let found = match self.docker.api()?.inspect_volume(&volume).await {
            Ok(found) => found,
            Err(bollard::errors::Error::DockerResponseServerError {
                status_code: 404, ..
            }) => return Ok(None),
            Err(error) => return Err(error).context("the container engine did not answer"),
        };
        // One of that name without the label was made by a container that
        // asked for it after it was gone, and is empty.
        let whole = found.labels.get(LABEL_LAYER).is_some_and(|of| of == key);
        Ok(whole.then_some(Layer {
            volume,
            digest,
            seconds: 0.0,
        }))
    }

    fn record(&self, key: &str) -> PathBuf {
        self.records.join(format!("{key}.json"))
    }

    /// Held as long as the file is open, and so never longer than the process
    /// lives.
    async fn lock(&self, key: &str) -> anyhow::Result<File> {
        let (folder, path) = (
            self.records.clone(),
            self.records.join(format!("{key}.lock")),
        );
        blocking(move || {
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            let lock =
                File::create(&path).with_context(|| format!("cannot open {}", path.display()))?;
            lock.lock()
                .with_context(|| format!("cannot lock {}", path.display()))?;
            Ok(lock)
        })
        .await
    }

    async fn build(
        &self,
        order: &Order<'_>,
        network: &BuildNetwork,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<Layer> {
        let began = Instant::now();
        let Order { recipe, key, .. } = order;
        let given = match &order.tarball {
            Some(tarball) => self.give(tarball).await?,
            None => String::new(),
        };
        let mut lines = recipe.lines(&given);
        lines.push(format!("LABEL {LABEL_INSTANCE}={}", self.instance.0));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let tag = format!("swe-ci/agent-{}:{key}", recipe.name);
        let images = &self.images;
        let digest = images
            .build(&tag, &self.base_image, &lines, network, say)
            .await?;
        self.sweep(key).await?;
        let volume = format!("swe-ci-{}-{}", recipe.name, uuid::Uuid::now_v7().simple());
        self.fill(&volume, &digest, key).await?;
        let record = Record {
            volume: volume.clone(),
            digest: digest.clone(),
        };
        self.put_record(key, &record).await?;
        Ok(Layer {
            volume,
            digest,
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    /// Makes an image that holds nothing but a package, for builds to copy it
    /// from.
    async fn give(&self, tarball: &Tarball) -> anyhow::Result<String> {
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
            .context("the container engine does not take the package in")?;
        Ok(format!("swe-ci/given:{tag}"))
    }

    /// A new volume is filled when a container with it is made, from what the
    /// image has in its place. The container itself is never started.
    async fn fill(&self, volume: &str, image: &str, key: &str) -> anyhow::Result<()> {
        let api = self.docker.api()?;
        let labels: HashMap<String, String> = [
            (LABEL_INSTANCE, self.instance.0.as_str()),
            (LABEL_PURPOSE, "preparation"),
            (LABEL_LAYER, key),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        api.create_volume(VolumeCreateRequest {
            name: Some(volume.to_owned()),
            labels: Some(labels.clone()),
            ..VolumeCreateRequest::default()
        })
        .await
        .context("the container engine did not make a volume")?;
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

    /// Removes what killed processes left of a layer. Only for whoever holds
    /// its lock, and has seen that no whole volume is recorded.
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
        let left = api
            .list_volumes(Some(options))
            .await
            .context("the container engine did not list its volumes")?;
        for volume in left.volumes.unwrap_or_default() {
            // A step may still have one whose record is lost.
            let options = None::<RemoveVolumeOptions>;
            if let Err(error) = api.remove_volume(&volume.name, options).await {
                tracing::debug!(volume = volume.name, %error, "volume not removed");
            }
        }
        Ok(())
    }

    async fn put_record(&self, key: &str, record: &Record) -> anyhow::Result<()> {
        let (path, text) = (self.record(key), serde_json::to_vec(record)?);
        blocking(move || files::write_whole(&path, &text)).await
    }
}

fn read(path: &Path) -> Option<Record> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// All records with their keys and the time of last use; what cannot be read
/// is none.
fn records(folder: &Path) -> Vec<(String, Record, SystemTime)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let record = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let key = name.strip_suffix(".json")?.to_owned();
        let used = entry.metadata().and_then(|data| data.modified()).ok()?;
        Some((key, read(&entry.path())?, used))
    };
    entries.filter_map(record).collect()
}

async fn remove_container(api: &bollard::Docker, id: &str) -> anyhow::Result<()> {
    let force = RemoveContainerOptionsBuilder::default().force(true).build();
    api.remove_container(id, Some(force))
        .await
        .context("the container engine did not remove a container")
}
