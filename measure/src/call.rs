//! How the tools are asked.

use serde::Serialize;

use crate::Source;

/// Its version decides what is found.
pub const PYLINT: &str = "4.0.4";
/// Its version decides what is found.
pub const RADON: &str = "6.0.1";
/// What Pylint understands of code is astroid's doing.
pub(crate) const ASTROID: &str = "4.0.4";

/// What has to be in the layer, as pip takes it: the tools, and all they need,
/// so that a layer built later finds the same. None has compiled parts. The
/// last two are for images with Python 3.10, whatever builds the layer.
pub const PACKAGES: [&str; 13] = [
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
    "tomli==2.0.1",
    "typing-extensions==4.15.0",
];

/// Where the layer with the tools is mounted: `python/bin/python3` is a Python
/// of its own, and the tools are in that one's packages.
pub const LAYER: &str = "/opt/swe-ci/agent";

/// The program that calls the tools, in Python 3.10 to 3.14.
pub const DRIVER: &str = include_str!("measure.py");

/// Chooses the Python it is run by.
const START: &str = include_str!("measure.sh");

/// Files radon looks at side by side: the processors a container has.
const PROCESSES: u32 = 2;

/// The most that radon may take for one file, in seconds.
const SECONDS_PER_FILE: u32 = 60;

/// Which tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Radon,
    Pylint,
}

impl Mode {
    /// As the tool writes itself.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Radon => "radon",
            Self::Pylint => "Pylint",
        }
    }
}

/// What runs a tool in a container with the [`LAYER`]. `folder` holds
/// `measure.py` (the [`DRIVER`]) and `request.json`; `found.json` is written
/// there, whole or not at all. It must not be part of the measured code.
#[must_use]
pub fn command(mode: Mode, folder: &str) -> Vec<String> {
    command_in(LAYER, mode, folder)
}

/// As [`command`], where the layer is elsewhere.
#[must_use]
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
    radon: Option<Pace>,
}

#[derive(Serialize)]
struct Pace {
    processes: u32,
    seconds_per_file: u32,
}

/// `request.json`: to measure these files, which are below `root`.
#[must_use]
pub fn request(mode: Mode, root: &str, source: &Source) -> Vec<u8> {
    let pace = Pace {
        processes: PROCESSES,
        seconds_per_file: SECONDS_PER_FILE,
    };
    let request = Request {
        root,
        files: source.keys().collect(),
        radon: (mode == Mode::Radon).then_some(pace),
    };
    // Strings and numbers can always be written.
    serde_json::to_vec(&request).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_packages() {
        for (name, version) in [("pylint", PYLINT), ("astroid", ASTROID), ("radon", RADON)] {
            let package = format!("{name}=={version}");
            assert!(PACKAGES.contains(&package.as_str()), "{package}");
        }
    }

    #[test]
    fn requests_say_what_is_asked_for() {
        let source = Source::from([("b.py".into(), vec![]), ("a \"é.py".into(), vec![])]);
        let check = |mode, expect: &str| {
            let request = String::from_utf8(request(mode, "/app/code", &source)).unwrap();
            assert_eq!(request, expect);
        };
        let files = r#""root":"/app/code","files":["a \"é.py","b.py"]"#;
        check(Mode::Pylint, &format!("{{{files}}}"));
        let pace = r#""processes":2,"seconds_per_file":60"#;
        check(Mode::Radon, &format!("{{{files},{pace}}}"));
    }

    #[test]
    fn commands_name_layer_folder_and_tool() {
        let words = command(Mode::Pylint, "/app/style");
        assert_eq!(words[..2], ["sh", "-c"]);
        assert_eq!(words[4..], ["/opt/swe-ci/agent", "/app/style", "pylint"]);
    }
}
