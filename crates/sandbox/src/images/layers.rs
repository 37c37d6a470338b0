//! The layers of an image, which images share.

use std::time::SystemTime;

use anyhow::Context;
use swe_ci_base::blocking::blocking;

use super::Images;

/// A layer of an image: its content's digest, and its size in bytes.
pub type Layer = (String, u64);

/// An object of ours in the container engine that can be recreated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictableImage {
    /// The name its owner uses for it.
    pub name: String,
    pub used: SystemTime,
    /// Empty for objects other than images and volumes filled from one.
    pub layers: Vec<Layer>,
}

impl Images {
    /// The layers of an image, lowest first; `None` when the engine does not
    /// have it. Where the sizes of its layers cannot be determined, the image
    /// counts as one layer.
    pub async fn layers(&self, name: &str) -> anyhow::Result<Option<Vec<Layer>>> {
        let Some(image) = self.inspect(name).await? else {
            return Ok(None);
        };
        if let Some(store) = self.docker.unpacked()? {
            let (store, name) = (store.clone(), name.to_owned());
            let sizes = move || Ok(store.image(&name).map(|image| store.layer_sizes(&image)));
            return blocking(sizes).await;
        }
        let history = self.docker.api()?.image_history(name).await;
        let history = history.context("the container engine did not return an image's history")?;
        let size = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let steps: Vec<(u64, &str)> = history
            .iter()
            .map(|step| (size(step.size), step.created_by.as_str()))
            .collect();
        let ids = image.root_fs.and_then(|root| root.layers);
        Ok(Some(
            match sizes(&steps, ids.as_ref().map_or(0, Vec::len)) {
                Some(sizes) => ids.into_iter().flatten().zip(sizes).collect(),
                None => vec![(name.to_owned(), size(image.size.unwrap_or(0)))],
            },
        ))
    }
}

/// The sizes of an image's layers, lowest first. The history lists the newest
/// step first, and includes steps that product no layer without marking them.
/// `None` when the layers cannot be determined.
fn sizes(history: &[(u64, &str)], layers: usize) -> Option<Vec<u64>> {
    let sizes_of = |wanted: &[Product]| -> Vec<u64> {
        let steps = history.iter().rev();
        let matching = steps.filter(|(size, by)| wanted.contains(&product(*size, by)));
        matching.map(|(size, _)| *size).collect()
    };
    [
        sizes_of(&[Product::Layer]),
        sizes_of(&[Product::Layer, Product::MaybeLayer]),
    ]
    .into_iter()
    .find(|sizes| sizes.len() == layers)
}

/// The product of a step of a Dockerfile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Product {
    Layer,
    /// A layer, unless the folder already existed.
    MaybeLayer,
    Setting,
}

fn product(size: u64, step: &str) -> Product {
    const SETTINGS: &str = "\
        ARG CMD ENTRYPOINT ENV EXPOSE HEALTHCHECK LABEL MAINTAINER ONBUILD SHELL STOPSIGNAL \
        USER VOLUME";
    // The older builder writes settings behind a marker, the newer one as they
    // are.
    let step = step
        .rsplit_once("#(nop)")
        .map_or(step, |(_, setting)| setting);
    let word = step.split_whitespace().next().unwrap_or_default();
    match word {
        _ if size > 0 => Product::Layer,
        "WORKDIR" => Product::MaybeLayer,
        word if SETTINGS.split(' ').any(|setting| setting == word) => Product::Setting,
        _ => Product::Layer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_distinguished_from_settings() {
        let check = |history: &[(u64, &str)], layers, expect: Option<&[u64]>| {
            assert_eq!(sizes(history, layers).as_deref(), expect, "{history:?}");
        };
        let older = [
            (0, "/bin/sh -c rm -f /tmp/host-ca.crt"),
            (0, "/bin/sh -c #(nop) WORKDIR /app"),
            (0, "/bin/sh -c #(nop)  ENV PATH=/opt/venv/bin"),
            (13, "/bin/sh -c pip install x"),
            (2, "/bin/sh -c #(nop) COPY file:b8 in /tmp/host-ca.crt "),
            (289, ""),
        ];
        check(&older, 5, Some(&[289, 2, 13, 0, 0]));
        // The folder already existed.
        check(&older, 4, Some(&[289, 2, 13, 0]));
        check(&older, 3, None);
        let newer = [
            (0, "CMD [\"python3\"]"),
            (0, "ENV A=b"),
            (7, "RUN /bin/sh -c apt-get update # buildkit"),
            (0, "COPY nothing /there # buildkit"),
            (100, "/bin/sh -c #(nop) ADD file:c4 in / "),
        ];
        check(&newer, 3, Some(&[100, 0, 7]));
        check(&[], 0, Some(&[]));
    }
}
