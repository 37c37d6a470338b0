//! Builds an image in which a candidate's tests run, from the target's files:
//! build, try, repair and build again (the paper, section 3.1, step 3).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::Result;
use swe_ci_candidates::environment::configuration::{Configuration, Files, is_project_file};
use swe_ci_candidates::environment::diagnosis::{
    Finding, SuspectedOutage, diagnose, last_error, missing_modules, own_modules, suspected_outage,
};
use swe_ci_candidates::environment::distribution::{Finder, Provider};
use swe_ci_candidates::environment::python::{self, BaseImages};
use swe_ci_candidates::environment::recipe::{CODE, Recipe};
use swe_ci_core::outcomes::TestList;
use swe_ci_core::report::{Outcome, Report};
use swe_ci_core::run::Limits;
use swe_ci_core::task::TestCommand;
use swe_ci_core::wall::Wall;
use swe_ci_grading::{Grading, grade};
use swe_ci_sandbox::images::{BuildNetwork, ImageBuild, Images};
use swe_ci_sandbox::{ContainerSpec, Purpose, Sandbox};
use swe_ci_views::curation::{BuildAttempt, Fate};

use crate::next_recipe::NextRecipe;
use crate::unavailable;

/// The most output of a build or a suite that is analysed.
const MAX_OUTPUT: usize = 4 << 20;

/// The time limit of one build: with slow mirrors it takes minutes, never an
/// hour.
const BUILD_TIME_LIMIT: Duration = Duration::from_hours(1);

/// The longest error in an outcome, in characters.
const MAX_ERROR_CHARS: usize = 200;

/// The pauses before builds are repeated after a suspected outage of the
/// package index.
const RETRY_PAUSES: [Duration; 3] = [
    Duration::from_secs(5),
    Duration::from_secs(20),
    Duration::from_mins(1),
];

pub struct Builder<'a> {
    pub images: &'a Images,
    pub sandbox: &'a dyn Sandbox,
    pub network: &'a BuildNetwork,
    pub finder: &'a Finder,
    /// The package index, if builds need help to know the times of its files.
    pub index_without_times: Option<&'a str>,
    pub bases: &'a BaseImages,
    pub repairs: usize,
    /// The share of tests that pass in an environment that needs no more repairs.
    pub enough: f64,
    /// A suite that takes longer is refused, in seconds.
    pub max_suite_seconds: f64,
    pub command: TestCommand,
}

#[derive(Debug)]
pub struct Built {
    pub fate: Fate,
    /// Content digest; empty if there is none.
    pub image: String,
    pub attempts: Vec<BuildAttempt>,
}

/// One environment that was built and tried.
struct TriedEnvironment {
    stage: Stage,
    /// Its image and the number of passing tests; `None` if no test starts.
    runs: Option<(String, u32)>,
    enough_pass: bool,
    outcome: String,
    output: String,
    /// Why the failure may not be the project's fault.
    suspected_outage: Option<SuspectedOutage>,
}

impl Builder<'_> {
    /// Builds the environment of a target. `tag` names its images; `version` is
    /// the version that the project should see. Reports each attempt as it
    /// ends.
    ///
    /// # Errors
    /// Failures of the platform: no container engine, no package index.
    pub async fn build(
        &self,
        tag: &str,
        target: &CodeTree,
        time: Timestamp,
        version: Option<&str>,
        tell: &(dyn Fn(&BuildAttempt) + Send + Sync),
    ) -> Result<Built> {
        let configuration = Configuration::read(&files(target));
        let version = self.version(&configuration, time, version).await?;
        let mut recipe = match self.initial_recipe(&configuration, time, version.as_deref()) {
            Ok(recipe) => recipe,
            Err(fate) => return Ok(Built::without_image(fate, Vec::new())),
        };
        let base_image = self.images.pull_missing(&recipe.base_image).await;
        base_image.map_err(unavailable)?;
        let own = own_modules(target.paths());
        let mut next = NextRecipe::new(self.repairs, &configuration.hints);
        let mut attempts: Vec<BuildAttempt> = Vec::new();
        let mut best: Option<(String, u32)> = None;
        let mut change = String::new();
        let submodules = submodules(target);
        let (mut cause, mut detail) = ("", String::new());
        loop {
            let began = Instant::now();
            let tried = self.attempt(tag, &recipe, target, time).await?;
            let stage = tried.stage;
            let attempt = BuildAttempt {
                change: std::mem::take(&mut change),
                outcome: tried.outcome.clone(),
                seconds: began.elapsed().as_secs_f64(),
                dockerfile: dockerfile(&recipe),
            };
            tell(&attempt);
            attempts.push(attempt);
            let passes = |runs: &Option<(String, u32)>| runs.as_ref().map(|(_, passed)| *passed);
            if passes(&tried.runs) > passes(&best) {
                best.clone_from(&tried.runs);
            }
            let findings = diagnose(&tried.output, &own);
            let lacks_submodule = submodules.iter().any(|path| tried.output.contains(path));
            // What a hint breaks is no cause.
            if !next.is_hinting() {
                cause = match stage.cause(&findings) {
                    _ if lacks_submodule => "a git submodule that its repository does not hold",
                    cause => cause,
                };
                detail.clone_from(&tried.outcome);
            }
            if tried.enough_pass || stage == Stage::SlowSuite {
                break;
            }
            let providers = self.providers(&missing_modules(&findings), time).await?;
            let runs = tried.runs.is_some();
            match next.after(&recipe, runs, &findings, &providers) {
                Some(found) => (recipe, change) = found,
                None => break,
            }
        }
        // The name keeps an image from those who tidy up; the last attempt has it.
        let named = match &best {
            Some((image, _)) => self.images.tag(image, tag).await,
            None => self.images.untag(tag).await,
        };
        named.map_err(unavailable)?;
        Ok(match best {
            Some((image, _)) => Built {
                fate: Fate::Survived,
                image,
                attempts,
            },
            None => {
                let fate = Fate::dropped(cause, detail);
                Built::without_image(fate, attempts)
            }
        })
    }

    /// The version that the project should see: its tags', or else that of its
    /// newest release on the day.
    async fn version(
        &self,
        configuration: &Configuration,
        time: Timestamp,
        of_tags: Option<&str>,
    ) -> Result<Option<String>> {
        let Some(name) = configuration.name.as_deref().filter(|_| of_tags.is_none()) else {
            return Ok(of_tags.map(str::to_owned));
        };
        let newest = self.finder.newest_version(name, time).await;
        newest.map_err(unavailable)
    }

    /// The first recipe, or why there is none.
    fn initial_recipe(
        &self,
        configuration: &Configuration,
        time: Timestamp,
        version: Option<&str>,
    ) -> std::result::Result<Recipe, Fate> {
        let day = time.to_zoned(TimeZone::UTC).date();
        let interpreter = python::choose(configuration, self.bases, day);
        let interpreter = interpreter.map_err(|why| Fate::dropped(why.name(), why.to_string()))?;
        let recipe = Recipe::new(configuration, &interpreter, time, version);
        let mut recipe = recipe.map_err(|why| Fate::dropped(COMPILED, format!("{why:#}")))?;
        recipe.index_without_times = self.index_without_times.map(str::to_owned);
        Ok(recipe)
    }

    /// Tries an environment, and again after an outage of the package index.
    async fn attempt(
        &self,
        tag: &str,
        recipe: &Recipe,
        target: &CodeTree,
        time: Timestamp,
    ) -> Result<TriedEnvironment> {
        for pause in RETRY_PAUSES {
            let tried = self.attempt_once(tag, recipe, target).await?;
            let outage = match &tried.suspected_outage {
                Some(outage) if self.is_of_index(outage, time).await? => outage,
                _ => return Ok(tried),
            };
            let seconds = pause.as_secs();
            tracing::warn!(tag, "built again in {seconds} s: {outage}");
            tokio::time::sleep(pause).await;
        }
        let tried = self.attempt_once(tag, recipe, target).await?;
        if tried.suspected_outage.is_some() {
            let answers = self.finder.answers().await;
            answers.map_err(unavailable)?;
        }
        Ok(tried)
    }

    async fn is_of_index(
        &self,
        suspected_outage: &SuspectedOutage,
        time: Timestamp,
    ) -> Result<bool> {
        match suspected_outage {
            SuspectedOutage::Connection { .. } => Ok(true),
            SuspectedOutage::NoFiles { distribution } => {
                let has = self.finder.has(distribution, time).await;
                has.map_err(unavailable)
            }
        }
    }

    async fn attempt_once(
        &self,
        tag: &str,
        recipe: &Recipe,
        target: &CodeTree,
    ) -> Result<TriedEnvironment> {
        let mut output = String::new();
        let lines = recipe.lines();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let spec = ImageBuild {
            tag,
            from: &recipe.base_image,
            lines: &lines,
            files: context(recipe, target),
            network: self.network,
            apart: true,
        };
        let build = self.images.make(spec, |line| append(&mut output, line));
        // When dropped, the container engine ends the build.
        let built = match tokio::time::timeout(BUILD_TIME_LIMIT, build).await {
            Ok(built) => built.map_err(unavailable)?,
            Err(_) => Err(format!(
                "it took over {} minutes",
                BUILD_TIME_LIMIT.as_secs() / 60
            )),
        };
        let image = match built {
            Ok(image) => image,
            Err(problem) => {
                // The engine's message for a failed command is only the
                // command's text.
                let why = last_error(&output).filter(|_| problem.starts_with("The command "));
                let why = why.as_ref().unwrap_or(&problem);
                let outcome = format!("it could not be built: {why}");
                let suspected_outage = suspected_outage(&output);
                append(&mut output, &problem);
                return Ok(TriedEnvironment {
                    stage: Stage::Build,
                    runs: None,
                    enough_pass: false,
                    outcome,
                    output,
                    suspected_outage,
                });
            }
        };
        let purpose = Purpose::Preparation(format!("curate {tag}"));
        let limits = suite_limits(self.max_suite_seconds);
        let spec = ContainerSpec::new(&image, limits, purpose);
        let sandbox = self.sandbox.open(&spec).await;
        let sandbox = sandbox.map_err(unavailable)?;
        output.clear();
        let mut on_line = |line: &str| append(&mut output, line);
        let target = Arc::new(target.clone());
        let grading = Grading {
            code: target.clone(),
            base: target.clone(),
            oracle: target,
            command: self.command.clone(),
            known_tests: None,
            limits,
            // The preparation finds those that the tests bear.
            left_away: Wall::all(),
        };
        let run = grade(sandbox.as_ref(), &grading, &mut on_line).await;
        let run = run.map_err(unavailable)?;
        let enough = |report: &Report| {
            let passed = report
                .tests
                .values()
                .filter(|t| t.outcome == Outcome::Passed);
            passed.count() as f64 >= self.enough * report.tests.len() as f64
        };
        let enough_pass = run.result.as_ref().is_ok_and(enough);
        let (runs, outcome) = match run.result {
            Ok(report) => {
                // The output does not say why tests are skipped.
                for reason in skipped(&report) {
                    append(&mut output, reason);
                }
                let passed = TestList::of_target(&report).len();
                let outcome = format!("{passed} of {} tests pass", report.tests.len());
                ((passed > 0).then_some((image, passed)), outcome)
            }
            Err(why) => {
                let error = first_error(&output).or_else(|| raised(&output));
                let error = error.map(|error| format!(" ({error})"));
                (None, why.clone() + &error.unwrap_or_default())
            }
        };
        let stage = match &runs {
            None if run.seconds >= f64::from(limits.test_seconds) => Stage::SlowSuite,
            // Modules that are missing keep pytest from its start, not to its end.
            None if !outcome.starts_with("pytest ") => Stage::Crash,
            _ => Stage::Suite,
        };
        Ok(TriedEnvironment {
            stage,
            runs,
            enough_pass,
            outcome,
            output,
            suspected_outage: None,
        })
    }

    async fn providers(
        &self,
        modules: &[&str],
        time: Timestamp,
    ) -> Result<BTreeMap<String, Provider>> {
        let mut all = BTreeMap::new();
        for module in modules {
            let problem = || format!("cannot look up what provides {module}");
            let found = self.finder.find(module, time).await.with_context(problem);
            if let Some(provider) = found.map_err(unavailable)? {
                all.insert((*module).to_owned(), provider);
            }
        }
        Ok(all)
    }
}

impl Built {
    fn without_image(fate: Fate, attempts: Vec<BuildAttempt>) -> Self {
        Self {
            fate,
            image: String::new(),
            attempts,
        }
    }
}

/// The limits of a suite that may take this many seconds: one that hangs is
/// stopped soon after.
pub fn suite_limits(max_seconds: f64) -> Limits {
    let limits = Limits::default();
    let seconds = (max_seconds * SLOWEST)
        .ceil()
        .clamp(60.0, f64::from(limits.test_seconds));
    Limits {
        test_seconds: seconds as u32,
        ..limits
    }
}

/// How much longer than allowed a suite may take before it is stopped: another
/// run of it may be faster.
const SLOWEST: f64 = 1.5;

/// The reasons of skipped tests, each once.
fn skipped(report: &Report) -> BTreeSet<&str> {
    let tests = report.tests.values();
    let skipped = tests.filter(|test| test.outcome == Outcome::Skipped);
    skipped.map(|test| test.message.as_str()).collect()
}

const OWN_MODULES: &str = "its own modules cannot be imported";

/// Why a project is refused whose own modules are compiled.
pub const COMPILED: &str = "compiled modules";

/// Where an attempt to make an environment ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Build,
    Suite,
    /// The tests ended their own process.
    Crash,
    SlowSuite,
}

impl Stage {
    /// A short text that groups equal causes of failed attempts.
    fn cause(self, findings: &[Finding]) -> &'static str {
        let cause = |finding: &Finding| match finding {
            Finding::Compiled { .. } => Some(COMPILED),
            Finding::NoVersion { .. } => Some("a requirement without a release by its day"),
            Finding::Conflict { .. } => Some("requirements that conflict"),
            Finding::NotBuilt { .. } => Some("a requirement that cannot be built"),
            Finding::ProjectNotBuilt => Some("the project cannot be built"),
            Finding::OwnModule { .. } => Some(OWN_MODULES),
            Finding::MissingModule { .. } => Some("a module that nothing provides"),
            Finding::BrokenModule { .. } | Finding::MissingName { .. } => {
                Some("a requirement that cannot be imported")
            }
            _ => None,
        };
        match (self, findings.iter().find_map(cause)) {
            (Self::SlowSuite, _) => "slow suite",
            (Self::Crash, Some(OWN_MODULES)) => "its test runner needs the project itself",
            (Self::Crash, _) => "tests do not run to their end",
            (_, Some(cause)) => cause,
            (Self::Build, None) => "the image cannot be built",
            (Self::Suite, None) => "tests do not start",
        }
    }
}

/// The first error that pytest prints.
fn first_error(output: &str) -> Option<&str> {
    let mut lines = output.lines().map(str::trim);
    let error = lines.find_map(|line| line.strip_prefix("E "))?.trim();
    let end = error.char_indices().nth(MAX_ERROR_CHARS);
    Some(end.map_or(error, |(at, _)| &error[..at]))
}

/// The exception that ended Python, if its traceback is the last thing printed.
fn raised(output: &str) -> Option<&str> {
    let last = output
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())?;
    let (kind, _) = last.split_once(": ")?;
    let is_error = kind.ends_with("Error") && !kind.contains(' ');
    (is_error && last.len() <= MAX_ERROR_CHARS).then_some(last)
}

/// The folders whose contents are in other repositories.
fn submodules(target: &CodeTree) -> Vec<String> {
    let text = target.file(".gitmodules").unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let path = |line: &str| {
        let value = line.trim().strip_prefix("path")?.trim_start();
        let path = value.strip_prefix('=')?.trim();
        (!path.is_empty()).then(|| path.to_owned())
    };
    text.lines().filter_map(path).collect()
}

/// Keeps the end of a long output: it holds the error.
fn append(output: &mut String, line: &str) {
    output.push_str(line);
    output.push('\n');
    if output.len() > MAX_OUTPUT {
        let cut = output.floor_char_boundary(output.len() - MAX_OUTPUT / 2);
        output.drain(..cut);
    }
}

/// The files that declare requirements.
fn files(target: &CodeTree) -> Files {
    let paths: BTreeSet<&str> = target
        .paths()
        .filter(|path| is_project_file(path))
        .collect();
    let file = |path: &str| Some((path.to_owned(), target.file(path)?.to_vec()));
    paths.into_iter().filter_map(file).collect()
}

/// The files that the recipe's lines copy.
fn context(recipe: &Recipe, target: &CodeTree) -> CodeTree {
    let mut context = CodeTree::default();
    for (path, text) in recipe.files() {
        context.insert_file(&path, text);
    }
    context.put_below(CODE, target);
    context
}

/// The recipe for display: its requirements are in a file beside the lines.
fn dockerfile(recipe: &Recipe) -> Vec<String> {
    let mut lines = vec![format!("FROM {}", recipe.base_image)];
    lines.extend(recipe.lines());
    let required = recipe.requirements.iter();
    lines.extend(required.map(|required| format!("# {} ({})", required.spec, required.reason)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_stopped_soon_after_its_limit() {
        let check = |most: f64, expect| assert_eq!(suite_limits(most).test_seconds, expect);
        check(600.0, 900);
        check(10.0, 60);
        check(1e9, 3_600);
    }

    #[test]
    fn submodules_are_known_by_their_folders() {
        let mut target = CodeTree::default();
        assert!(submodules(&target).is_empty());
        target.insert_file(
            ".gitmodules",
            "[submodule \"a\"]\n\tpath = tests/data\n\turl = ../a.git\n[submodule \"b\"]\n path=b\n",
        );
        assert_eq!(submodules(&target), ["tests/data", "b"]);
    }

    #[test]
    fn the_first_error_tells_most() {
        let output = "x\nE   FileNotFoundError: tests/data/a\nE   other\n";
        assert_eq!(first_error(output), Some("FileNotFoundError: tests/data/a"));
        assert_eq!(first_error("none"), None);
        let crash = "Traceback:\n  import attr\nModuleNotFoundError: No module named 'attr'\n\n";
        let expect = "ModuleNotFoundError: No module named 'attr'";
        assert_eq!(raised(crash), Some(expect));
        assert_eq!(raised("1 passed: in 2 s"), None);
    }

    #[test]
    fn failed_attempts_have_a_cause() {
        let module = || "a".to_owned();
        let own = Finding::OwnModule { module: module() };
        let missing = Finding::MissingModule { module: module() };
        let check = |stage: Stage, findings: &[Finding], expect: &str| {
            assert_eq!(stage.cause(findings), expect, "{findings:?}");
        };
        check(Stage::Build, &[], "the image cannot be built");
        check(
            Stage::Build,
            &[Finding::ProjectNotBuilt],
            "the project cannot be built",
        );
        check(Stage::Suite, &[], "tests do not start");
        check(Stage::Suite, &[Finding::NoLocale], "tests do not start");
        check(
            Stage::Suite,
            &[own, missing],
            "its own modules cannot be imported",
        );
        check(
            Stage::Crash,
            &[Finding::NoLocale],
            "tests do not run to their end",
        );
        check(Stage::SlowSuite, &[Finding::NoLocale], "slow suite");
        // pytest of 2021 imports attrs.
        check(
            Stage::Crash,
            &[Finding::OwnModule { module: module() }],
            "its test runner needs the project itself",
        );
    }
}
