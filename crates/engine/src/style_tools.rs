//! Runs the style tools: each in its own container, in the image of the code's
//! tests, so that imports resolve as they do there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_core::run::Limits;
use swe_ci_measure::{self as measure, Mode, Radon, Source, VersionFigure};
use swe_ci_runner::harness::Recipe;
use swe_ci_sandbox::{
    CODE_FOLDER, ContainerSpec, Exec, Exit, Purpose, Sandbox, SandboxError, WantedFiles,
};
use swe_ci_views::style::{CodeStyle, FileStyle};

/// Version of the measuring method; rises when tools or their use change, so
/// that results of different methods are never compared.
pub const METHOD: u32 = 4;

/// The tools, in a layer of their own.
pub fn recipe() -> Recipe {
    let install = format!("pip install {}", measure::PACKAGES.join(" "));
    let install = [
        &*install,
        r#""$python" -c "import pylint.lint, radon.metrics, complexipy, vulture, griffe""#,
    ];
    Recipe::python("style-tools", "the style tools", measure::PYLINT, &install)
}

/// Limits of a tool's container: as for a test run, but half an hour, since
/// each of an evolution's versions may take that long while the next evolutions
/// wait.
pub fn limits() -> Limits {
    Limits {
        test_seconds: 1_800,
        ..Limits::default()
    }
}

/// Folder of the driver, its request and its result.
const FOLDER: &str = "/app/style";
const RESULT: &str = "/app/style/found.json";
/// Lines of a failed tool's output that the error shows.
const LAST_LINES: usize = 10;

pub struct StyleMeter {
    pub sandbox: Arc<dyn Sandbox>,
    /// Volume with the tools.
    pub layer: String,
    pub image: String,
    pub limits: Limits,
    /// Label of the containers.
    pub what_for: String,
}

impl StyleMeter {
    /// Radon's result for files with these contents, by digest; inside is why
    /// it did not finish.
    pub async fn radon(
        &self,
        contents: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Result<Radon, String>, SandboxError> {
        let output = self.run_on(Mode::Radon, contents).await?;
        Ok(output.and_then(|output| measure::read_radon(&output, contents)))
    }

    /// The style of a whole version, from Pylint and radon's earlier result.
    pub async fn version(
        &self,
        source: &Source,
        radon: &Radon,
    ) -> Result<(CodeStyle, Vec<FileStyle>), SandboxError> {
        let output = self.run_on(Mode::Pylint, source).await?;
        let pylint = output.and_then(|output| measure::read_pylint(&output, source));
        Ok(measure::join(source, radon, pylint.as_ref()))
    }

    /// What complexipy, Vulture or griffe finds in each version; the first is the
    /// base. A tool that did not finish has the same problem with all of them.
    pub async fn versions(
        &self,
        mode: Mode,
        versions: &[Arc<Source>],
    ) -> Result<Vec<VersionFigure>, SandboxError> {
        let mut code = CodeTree::default();
        for (number, source) in versions.iter().enumerate() {
            for (path, bytes) in &**source {
                code.insert_file(&measure::version_path(number, path), bytes.clone());
            }
        }
        let sources: Vec<&Source> = versions.iter().map(|source| &**source).collect();
        let request = measure::versions_request(CODE_FOLDER, &sources);
        let output = self.run(mode, &code, request).await?;
        let found = output.and_then(|json| measure::read_versions(mode, &json, versions.len()));
        Ok(found.unwrap_or_else(|why| vec![Err(why); versions.len()]))
    }

    async fn run_on(
        &self,
        mode: Mode,
        source: &Source,
    ) -> Result<Result<Vec<u8>, String>, SandboxError> {
        let mut code = CodeTree::default();
        for (path, bytes) in source {
            code.insert_file(path, bytes.clone());
        }
        let request = measure::request(mode, CODE_FOLDER, source);
        self.run(mode, &code, request).await
    }

    /// Inside is why the tool did not finish, which may be the code's fault.
    async fn run(
        &self,
        mode: Mode,
        code: &CodeTree,
        request: Vec<u8>,
    ) -> Result<Result<Vec<u8>, String>, SandboxError> {
        let purpose = Purpose::Preparation(format!("style of {}", self.what_for));
        let spec = ContainerSpec {
            layer: Some(self.layer.clone()),
            ..ContainerSpec::new(&self.image, self.limits, purpose)
        };
        let sandbox = self.sandbox.open(&spec).await?;
        let mut driver = CodeTree::default();
        driver.insert_file("measure.py", measure::DRIVER);
        driver.insert_file("request.json", request);
        let folders = [(CODE_FOLDER, code), (FOLDER, &driver)];
        let exec = Exec {
            command: measure::command(mode, FOLDER),
            env: Vec::new(),
            reads_input: false,
            unprivileged: false,
            wanted: Some(WantedFiles::file(RESULT, measure::MAX_FOUND)),
            working_dir: "/".into(),
            time_limit: Duration::from_secs(self.limits.test_seconds.into()),
            off: ExcludedTime::default(),
        };
        let mut last: Vec<String> = Vec::new();
        let mut on_line = |line: &str| {
            last.push(line.chars().take(500).collect());
            last.drain(..last.len().saturating_sub(LAST_LINES));
        };
        let ended = sandbox.exec_with(&folders, &exec, &mut on_line);
        let why = match ended.await? {
            Exit::Code(0) => match sandbox.read(RESULT, measure::MAX_FOUND).await {
                Ok(Some(output)) => return Ok(Ok(output)),
                Ok(None) => "it wrote no result".to_owned(),
                Err(error @ SandboxError::TooBig { .. }) => return Ok(Err(error.to_string())),
                Err(error) => return Err(error),
            },
            Exit::Code(137) => "it was killed, most often by lack of memory".to_owned(),
            Exit::Code(code) => format!("exit code {code}: {}", last.join("\n")),
            Exit::TimedOut => format!("it took over {} s", self.limits.test_seconds),
            Exit::DiskSpent => format!("it wrote over {} MiB", self.limits.disk_mb),
        };
        Ok(Err(format!("{}: {why}", mode.name())))
    }
}
