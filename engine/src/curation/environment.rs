//! An image in which a candidate's tests run: built from what the target's
//! files say, tried, mended and built again (the paper, section 3.1, step 3).

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use swe_ci_core::curation::{BuildAttempt, Fate};
use swe_ci_core::outcomes::TestList;
use swe_ci_core::run::Limits;
use swe_ci_curate::environment::configuration::{Configuration, Files};
use swe_ci_curate::environment::diagnose::{
    Doubt, diagnose, doubt, last_error, modules, own_modules,
};
use swe_ci_curate::environment::distribution::{Finder, Found};
use swe_ci_curate::environment::python::{self, BaseImages};
use swe_ci_curate::environment::recipe::{CODE, Recipe};
use swe_ci_curate::environment::repair::Repair;

use super::work::unavailable;
use crate::code::CodeTree;
use crate::error::{Error, Result};
use crate::images::{BuildNetwork, Images, Order};
use crate::sandbox::{BoxSpec, Purpose, Sandbox};
use crate::suite;

/// The most text of a build or a suite that is looked through.
const MAX_OUTPUT: usize = 4 << 20;

/// What one build may take: with slow mirrors minutes, never an hour.
const LONGEST_BUILD: Duration = Duration::from_hours(1);

/// After which times a build is made again that the package index may have
/// failed.
const AGAIN: [Duration; 3] = [
    Duration::from_secs(5),
    Duration::from_secs(20),
    Duration::from_mins(1),
];

/// What environments are made with.
pub struct Builder<'a> {
    pub images: &'a Images,
    pub sandbox: &'a dyn Sandbox,
    pub network: &'a BuildNetwork,
    pub finder: &'a Finder,
    /// The package index, where builds need help to know the times of its files.
    pub index_without_times: Option<&'a str>,
    pub bases: &'a BaseImages,
    pub limits: Limits,
    /// The most repairs of one environment.
    pub repairs: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct Built {
    pub fate: Fate,
    /// Content digest; empty where there is none.
    pub image: String,
    pub attempts: Vec<BuildAttempt>,
}

/// One environment that was tried.
struct Tried {
    /// Its image and how many tests pass in it; `None` where none start.
    runs: Option<(String, u32)>,
    outcome: String,
    output: String,
    /// Why that it could not be built may not be the project's doing.
    doubt: Option<Doubt>,
}

impl Builder<'_> {
    /// The environment of a target. `tag` names its images; `version` is what
    /// the project is to think it is. Each attempt is told as it ends.
    ///
    /// # Errors
    /// What is the platform's fault: no container engine, no package index.
    pub async fn build(
        &self,
        tag: &str,
        target: &CodeTree,
        time: Timestamp,
        version: Option<&str>,
        tell: &(dyn Fn(&BuildAttempt) + Send + Sync),
    ) -> Result<Built> {
        let mut recipe = match self.first(target, time, version) {
            Ok(recipe) => recipe,
            Err(why) => {
                return Ok(Built::dropped(
                    "no environment",
                    &format!("{why:#}"),
                    Vec::new(),
                ));
            }
        };
        let own = own_modules(target.paths());
        let mut repair = Repair::new(self.repairs);
        let mut attempts: Vec<BuildAttempt> = Vec::new();
        let mut best: Option<(String, u32)> = None;
        let mut change = String::new();
        loop {
            let began = Instant::now();
            let tried = self.attempt(tag, &recipe, target, time).await?;
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
            // A suite that runs is done, unless its failures name what is missing.
            if tried.runs.is_some() && findings.is_empty() {
                break;
            }
            let found = self.find(&modules(&findings), time).await?;
            let next = repair.next(&recipe, &findings, &found);
            let reasons = repair
                .attempts
                .last()
                .map(|attempt| attempt.reasons.join(" "));
            match next {
                Some(next) => {
                    change = reasons.unwrap_or_default();
                    recipe = next;
                }
                None => break,
            }
        }
        Ok(match best {
            Some((image, _)) => Built {
                fate: Fate::Survived,
                image,
                attempts,
            },
            None => {
                let detail = attempts.last().map(|attempt| attempt.outcome.clone());
                Built::dropped("no environment", &detail.unwrap_or_default(), attempts)
            }
        })
    }

    fn first(
        &self,
        target: &CodeTree,
        time: Timestamp,
        version: Option<&str>,
    ) -> anyhow::Result<Recipe> {
        let configuration = Configuration::read(&files(target));
        let day = time.to_zoned(TimeZone::UTC).date();
        let interpreter = python::choose(&configuration, self.bases, day)?;
        let mut recipe = Recipe::new(&configuration, &interpreter, time, version)?;
        recipe.index_without_times = self.index_without_times.map(str::to_owned);
        Ok(recipe)
    }

    /// Tries an environment, and again where it was the package index's doing
    /// that it could not be built.
    async fn attempt(
        &self,
        tag: &str,
        recipe: &Recipe,
        target: &CodeTree,
        time: Timestamp,
    ) -> Result<Tried> {
        for pause in AGAIN {
            let tried = self.attempt_once(tag, recipe, target).await?;
            let Some(doubt) = &tried.doubt else {
                return Ok(tried);
            };
            if !self.is_of_index(doubt, time).await? {
                return Ok(tried);
            }
            tracing::warn!(tag, "built again in {} s: {doubt}", pause.as_secs());
            tokio::time::sleep(pause).await;
        }
        let tried = self.attempt_once(tag, recipe, target).await?;
        if tried.doubt.is_some() {
            let answers = self.finder.answers().await;
            answers.map_err(|error| Error::Unavailable(format!("{error:#}")))?;
        }
        Ok(tried)
    }

    async fn is_of_index(&self, doubt: &Doubt, time: Timestamp) -> Result<bool> {
        match doubt {
            Doubt::Connection { .. } => Ok(true),
            Doubt::NoFiles { distribution } => {
                let has = self.finder.has(distribution, time).await;
                has.map_err(|error| Error::Unavailable(format!("{error:#}")))
            }
        }
    }

    async fn attempt_once(&self, tag: &str, recipe: &Recipe, target: &CodeTree) -> Result<Tried> {
        let mut output = String::new();
        let lines = recipe.lines();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let order = Order {
            tag,
            from: &recipe.base_image,
            lines: &lines,
            files: context(recipe, target),
            network: self.network,
            apart: true,
        };
        let making = self.images.make(order, |line| hear(&mut output, line));
        // Dropped, it is ended by the container engine.
        let built = match tokio::time::timeout(LONGEST_BUILD, making).await {
            Ok(built) => built.map_err(unavailable)?,
            Err(_) => Err(format!(
                "it took over {} minutes",
                LONGEST_BUILD.as_secs() / 60
            )),
        };
        let image = match built {
            Ok(image) => image,
            Err(problem) => {
                // Of a command the engine tells no more than its text.
                let why = last_error(&output).filter(|_| problem.starts_with("The command "));
                let outcome = format!(
                    "it could not be built: {}",
                    why.as_ref().unwrap_or(&problem)
                );
                let doubt = doubt(&output);
                hear(&mut output, &problem);
                return Ok(Tried {
                    runs: None,
                    outcome,
                    output,
                    doubt,
                });
            }
        };
        let purpose = Purpose::Preparation(format!("curate {tag}"));
        let spec = BoxSpec::new(&image, self.limits, purpose);
        let sandbox = self.sandbox.open(&spec).await;
        let sandbox = sandbox.map_err(unavailable)?;
        output.clear();
        let mut on_line = |line: &str| hear(&mut output, line);
        let run = suite::run(sandbox.as_ref(), target, self.limits, &mut on_line).await;
        let run = run.map_err(unavailable)?;
        let (runs, outcome) = match run.result {
            Ok(report) => {
                let passed = TestList::of_target(&report).len();
                let all = report.tests.len();
                (
                    (passed > 0).then_some((image, passed)),
                    format!("{passed} of {all} tests pass"),
                )
            }
            Err(why) => (None, why),
        };
        Ok(Tried {
            runs,
            outcome,
            output,
            doubt: None,
        })
    }

    async fn find(&self, modules: &[&str], time: Timestamp) -> Result<BTreeMap<String, Found>> {
        let mut all = BTreeMap::new();
        for module in modules {
            let found = self.finder.find(module, time).await;
            let found = found.map_err(|error| {
                Error::Unavailable(format!("cannot look up what provides {module}: {error:#}"))
            });
            if let Some(found) = found? {
                all.insert((*module).to_owned(), found);
            }
        }
        Ok(all)
    }
}

impl Built {
    fn dropped(reason: &str, detail: &str, attempts: Vec<BuildAttempt>) -> Self {
        Self {
            fate: Fate::dropped(reason, detail),
            image: String::new(),
            attempts,
        }
    }
}

/// Keeps the end of what is too long: there it says what went wrong.
fn hear(output: &mut String, line: &str) {
    output.push_str(line);
    output.push('\n');
    if output.len() > MAX_OUTPUT {
        let cut = output.floor_char_boundary(output.len() - MAX_OUTPUT / 2);
        output.drain(..cut);
    }
}

/// The files that say what is needed.
fn files(target: &CodeTree) -> Files {
    let said = |path: &str| !path.contains('/') || path.starts_with("requirements/");
    let paths: BTreeSet<&str> = target.paths().filter(|path| said(path)).collect();
    let file = |path: &str| Some((path.to_owned(), target.file(path)?.to_vec()));
    paths.into_iter().filter_map(file).collect()
}

/// What the recipe's lines copy.
fn context(recipe: &Recipe, target: &CodeTree) -> CodeTree {
    let mut context = CodeTree::default();
    for (path, text) in recipe.files() {
        context.insert_file(&path, text);
    }
    context.put_below(CODE, target);
    context
}

/// As it is shown: what is required is in a file beside the lines.
fn dockerfile(recipe: &Recipe) -> Vec<String> {
    let mut lines = vec![format!("FROM {}", recipe.base_image)];
    lines.extend(recipe.lines());
    let required = recipe.requirements.iter();
    lines.extend(required.map(|required| format!("# {} ({})", required.spec, required.reason)));
    lines
}
