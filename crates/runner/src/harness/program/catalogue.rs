//! The known programs: ours, and the operator's own.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use swe_ci_base::files;

use super::Program;

macro_rules! ours {
    ($($file:literal),* $(,)?) => {
        [$(($file, include_str!(concat!("../programs/", $file)))),*]
    };
}

const OURS: [(&str, &str); 9] = ours![
    "aider.toml",
    "claude-code.toml",
    "codex.toml",
    "gemini-cli.toml",
    "iflow-cli.toml",
    "kimi-code.toml",
    "mini-swe-agent.toml",
    "opencode.toml",
    "qwen-code.toml",
];

/// A larger file is refused.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    programs: BTreeMap<String, Program>,
}

impl Catalogue {
    /// Our programs, and those described by `*.toml` files in a folder, which
    /// need not exist.
    pub fn open(folder: &Path) -> Result<Self, String> {
        let mut catalogue = Self::default();
        for (file, text) in OURS {
            catalogue.add(file, text)?;
        }
        for path in descriptions(folder)? {
            let bytes =
                files::read_limited(&path, MAX_BYTES).map_err(|error| format!("{error:#}"))?;
            let file = path.display().to_string();
            let text =
                String::from_utf8(bytes).map_err(|_| format!("{file}: is not UTF-8 text"))?;
            catalogue.add(&file, &text)?;
        }
        Ok(catalogue)
    }

    pub fn get(&self, name: &str) -> Option<&Program> {
        self.programs.get(name)
    }

    /// By name.
    pub fn iter(&self) -> impl Iterator<Item = &Program> {
        self.programs.values()
    }

    /// A name means one program: an operator's file that replaced one of ours
    /// would change what results mean.
    fn add(&mut self, file: &str, text: &str) -> Result<(), String> {
        let program = Program::parse(file, text)?;
        match self.programs.insert(program.name.clone(), program) {
            None => Ok(()),
            Some(Program { name, .. }) => Err(format!(
                "{file}: name: there is a harness `{name}` already; choose another"
            )),
        }
    }
}

fn descriptions(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let failed = |error| format!("cannot read the folder {}: {error}", folder.display());
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|end| end == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
