//! The tools at work: each in a container of its own, in the image the code's
//! tests run in, so that imports resolve as they do there.

use std::collections::BTreeMap;
use std::time::Duration;

use swe_ci_core::run::Limits;
use swe_ci_core::style::{CodeStyle, FileStyle, StyleTools};
use swe_ci_measure::{self as measure, Mode, Radon, Source};

use crate::clock::OffClock;
use crate::code::CodeTree;
use crate::sandbox::{BoxSpec, Exec, Exit, Purpose, Sandbox, SandboxError};
use crate::suite::CODE_FOLDER;

/// Where the driver stands, with what it is asked and what it found.
const FOLDER: &str = "/app/style";
const FOUND: &str = "/app/style/found.json";
/// The most bytes of what was found.
const MAX_FOUND: u64 = measure::MAX_FOUND;
/// Lines of what a tool printed that are told when it fails.
const LAST_LINES: usize = 10;

/// Measures code in one image.
pub struct Gauge<'a> {
    pub sandbox: &'a dyn Sandbox,
    /// Volume with the tools.
    pub layer: &'a str,
    pub image: &'a str,
    pub limits: Limits,
    /// What containers are marked with.
    pub what_for: String,
}

/// What was found in one version.
#[derive(Debug)]
pub struct Gauged {
    pub tools: StyleTools,
    pub style: CodeStyle,
    pub files: Vec<FileStyle>,
}

impl Gauge<'_> {
    /// What radon finds in files of these contents, by digest; or why it did
    /// not come to its end.
    pub async fn radon(
        &self,
        contents: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Result<Radon, String>, SandboxError> {
        let found = self.run(Mode::Radon, contents).await?;
        Ok(found.and_then(|found| measure::read_radon(&found, contents)))
    }

    /// What all of one version comes to, where radon has seen its files.
    pub async fn version(&self, source: &Source, radon: &Radon) -> Result<Gauged, SandboxError> {
        let found = self.run(Mode::Pylint, source).await?;
        let pylint = found.and_then(|found| measure::read_pylint(&found, source));
        let (style, files) = measure::join(source, radon, pylint.as_ref());
        Ok(Gauged {
            tools: radon.tools.clone(),
            style,
            files,
        })
    }

    /// Inside is why the tool did not come to its end, which may be the code's
    /// doing.
    async fn run(
        &self,
        mode: Mode,
        source: &Source,
    ) -> Result<Result<Vec<u8>, String>, SandboxError> {
        let purpose = Purpose::Preparation(format!("style of {}", self.what_for));
        let spec = BoxSpec {
            layer: Some(self.layer.to_owned()),
            ..BoxSpec::new(self.image, self.limits, purpose)
        };
        let sandbox = self.sandbox.open(&spec).await?;
        let mut code = CodeTree::default();
        for (path, bytes) in source {
            code.insert_file(path, bytes.clone());
        }
        let mut ours = CodeTree::default();
        ours.insert_file("measure.py", measure::DRIVER);
        ours.insert_file("request.json", measure::request(mode, CODE_FOLDER, source));
        sandbox
            .put(&[(CODE_FOLDER, &code), (FOLDER, &ours)])
            .await?;
        let exec = Exec {
            command: measure::command(mode, FOLDER),
            env: Vec::new(),
            working_dir: "/".into(),
            time_limit: Duration::from_secs(self.limits.test_seconds.into()),
            off: OffClock::default(),
        };
        let mut last: Vec<String> = Vec::new();
        let mut on_line = |line: &str| {
            last.push(line.chars().take(500).collect());
            last.drain(..last.len().saturating_sub(LAST_LINES));
        };
        let why = match sandbox.exec(&exec, &mut on_line).await? {
            Exit::Code(0) => None,
            Exit::Code(137) => Some("it was killed, most often for want of memory".to_owned()),
            Exit::Code(code) => Some(format!("exit code {code}: {}", last.join("\n"))),
            Exit::TimedOut => Some(format!("it took over {} s", self.limits.test_seconds)),
            Exit::DiskSpent => Some(format!("it wrote over {} MiB", self.limits.disk_mb)),
        };
        if let Some(why) = why {
            return Ok(Err(format!("{}: {why}", mode.name())));
        }
        match sandbox.read(FOUND, MAX_FOUND).await {
            Ok(Some(found)) => Ok(Ok(found)),
            Ok(None) => Ok(Err(format!("{}: it left nothing behind", mode.name()))),
            Err(error @ SandboxError::TooBig { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        }
    }
}
