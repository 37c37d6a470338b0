//! Tries a prepared task's suite where it should say the same (in another order,
//! without a home folder, on another day), and where it should say nothing:
//! without code.

use std::collections::BTreeSet;
use std::sync::Arc;

use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_candidates::{Class, class};
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::report::{Outcome, Report};
use swe_ci_grading::{Grading, grade, grade_shuffled};
use swe_ci_sandbox::{ContainerSpec, Purpose};
use swe_ci_store::TaskRow;
use swe_ci_views::preparation::{Condition, Trial};

use super::TaskPreparation;

/// Where a suite is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Setting<'a> {
    Usual,
    Shuffled { seed: u64 },
    Image(&'a str),
}

/// What passes on the target with all its source files emptied: no agent has to
/// do anything for it.
#[derive(Debug, Default)]
pub struct WithoutCode {
    /// Tests of T.
    pub tests: Vec<String>,
    /// How many of them the base does not pass.
    pub of_gap: u32,
}

impl TaskPreparation<'_> {
    /// Runs the target's suite so many times, each time in another order.
    ///
    /// # Errors
    /// Failures of the platform.
    pub async fn try_orders(&self, row: &TaskRow, runs: u32) -> Result<Trial> {
        let (condition, grading) = (Condition::Order, self.of_target(row).await?);
        let mut failing = BTreeSet::new();
        for run in 0..runs {
            // The same orders each time: a finding can be seen again.
            let setting = Setting::Shuffled { seed: run.into() };
            match self.tested(row, &grading, setting, "shuffled").await?.1 {
                Ok(report) => failing.extend(not_passing(row, &report)),
                Err(why) => return Ok(Trial::without_result(condition, run + 1, why)),
            }
        }
        Ok(Trial::of(condition, runs, failing))
    }

    /// Runs the target's suite in an image that differs from the task's by a
    /// condition. It runs again if tests fail: once may be chance.
    ///
    /// # Errors
    /// Failures of the platform.
    pub async fn try_image(
        &self,
        row: &TaskRow,
        condition: Condition,
        image: &str,
    ) -> Result<Trial> {
        let grading = self.of_target(row).await?;
        let mut failing: Option<BTreeSet<&str>> = None;
        let mut runs = 0;
        while runs < 2 && failing.as_ref().is_none_or(|tests| !tests.is_empty()) {
            runs += 1;
            let setting = Setting::Image(image);
            let tested = self.tested(row, &grading, setting, condition.name());
            let report = match tested.await?.1 {
                Ok(report) => report,
                Err(why) => return Ok(Trial::without_result(condition, runs, why)),
            };
            let now = not_passing(row, &report);
            failing = Some(match failing {
                Some(before) => &before & &now,
                None => now,
            });
        }
        Ok(Trial::of(condition, runs, failing.unwrap_or_default()))
    }

    /// # Errors
    /// Failures of the platform.
    pub async fn passing_without_code(&self, row: &TaskRow) -> Result<WithoutCode> {
        let of_target = self.of_target(row).await?;
        let oracle = &of_target.oracle;
        let mut empty = CodeTree::clone(oracle);
        let source = oracle
            .paths()
            .filter(|path| class(path.as_bytes()) == Class::Source);
        for path in source {
            empty.insert_file(path, Vec::new());
        }
        let grading = Grading {
            code: Arc::new(empty),
            ..of_target
        };
        let tested = self.tested(row, &grading, Setting::Usual, "without code");
        let Ok(report) = tested.await?.1 else {
            return Ok(WithoutCode::default()); // usually the tests cannot even be imported
        };
        let mut found = WithoutCode::default();
        let outcomes = Outcomes::of(&row.suite.tests, &report);
        let ends = row.suite.base_outcomes.iter().zip(outcomes.iter());
        for (id, (base, now)) in row.suite.tests.node_ids().iter().zip(ends) {
            if now == Outcome::Passed {
                found.tests.push(id.clone());
                found.of_gap += u32::from(base != Outcome::Passed);
            }
        }
        Ok(found)
    }

    async fn of_target(&self, row: &TaskRow) -> Result<Grading> {
        let (history, target) = (self.folders.history(row), row.target_sha.clone());
        let oracle = Arc::new(blocking(move || history.code(&target)).await?);
        Ok(Grading {
            code: oracle.clone(),
            base: oracle.clone(),
            oracle,
            command: row.test_command.clone(),
            known_tests: None,
            limits: self.limits,
            left_away: row.preparation.left_away(),
        })
    }

    /// The seconds of a suite, and its report or why there is none that can be
    /// believed.
    pub(crate) async fn tested(
        &self,
        row: &TaskRow,
        grading: &Grading,
        setting: Setting<'_>,
        what: &str,
    ) -> Result<(f64, std::result::Result<Report, String>)> {
        let purpose = Purpose::Preparation(format!("{} {what}", row.id));
        let image = match setting {
            Setting::Image(image) => image,
            Setting::Usual | Setting::Shuffled { .. } => &row.image,
        };
        let spec = ContainerSpec::new(image, grading.limits, purpose);
        let run = async {
            let sandbox = self.sandbox.open(&spec).await?;
            match setting {
                Setting::Shuffled { seed } => grade_shuffled(&*sandbox, grading, seed).await,
                Setting::Usual | Setting::Image(_) => grade(&*sandbox, grading, &mut |_| {}).await,
            }
        };
        match run.await {
            Ok(run) => Ok((run.seconds, run.result)),
            Err(error) if error.blames_the_code() => Ok((0.0, Err(error.to_string()))),
            Err(error) => Err(Error::Unavailable(error.to_string())),
        }
    }
}

/// The tests of T that a report has no pass of.
fn not_passing<'a>(row: &'a TaskRow, report: &Report) -> BTreeSet<&'a str> {
    let outcomes = Outcomes::of(&row.suite.tests, report);
    let tests = row.suite.tests.node_ids().iter().zip(outcomes.iter());
    let failing = tests.filter(|(_, outcome)| *outcome != Outcome::Passed);
    failing.map(|(id, _)| id.as_str()).collect()
}
