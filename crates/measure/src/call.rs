//! Calls of the tools: versions, commands, requests.

use serde::Serialize;

use crate::Source;

/// Results depend on this version.
pub const PYLINT: &str = "4.0.4";
/// Results depend on this version.
pub const RADON: &str = "6.0.1";
/// Results depend on this version.
pub const COMPLEXIPY: &str = "8.3.0";
/// Results depend on this version.
pub const VULTURE: &str = "2.16";
/// Results depend on this version.
pub const GRIFFE: &str = "2.4.1";
/// Determines how Pylint understands code.
pub(crate) const ASTROID: &str = "4.0.4";

/// The layer's packages, in pip's format: the tools and all their dependencies,
/// so that every build of the layer gives the same results. complexipy alone has
/// compiled parts, and runs on the layer's Python. The last two are for images with
/// Python 3.10, whichever Python builds the layer.
pub const PACKAGES: [&str; 16] = [
    "pylint==4.0.4",
    "astroid==4.0.4",
    "dill==0.4.1",
    "isort==7.0.0",
    "mccabe==0.7.0",
    "platformdirs==4.5.1",
    "tomlkit==0.13.3",
    "radon==6.0.1",
    "mando==0.7.1",
    "six==1.17.0",
    "colorama==0.4.6",
    "complexipy==8.3.0",
    "vulture==2.16",
    "griffelib==2.4.1",
    "tomli==2.0.1",
    "typing-extensions==4.15.0",
];

/// Mount point of the layer with the tools: `python/bin/python3` is a Python of
/// its own, with the tools among its packages.
pub const LAYER: &str = "/opt/swe-ci/agent";

/// The program that calls the tools, for Python 3.10 to 3.14.
pub const DRIVER: &str = include_str!("measure.py");

/// Chooses the Python that runs the driver.
const START: &str = include_str!("measure.sh");

/// Files that radon measures in parallel: a container's number of processors.
const PROCESSES: u32 = 2;

/// radon's time limit for one file, in seconds.
const SECONDS_PER_FILE: u32 = 60;

/// The time limit of complexipy, Vulture or griffe for one version, in seconds.
const SECONDS_PER_VERSION: u32 = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Radon,
    Pylint,
    Complexipy,
    Vulture,
    Griffe,
}

impl Mode {
    /// The tool's own spelling of its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Radon => "radon",
            Self::Pylint => "Pylint",
            Self::Complexipy => "complexipy",
            Self::Vulture => "Vulture",
            Self::Griffe => "griffe",
        }
    }
}

/// The command that runs a tool in a container with the [`LAYER`]. `folder`
/// contains `measure.py` (the [`DRIVER`]) and `request.json`; the driver writes
/// `found.json` there atomically. The folder must not be part of the measured
/// code.
pub fn command(mode: Mode, folder: &str) -> Vec<String> {
    command_in(LAYER, mode, folder)
}

/// Like [`command`], for a layer at another path.
pub fn command_in(layer: &str, mode: Mode, folder: &str) -> Vec<String> {
    let mode = mode.name().to_lowercase();
    ["sh", "-c", START, "sh", layer, folder, &mode]
        .map(str::to_owned)
        .to_vec()
}

#[derive(Serialize)]
struct Request<'a> {
    root: &'a str,
    files: Vec<&'a String>,
    #[serde(flatten)]
    radon: Option<RadonLimits>,
}

#[derive(Serialize)]
struct RadonLimits {
    processes: u32,
    seconds_per_file: u32,
}

/// The content of `request.json`: the files to measure, below `root`.
pub fn request(mode: Mode, root: &str, source: &Source) -> Vec<u8> {
    let limits = RadonLimits {
        processes: PROCESSES,
        seconds_per_file: SECONDS_PER_FILE,
    };
    let request = Request {
        root,
        files: source.keys().collect(),
        radon: (mode == Mode::Radon).then_some(limits),
    };
    // Strings and numbers always serialise.
    serde_json::to_vec(&request).unwrap_or_default()
}

#[derive(Serialize)]
struct VersionsRequest<'a> {
    root: &'a str,
    processes: u32,
    seconds_per_version: u32,
    versions: Vec<VersionFiles<'a>>,
}

#[derive(Serialize)]
struct VersionFiles<'a> {
    folder: String,
    files: Vec<&'a String>,
}

/// The path of a version's file below `root`: each version has a folder of its
/// own, from 0.
pub fn version_path(version: usize, path: &str) -> String {
    format!("{version}/{path}")
}

/// The content of `request.json` for complexipy, Vulture and griffe, which measure
/// versions beside each other. The first is the base.
pub fn versions_request(root: &str, versions: &[&Source]) -> Vec<u8> {
    let request = VersionsRequest {
        root,
        processes: PROCESSES,
        seconds_per_version: SECONDS_PER_VERSION,
        versions: (0..)
            .zip(versions)
            .map(|(number, source): (usize, _)| VersionFiles {
                folder: number.to_string(),
                files: source.keys().collect(),
            })
            .collect(),
    };
    // Strings and numbers always serialise.
    serde_json::to_vec(&request).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_packages() {
        for (name, version) in [
            ("pylint", PYLINT),
            ("astroid", ASTROID),
            ("radon", RADON),
            ("complexipy", COMPLEXIPY),
            ("vulture", VULTURE),
            ("griffelib", GRIFFE),
        ] {
            let package = format!("{name}=={version}");
            assert!(PACKAGES.contains(&package.as_str()), "{package}");
        }
    }

    #[test]
    fn requests_list_files_and_limits() {
        let source = Source::from([("b.py".into(), vec![]), ("a \"é.py".into(), vec![])]);
        let check = |mode, expect: &str| {
            let request = String::from_utf8(request(mode, "/app/code", &source)).unwrap();
            assert_eq!(request, expect);
        };
        let files = r#""root":"/app/code","files":["a \"é.py","b.py"]"#;
        check(Mode::Pylint, &format!("{{{files}}}"));
        let limits = r#""processes":2,"seconds_per_file":60"#;
        check(Mode::Radon, &format!("{{{files},{limits}}}"));
    }

    #[test]
    fn commands_name_layer_folder_and_tool() {
        let arguments = super::command(Mode::Pylint, "/app/style");
        assert_eq!(arguments[..2], ["sh", "-c"]);
        assert_eq!(
            arguments[4..],
            ["/opt/swe-ci/agent", "/app/style", "pylint"]
        );
    }
}
