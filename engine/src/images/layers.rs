//! What an image is made of: its layers, which images share.

use std::time::SystemTime;

use anyhow::Context;

use super::{Images, is_absent};

/// A layer of an image: its content's digest, and its size in bytes.
pub type Layer = (String, u64);

/// Something of ours in the container engine that can be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What its keeper calls it.
    pub name: String,
    pub used: SystemTime,
    /// Of an image, and of volumes filled from one.
    pub layers: Vec<Layer>,
}

impl Images {
    /// The layers of an image, from the lowest up; `None` when the engine does
    /// not have it. Where sizes cannot be told apart, it is one layer.
    pub async fn layers(&self, name: &str) -> anyhow::Result<Option<Vec<Layer>>> {
        let api = self.docker.api()?;
        let image = match api.inspect_image(name).await {
            Ok(image) => image,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error).context("the container engine did not answer"),
        };
        let history = api.image_history(name).await;
        let history = history.context("the container engine did not tell an image's history")?;
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

/// The sizes of an image's layers, from the lowest up. The history has the
/// newest step first, and steps that made no layer; which these are it does not
/// say. `None` when that cannot be told.
fn sizes(history: &[(u64, &str)], layers: usize) -> Option<Vec<u64>> {
    let of = |wanted: &[Made]| -> Vec<u64> {
        let steps = history.iter().rev();
        let made = steps.filter(|(size, by)| wanted.contains(&made(*size, by)));
        made.map(|(size, _)| *size).collect()
    };
    [of(&[Made::Layer]), of(&[Made::Layer, Made::Perhaps])]
        .into_iter()
        .find(|sizes| sizes.len() == layers)
}

/// What a step of a Dockerfile made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    Layer,
    /// A folder that may have been there.
    Perhaps,
    Setting,
}

fn made(size: u64, step: &str) -> Made {
    const SETTINGS: [&str; 13] = [
        "ARG",
        "CMD",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
    ];
    // The older builder writes settings behind a mark, the newer one as they are.
    let step = step
        .rsplit_once("#(nop)")
        .map_or(step, |(_, setting)| setting);
    let word = step.split_whitespace().next().unwrap_or_default();
    match word {
        _ if size > 0 => Made::Layer,
        "WORKDIR" => Made::Perhaps,
        word if SETTINGS.contains(&word) => Made::Setting,
        _ => Made::Layer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_told_from_settings() {
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
        // The folder was there.
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
