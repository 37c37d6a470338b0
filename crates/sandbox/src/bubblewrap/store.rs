//! Images as unpacked layers in the data folder, which the processes of an installation
//! share.
//!
//! ```text
//! layers/ID   an unpacked layer, by the first digits of its digest, and its size
//! images/ID   the configuration of an image; its name is its digest
//! names/NAME  the digest of the image with this name
//! run/…       the containers of processes, and what is being unpacked
//! ```

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail, ensure};
use bollard::models::{ImageInspect, ImageInspectRootFs};
use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};
use serde_json::Value;
use sha2::{Digest, Sha256};
use swe_ci_base::digest::hex;
use swe_ci_base::files::{bytes_below, write_whole};

use super::files::remove;
use crate::images::unpacked;

/// The digits of a layer's digest in the name of its folder: a mount names all
/// layers in one page of memory.
const SHORT: usize = 32;
/// How a layer says that a name of a lower one is gone, and that all of a folder's
/// are.
const GONE: &str = ".wh.";
const ALL_GONE: &str = ".wh..wh..opq";
/// How the kernel's overlay says the latter, without root.
const OPAQUE: &str = "user.overlay.opaque";

#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub root: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Image {
    /// `sha256:…`
    pub digest: String,
    pub config: Value,
}

impl Image {
    /// The digests of its layers, lowest first.
    pub fn layers(&self) -> Vec<String> {
        texts(&self.config["rootfs"]["diff_ids"])
    }

    pub fn env(&self) -> Vec<String> {
        texts(&self.config["config"]["Env"])
    }
}

fn texts(list: &Value) -> Vec<String> {
    let list = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    list.map(str::to_owned).collect()
}

impl Store {
    pub fn open(root: PathBuf) -> anyhow::Result<Self> {
        let shown = root.display().to_string();
        ensure!(
            !shown.contains([':', ',', '\\']),
            "the path {shown} has a colon, a comma or a backslash, which mounts do not take"
        );
        for folder in ["layers", "images", "names", "run"] {
            let made = fs::create_dir_all(root.join(folder));
            made.with_context(|| format!("cannot create {shown}"))?;
        }
        Ok(Self { root })
    }

    fn name_file(&self, name: &str) -> PathBuf {
        let last = name.rsplit('/').next().unwrap_or(name);
        let tag = if last.contains(':') { "" } else { ":latest" };
        let plain = format!("{name}{tag}")
            .replace('%', "%25")
            .replace('/', "%2F");
        self.root.join("names").join(plain)
    }

    pub fn layer(&self, digest: &str) -> PathBuf {
        let digits = digest.trim_start_matches("sha256:");
        let short = digits.get(..SHORT).unwrap_or(digits);
        self.root.join("layers").join(short)
    }

    fn image_file(&self, digest: &str) -> PathBuf {
        self.root
            .join("images")
            .join(digest.trim_start_matches("sha256:"))
    }

    /// An image by its name or its digest.
    pub fn image(&self, name: &str) -> Option<Image> {
        let digest = match name.starts_with("sha256:") {
            true => name.to_owned(),
            false => fs::read_to_string(self.name_file(name)).ok()?,
        };
        let config = fs::read(self.image_file(&digest)).ok()?;
        let config = serde_json::from_slice(&config).ok()?;
        Some(Image { digest, config })
    }

    /// What an engine would tell of an image.
    pub fn facts(&self, image: Image) -> ImageInspect {
        ImageInspect {
            repo_tags: Some(self.names_of(&image.digest)),
            architecture: image.config["architecture"].as_str().map(str::to_owned),
            root_fs: Some(ImageInspectRootFs {
                layers: Some(image.layers()),
                ..ImageInspectRootFs::default()
            }),
            id: Some(image.digest),
            ..ImageInspect::default()
        }
    }

    fn images(&self) -> Vec<Image> {
        let files = fs::read_dir(self.root.join("images"))
            .into_iter()
            .flatten()
            .flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        names
            .filter_map(|name| self.image(&format!("sha256:{name}")))
            .collect()
    }

    pub fn names_of(&self, digest: &str) -> Vec<String> {
        let files = fs::read_dir(self.root.join("names"))
            .into_iter()
            .flatten()
            .flatten();
        let files = files.filter(|f| fs::read_to_string(f.path()).is_ok_and(|of| of == digest));
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        names
            .map(|name| name.replace("%2F", "/").replace("%25", "%"))
            .collect()
    }

    pub fn tag(&self, digest: &str, name: &str) -> anyhow::Result<()> {
        write_whole(&self.name_file(name), digest.as_bytes())
    }

    /// The layers of an image with their bytes on disk, lowest first.
    pub fn layer_sizes(&self, image: &Image) -> Vec<(String, u64)> {
        let size = |layer: &String| {
            let size = fs::read_to_string(self.layer(layer).with_extension("bytes"));
            size.ok().and_then(|size| size.parse().ok()).unwrap_or(0)
        };
        let layers = image.layers().into_iter();
        layers.map(|layer| (layer.clone(), size(&layer))).collect()
    }

    /// Unpacks an archive of one image, as `docker save` writes it.
    pub fn load(&self, archive: &Path) -> anyhow::Result<String> {
        let folder = self.scratch()?;
        let load = || {
            let file = File::open(archive)?;
            let mut archive = tar::Archive::new(unpacked(io::BufReader::new(file))?);
            for entry in archive.entries()? {
                ensure!(entry?.unpack_in(&folder)?, "it leads out of its folder");
            }
            self.keep(&folder)
        };
        let loaded = load();
        remove(&folder)?;
        loaded
    }

    /// Keeps the image of an unpacked archive.
    fn keep(&self, folder: &Path) -> anyhow::Result<String> {
        let inside = |name: &Value| {
            let name = name.as_str().context("its manifest names no file")?;
            let path = folder
                .join(name)
                .canonicalize()
                .with_context(|| name.to_owned())?;
            ensure!(
                path.starts_with(folder.canonicalize()?),
                "{name} leads out of it"
            );
            Ok(path)
        };
        let manifest = fs::read(folder.join("manifest.json"));
        let manifest =
            manifest.context("it holds no manifest.json; write it with `docker save`")?;
        let manifest: Value = serde_json::from_slice(&manifest)?;
        let config = fs::read(inside(&manifest[0]["Config"])?)?;
        let digest = format!("sha256:{}", hex(&Sha256::digest(&config)));
        let image = Image {
            config: serde_json::from_slice(&config)?,
            digest,
        };
        let layers = manifest[0]["Layers"]
            .as_array()
            .context("it has no layers")?;
        ensure!(layers.len() == image.layers().len(), "it lacks layers");
        for (digest, layer) in image.layers().iter().zip(layers) {
            if !self.layer(digest).is_dir() {
                self.keep_layer(digest, &inside(layer)?)?;
            }
        }
        write_whole(&self.image_file(&image.digest), &config)?;
        Ok(image.digest)
    }

    fn keep_layer(&self, digest: &str, archive: &Path) -> anyhow::Result<()> {
        let folder = self.scratch()?;
        let file = io::BufReader::new(File::open(archive)?);
        let mut archive = Hashing(Sha256::new(), unpacked(file)?);
        unpack_layer(&mut archive, &folder)?;
        io::copy(&mut archive, &mut io::sink())?;
        let found = format!("sha256:{}", hex(&archive.0.finalize()));
        ensure!(
            found == digest,
            "its layer {digest} has the content {found}"
        );
        let (to, bytes) = (self.layer(digest), bytes_below(&folder).to_string());
        write_whole(&to.with_extension("bytes"), bytes.as_bytes())?;
        // Another process may have been first.
        if fs::rename(&folder, &to).is_err() {
            ensure!(to.is_dir(), "cannot create {}", to.display());
            remove(&folder)?;
        }
        Ok(())
    }

    /// Removes a name of an image, or by its digest all of it; false if a container
    /// uses it.
    pub fn remove(&self, name: &str) -> anyhow::Result<bool> {
        let Some(image) = self.image(name) else {
            return Ok(true);
        };
        let names = self.names_of(&image.digest);
        let is_name = !name.starts_with("sha256:");
        if is_name && names.len() > 1 {
            fs::remove_file(self.name_file(name))?;
            return Ok(true);
        }
        if self.is_used(&image.digest) {
            return Ok(false);
        }
        for name in names {
            fs::remove_file(self.name_file(&name))?;
        }
        fs::remove_file(self.image_file(&image.digest))?;
        let left: Vec<String> = self.images().iter().flat_map(Image::layers).collect();
        for layer in image.layers().iter().filter(|layer| !left.contains(layer)) {
            let (folder, gone) = (self.layer(layer), self.scratch()?);
            fs::rename(&folder, &gone)?;
            fs::remove_file(folder.with_extension("bytes"))?;
            remove(&gone)?;
        }
        Ok(true)
    }

    /// Whether a container of any process is of this image.
    fn is_used(&self, digest: &str) -> bool {
        let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        let mut containers =
            inside(self.root.join("run")).flat_map(|process| inside(process.path()));
        containers.any(|c| fs::read_to_string(c.path().join("image")).is_ok_and(|of| of == digest))
    }

    /// A new empty folder on the same file system.
    fn scratch(&self) -> anyhow::Result<PathBuf> {
        let name = uuid::Uuid::now_v7().simple().to_string();
        let folder = self.root.join("run").join(name);
        fs::create_dir(&folder)?;
        Ok(folder)
    }
}

/// Unpacks the archive of a layer. All files belong to this user, and none is a device.
fn unpack_layer(archive: impl Read, into: &Path) -> anyhow::Result<()> {
    let into = into.canonicalize()?;
    let mut archive = tar::Archive::new(archive);
    archive.set_preserve_permissions(true);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        if path.components().any(|part| part == Component::ParentDir) {
            bail!("{} leads out of its layer", path.display());
        }
        let kind = entry.header().entry_type();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(gone) = name.strip_prefix(GONE) {
            let parent = into.join(path.strip_prefix("/").unwrap_or(&path));
            let parent = parent.parent().unwrap_or(&into).canonicalize()?;
            ensure!(
                parent.starts_with(&into),
                "{} leads out of it",
                path.display()
            );
            match name == ALL_GONE {
                true => setxattr(parent, OPAQUE, b"y", XattrFlags::empty())?,
                false => {
                    let gone = parent.join(gone);
                    mknodat(CWD, gone, FileType::CharacterDevice, Mode::empty(), 0)?;
                }
            }
        } else if kind.is_dir() || kind.is_file() || kind.is_symlink() || kind.is_hard_link() {
            let inside = entry.unpack_in(&into);
            let inside = inside.with_context(|| path.display().to_string())?;
            ensure!(inside, "{} leads out of its layer", path.display());
            let to = into.join(path.strip_prefix("/").unwrap_or(&path));
            if kind.is_dir() && to.symlink_metadata()?.is_dir() {
                // Its user could not fill or remove it otherwise.
                let mode = entry.header().mode()? & 0o7777 | 0o700;
                fs::set_permissions(&to, Permissions::from_mode(mode))?;
            }
        }
    }
    Ok(())
}

struct Hashing<R>(Sha256, R);

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.1.read(to)?;
        self.0.update(&to[..read]);
        Ok(read)
    }
}
