//! Image archives, written anew with the names that this platform chooses.
//!
//! An engine gives an image every name in its archive, and takes it away from
//! the image that had it: an archive of a dataset could replace the base image
//! of all environments. An archive therefore loses its names while it is loaded.
//! Only plain files, folders and the links of `docker save` pass, under plain
//! paths; the files that name images are written from their known fields.
//!
//! An archive that is saved gets one name, since other programs load an image
//! by it, in each list: engines read one or the other. It has no times, so that
//! equal images give equal bytes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Component, Path};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use swe_ci_base::files::{PACKER_BYTES, packer_of};

/// The list of an archive's images.
const MANIFEST: &str = "manifest.json";
/// The same in the layout of the Open Container Initiative.
const INDEX: &str = "index.json";
/// The names of images in the oldest layout.
const REPOSITORIES: &str = "repositories";
/// The annotations of [`INDEX`] with an image's name: as containerd reads it, with
/// the registry, and its tag alone.
const CONTAINERD_NAME: &str = "io.containerd.image.name";
const REFERENCE_NAME: &str = "org.opencontainers.image.ref.name";
/// The registry of a name that has none.
const DEFAULT_REGISTRY: &str = "docker.io";
/// The most bytes of a file that lists images.
const MAX_LIST_BYTES: u64 = 4 << 20;
/// What the name of a layer's file ends with.
const LAYER_FILE: &str = "layer.tar";

/// An image in [`MANIFEST`]. An engine reads field names in any case; these are
/// written alone.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Image {
    config: String,
    #[serde(default, skip_deserializing)]
    repo_tags: Vec<String>,
    #[serde(default)]
    layers: Vec<String>,
}

/// [`INDEX`], without its annotations: they name images.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Index {
    schema_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    manifests: Vec<Descriptor>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: String,
    digest: String,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<Value>,
    #[serde(skip_deserializing, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'static str, String>,
}

/// Copies an archive of one image, plain or gzipped, with this name, or none,
/// instead of its own. Blocks.
///
/// # Errors
/// When the archive is damaged, holds no image or several, or has entries that
/// no engine writes.
pub(super) fn renamed(
    archive: impl Read,
    to: impl Write,
    name: Option<&str>,
) -> anyhow::Result<()> {
    let mut archive = tar::Archive::new(unpacked(archive)?);
    let mut copy = tar::Builder::new(to);
    let mut listed = false;
    for entry in archive.entries()? {
        let entry = entry.context("it is damaged")?;
        let Some(path) = plain_path(&entry.path()?)? else {
            continue; // the root folder
        };
        match path.as_str() {
            REPOSITORIES => continue,
            MANIFEST => {
                append_file(&mut copy, &path, &manifest(&list(entry)?, name)?)?;
                listed = true;
            }
            INDEX => append_file(&mut copy, &path, &index(&list(entry)?, name)?)?,
            _ => copy_entry(entry, &path, &mut copy)?,
        }
    }
    ensure!(
        listed,
        "it holds no {MANIFEST}; write it with `docker save`"
    );
    copy.into_inner()?.flush()?;
    Ok(())
}

/// The archive as a tar, whether it is gzipped or not.
pub(crate) fn unpacked<'a>(mut archive: impl Read + 'a) -> anyhow::Result<Box<dyn Read + 'a>> {
    let mut start = Vec::new();
    archive
        .by_ref()
        .take(PACKER_BYTES)
        .read_to_end(&mut start)?;
    let packer = packer_of(&start);
    let whole = std::io::Cursor::new(start).chain(archive);
    Ok(match packer {
        Some(("gzip", _)) => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        Some((name, command)) => bail!(
            "it is packed by {name}, and may be packed by gzip only: unpack it with `{command}`"
        ),
        None => Box::new(whole),
    })
}

/// `a/b` for any spelling of it, `None` for the root.
fn plain_path(path: &Path) -> anyhow::Result<Option<String>> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => {
                parts.push(name.to_str().context("it has a name that is not UTF-8")?);
            }
            _ => bail!("its entry {} leaves the archive", path.display()),
        }
    }
    Ok((!parts.is_empty()).then(|| parts.join("/")))
}

/// The text of a file that lists images.
fn list(entry: tar::Entry<'_, impl Read>) -> anyhow::Result<Vec<u8>> {
    let kind = entry.header().entry_type();
    ensure!(
        kind.is_file() && entry.size() <= MAX_LIST_BYTES,
        "its list of images is no file of at most {} MiB",
        MAX_LIST_BYTES >> 20
    );
    let mut text = Vec::new();
    entry.take(MAX_LIST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

fn manifest(text: &[u8], name: Option<&str>) -> anyhow::Result<Vec<u8>> {
    let mut images: Vec<Image> =
        serde_json::from_slice(text).with_context(|| format!("its {MANIFEST} is not valid"))?;
    ensure!(
        images.len() == 1,
        "it holds {} images; one is expected",
        images.len()
    );
    for image in &mut images {
        image.repo_tags = name.map(str::to_owned).into_iter().collect();
    }
    Ok(serde_json::to_vec(&images)?)
}

fn index(text: &[u8], name: Option<&str>) -> anyhow::Result<Vec<u8>> {
    let mut index: Index =
        serde_json::from_slice(text).with_context(|| format!("its {INDEX} is not valid"))?;
    if let Some(name) = name {
        let count = index.manifests.len();
        let [image] = &mut index.manifests[..] else {
            bail!("its {INDEX} lists {count} images; one is expected");
        };
        let tag = name.rsplit_once(':').map_or("latest", |(_, tag)| tag);
        image.annotations = BTreeMap::from([
            (CONTAINERD_NAME, format!("{DEFAULT_REGISTRY}/{name}")),
            (REFERENCE_NAME, tag.to_owned()),
        ]);
    }
    Ok(serde_json::to_vec(&index)?)
}

/// Copies a plain file, a folder or a layer that is a link to another one.
fn copy_entry(
    mut entry: tar::Entry<'_, impl Read>,
    path: &str,
    copy: &mut tar::Builder<impl Write>,
) -> anyhow::Result<()> {
    let kind = entry.header().entry_type();
    if kind.is_file() {
        let mut header = header(tar::EntryType::Regular, entry.size());
        copy.append_data(&mut header, path, &mut entry)?;
    } else if kind.is_dir() {
        let mut header = header(tar::EntryType::Directory, 0);
        copy.append_data(&mut header, format!("{path}/"), std::io::empty())?;
    } else if kind.is_symlink() {
        let target = entry.link_name()?.unwrap_or_default();
        let target = target.to_str().unwrap_or_default();
        ensure!(
            is_layer_link(path, target),
            "its entry {path} is a link to {target}"
        );
        let mut header = header(tar::EntryType::Symlink, 0);
        copy.append_link(&mut header, path, target)?;
    } else if !kind.is_pax_global_extensions() {
        bail!("its entry {path} is neither a file nor a folder");
    }
    Ok(())
}

/// Whether a link is one that older engines write for equal layers, `A/layer.tar` to
/// `../B/layer.tar`, or one that Podman writes for all: to `../DIGEST.tar`. Nothing
/// reaches a list of images by it.
fn is_layer_link(path: &str, target: &str) -> bool {
    let is_layer = |path: &str| match path.split_once('/') {
        Some((folder, LAYER_FILE)) => !["", ".", ".."].contains(&folder),
        _ => false,
    };
    let is_content = |path: &str| {
        let digest = path.strip_suffix(".tar").unwrap_or_default();
        digest.len() == 64 && digest.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    let target = target.strip_prefix("../");
    is_layer(path) && target.is_some_and(|target| is_layer(target) || is_content(target))
}

fn append_file(
    copy: &mut tar::Builder<impl Write>,
    path: &str,
    content: &[u8],
) -> std::io::Result<()> {
    let mut header = header(tar::EntryType::Regular, content.len() as u64);
    copy.append_data(&mut header, path, content)
}

fn header(kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(if kind.is_dir() { 0o755 } else { 0o644 });
    header.set_size(size);
    header.set_mtime(0);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    const HONEST: &str = r#"[{"Config": "c.json", "RepoTags": null, "Layers": ["a/layer.tar"]}]"#;
    const CLEAN: &str = r#"[{"Config":"c.json","RepoTags":[],"Layers":["a/layer.tar"]}]"#;

    /// An archive of entries with a kind, a path, and a content or a target. The
    /// paths are written as they are, whatever they say.
    fn archive(entries: &[(tar::EntryType, &str, &str)]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (kind, path, content) in entries {
            let link = kind.is_symlink() || kind.is_hard_link();
            let content = if link { "" } else { content };
            let mut header = header(*kind, content.len() as u64);
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            if link {
                let target = entries.iter().find(|e| e.1 == *path).unwrap().2;
                header.set_link_name_literal(target).unwrap();
            }
            header.set_cksum();
            archive.append(&header, content.as_bytes()).unwrap();
        }
        archive.into_inner().unwrap()
    }

    /// The files and links of an archive.
    fn entries(archive: &[u8]) -> Vec<(String, String)> {
        let mut archive = tar::Archive::new(archive);
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            if let Some(target) = entry.link_name().unwrap() {
                content = target.display().to_string();
            }
            (path, content)
        });
        entries.collect()
    }

    fn copied(archive: &[u8]) -> anyhow::Result<Vec<(String, String)>> {
        let mut copy = Vec::new();
        renamed(archive, &mut copy, None)?;
        Ok(entries(&copy))
    }

    #[test]
    fn other_packers_are_named() {
        let check = |archive: &[u8], expect: &str| {
            let error = format!("{:#}", copied(archive).unwrap_err());
            assert!(error.contains(expect), "{error}");
        };
        check(b"\x28\xb5\x2f\xfdrest", "packed by zstd");
        check(b"\xfd7zXZ\0rest", "`xz -d`");
        check(b"PK\x03\x04rest", "packed by zip");
    }

    #[test]
    fn names_are_left_out() {
        use tar::EntryType::Regular;
        let check = |lists: &[(&str, &str)], expect: &[(&str, &str)]| {
            let lists = lists.iter().map(|(path, text)| (Regular, *path, *text));
            let found = copied(&archive(&lists.collect::<Vec<_>>())).unwrap();
            let found: Vec<(&str, &str)> = found.iter().map(|(p, t)| (&**p, &**t)).collect();
            assert_eq!(found, expect);
        };
        check(&[(MANIFEST, HONEST)], &[(MANIFEST, CLEAN)]);
        for named in [
            r#"[{"Config": "c.json", "RepoTags": ["swe-ci/base:py311"], "Layers": ["a/layer.tar"]}]"#,
            // Engines read names of fields in any case.
            r#"[{"Config": "c.json", "repotags": ["swe-ci/base:py311"], "Layers": ["a/layer.tar"]}]"#,
            r#"[{"Config": "c.json", "RepoTags": [], "REPOTAGS": ["x"], "Layers": ["a/layer.tar"]}]"#,
        ] {
            check(&[(MANIFEST, named)], &[(MANIFEST, CLEAN)]);
            // Any spelling of the path, and every copy of the file.
            check(
                &[("./manifest.json", named), (".//./manifest.json", named)],
                &[(MANIFEST, CLEAN), (MANIFEST, CLEAN)],
            );
        }
        check(
            &[
                (REPOSITORIES, r#"{"swe-ci/base": {"py311": "a"}}"#),
                ("a/layer.tar", "layer"),
                (MANIFEST, HONEST),
                ("./repositories", "{}"),
            ],
            &[("a/layer.tar", "layer"), (MANIFEST, CLEAN)],
        );
        check(
            &[
                (
                    INDEX,
                    r#"{"schemaVersion": 2, "mediaType": "m", "annotations": {"a": "b"}, "manifests": [
                        {"mediaType": "t", "digest": "sha256:0", "size": 3, "platform": {"os": "linux"},
                         "annotations": {"io.containerd.image.name": "docker.io/swe-ci/base:py311"}}]}"#,
                ),
                (MANIFEST, HONEST),
            ],
            &[
                (
                    INDEX,
                    r#"{"schemaVersion":2,"mediaType":"m","manifests":[{"mediaType":"t","digest":"sha256:0","size":3,"platform":{"os":"linux"}}]}"#,
                ),
                (MANIFEST, CLEAN),
            ],
        );
    }

    #[test]
    fn a_saved_archive_has_one_name_and_no_times() {
        use tar::EntryType::Regular;
        let list = (Regular, MANIFEST, HONEST);
        let at = |seconds| {
            let bytes = archive(&[(Regular, "a/layer.tar", "layer"), list]);
            let mut later = tar::Builder::new(Vec::new());
            let mut read = tar::Archive::new(bytes.as_slice());
            for entry in read.entries().unwrap() {
                let entry = entry.unwrap();
                let mut header = entry.header().clone();
                header.set_mtime(seconds);
                header.set_cksum();
                later.append(&header, entry).unwrap();
            }
            let mut copy = Vec::new();
            let later = later.into_inner().unwrap();
            renamed(later.as_slice(), &mut copy, Some("swe-ci/task:1")).unwrap();
            copy
        };
        assert_eq!(at(1), at(2));
        let named = CLEAN.replace("[],", r#"["swe-ci/task:1"],"#);
        let found = entries(&at(1));
        assert_eq!(found[1], (MANIFEST.to_owned(), named));
        // The loader removes the name again.
        assert_eq!(copied(&at(1)).unwrap()[1].1, CLEAN);
    }

    #[test]
    fn a_saved_archive_has_its_name_in_each_list() {
        use tar::EntryType::Regular;
        const ONE: &str = r#"{"mediaType":"t","digest":"sha256:0","size":3}"#;
        let named = |images: &str| {
            let index = format!(r#"{{"schemaVersion":2,"manifests":[{images}]}}"#);
            let saved = archive(&[(Regular, INDEX, &index), (Regular, MANIFEST, HONEST)]);
            let mut copy = Vec::new();
            renamed(saved.as_slice(), &mut copy, Some("swe-ci/task:1")).map(|()| copy)
        };
        let copy = named(ONE).unwrap();
        let index: Value = serde_json::from_str(&entries(&copy)[0].1).unwrap();
        let expect = serde_json::json!({
            "io.containerd.image.name": "docker.io/swe-ci/task:1",
            "org.opencontainers.image.ref.name": "1",
        });
        assert_eq!(index["manifests"][0]["annotations"], expect);
        // The loader removes the name again.
        let without = format!(r#"{{"schemaVersion":2,"manifests":[{ONE}]}}"#);
        assert_eq!(copied(&copy).unwrap()[0].1, without);
        for images in [String::new(), format!("{ONE},{ONE}")] {
            let error = named(&images).unwrap_err().to_string();
            assert!(error.contains("one is expected"), "{error}");
        }
    }

    #[test]
    fn what_no_engine_writes_is_refused() {
        use tar::EntryType::{Directory, Fifo, Link, Regular, Symlink};
        let list = (Regular, MANIFEST, HONEST);
        let two = format!("[{0}, {0}]", &HONEST[1..HONEST.len() - 1]);
        let check = |entries: &[_], expect: &str| {
            let said = match copied(&archive(entries)) {
                Ok(_) => "fine".to_owned(),
                Err(error) => format!("{error:#}"),
            };
            assert!(said.contains(expect), "{entries:?} -> {said}");
        };
        check(&[list], "fine");
        check(&[(Directory, "a/", ""), list], "fine");
        check(&[], "no manifest.json");
        check(&[(Regular, MANIFEST, "[]")], "0 images");
        check(&[(Regular, MANIFEST, &two)], "2 images");
        check(&[(Regular, MANIFEST, "{")], "not valid");
        let twice = r#"[{"Config": "a", "Config": "b", "Layers": []}]"#;
        check(&[(Regular, MANIFEST, twice)], "not valid");
        // A list behind a link.
        check(&[(Symlink, MANIFEST, "other.json")], "is no file");
        check(&[list, (Link, MANIFEST, "other.json")], "is no file");
        check(&[(Symlink, "folder", "."), list], "is a link");
        check(
            &[(Symlink, "a/layer.tar", "../manifest.json"), list],
            "is a link",
        );
        check(
            &[(Symlink, "a/layer.tar", "../../layer.tar"), list],
            "is a link",
        );
        check(
            &[(Symlink, "layer.tar", "../b/layer.tar"), list],
            "is a link",
        );
        check(&[(Symlink, "a/layer.tar", "../b/layer.tar"), list], "fine");
        let of_podman = format!("../{}.tar", "0a".repeat(32));
        check(&[(Symlink, "a/layer.tar", &of_podman), list], "fine");
        // Paths and kinds.
        check(
            &[(Regular, "../manifest.json", HONEST)],
            "leaves the archive",
        );
        check(&[(Regular, "/manifest.json", HONEST)], "leaves the archive");
        check(
            &[(Regular, "a/../manifest.json", HONEST)],
            "leaves the archive",
        );
        check(&[(Fifo, "a", ""), list], "neither a file nor a folder");
    }

    #[test]
    fn archives_are_plain_or_gzipped() {
        let plain = archive(&[(tar::EntryType::Regular, MANIFEST, HONEST)]);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let gzipped = gzip.finish().unwrap();
        assert_eq!(copied(&plain).unwrap(), copied(&gzipped).unwrap());
        assert!(copied(b"BZh91AY&SY").is_err());
        assert!(copied(&gzipped[..gzipped.len() / 2]).is_err());
        assert!(copied(&plain[..540]).is_err());
    }
}
