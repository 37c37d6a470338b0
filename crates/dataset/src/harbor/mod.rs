//! Exports a split as tasks for Harbor: one task per step from base to target,
//! and one with an iteration per step for the whole evolution.

mod config;
mod instruction;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use serde_json::json;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::files::write_whole;
use swe_ci_core::report::Report;
use swe_ci_core::run::Limits;
use swe_ci_core::task::TESTS;
use swe_ci_core::test_gap::{self, non_passed};
use swe_ci_grading::{Grading, Portable};
use swe_ci_sandbox::images::{Images, task_image_name};
use swe_ci_store::TaskRow;
use swe_ci_store::artifacts::Artifacts;

use crate::{TaskFolders, base_report_of};

/// The two tasks that a task of a split becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// From the base to the target at once.
    Step,
    /// The same in several iterations, each of which is graded.
    Evolution { iterations: u32 },
}

impl Variant {
    /// The folder with the tasks of this kind.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Evolution { .. } => "evolution",
        }
    }

    /// Harbor's name of a task: organisation and name.
    pub fn task_name(self, task: &str) -> String {
        match self {
            Self::Step => format!("swe-ci/{task}"),
            Self::Evolution { .. } => format!("swe-ci-evolution/{task}"),
        }
    }
}

/// What stands beside the tasks.
pub const README: &str = include_str!("readme.md");

/// Writes both tasks of a task of a split into `folder`, and its image, which the
/// engine has, unless another task has brought it.
pub async fn write_task(
    folders: &TaskFolders,
    images: &Images,
    artifacts: &Artifacts,
    row: &TaskRow,
    folder: &Path,
    iterations: u32,
) -> Result<()> {
    if let Some(plan) = row.test_command.plan() {
        return Err(Error::Invalid(format!(
            "{} is a task in {}: the verifier of Harbor's tasks runs pytest alone",
            row.id, plan.language
        )));
    }
    let history = folders.fetched(row).await?;
    // The tasks begin with this name, whatever else the engine calls the image.
    let image = task_image_name(&row.image);
    images.tag(&row.image, &image).await?;
    let content = image.rsplit(':').next().unwrap_or(&image);
    let archive = folder.join("images").join(format!("{content}.tar.gz"));
    if !archive.exists() {
        create_folder(&folder.join("images"))?;
        images.save(&row.image, &archive).await?;
    }
    let base_report =
        Report::parse(&artifacts.get(&base_report_of(row)).await?).map_err(anyhow::Error::new)?;
    let (row, folder) = (row.clone(), folder.to_owned());
    blocking(move || {
        let base = history.code(&row.base_sha)?;
        let oracle = history.code(&row.target_sha)?;
        let task = HarborTask::new(row, image, &base, oracle, base_report)?;
        for variant in [Variant::Step, Variant::Evolution { iterations }] {
            task.write(&folder, variant)?;
        }
        Ok(())
    })
    .await?;
    Ok(())
}

/// A task with everything that its folders hold.
struct HarborTask {
    row: TaskRow,
    image: String,
    /// The base with the oracle's tests, as agents get it.
    code: CodeTree,
    oracle: CodeTree,
    base_report: Report,
    limits: Limits,
    grading: Portable,
}

impl HarborTask {
    fn new(
        row: TaskRow,
        image: String,
        base: &CodeTree,
        oracle: CodeTree,
        base_report: Report,
    ) -> anyhow::Result<Self> {
        let known: BTreeSet<String> = base_report.tests.keys().cloned().collect();
        let target = row.suite.tests.node_ids().iter().cloned();
        let code = base.clone().with_folder_of(TESTS, &oracle);
        let limits = Limits::default();
        let grading = Portable::new(&Grading {
            code: Arc::new(CodeTree::default()),
            base: Arc::new(code.clone()),
            oracle: Arc::new(oracle.clone()),
            command: row.test_command.clone(),
            known_tests: Some(Arc::new(known.into_iter().chain(target).collect())),
            limits,
            left_away: row.preparation.left_away(),
        })?;
        Ok(Self {
            row,
            image,
            code,
            oracle,
            base_report,
            limits,
            grading,
        })
    }

    fn write(&self, folder: &Path, variant: Variant) -> anyhow::Result<()> {
        let root = folder.join(variant.folder()).join(self.row.id.as_str());
        let write = |path: &str, content: &[u8]| write_whole(&root.join(path), content);
        let config = config::task_toml(&self.row, variant, self.limits)?;
        write("task.toml", config.as_bytes())?;
        self.write_environment(variant, &write)?;
        self.write_verifier(&write)?;
        write("solution/solve.sh", SOLVE.as_bytes())?;
        write("solution/target.tar", &self.oracle.to_tar("")?)?;
        let gap = non_passed(self.row.suite.tests.node_ids(), Some(&self.base_report));
        match variant {
            Variant::Step => {
                write("instruction.md", instruction::first(&gap).as_bytes())?;
            }
            Variant::Evolution { iterations } => {
                for number in 1..=iterations {
                    let step = config::step_name(number);
                    let text = instruction::of_iteration(number, iterations, &gap);
                    write(&format!("steps/{step}/instruction.md"), text.as_bytes())?;
                    if number > 1 {
                        let path = format!("steps/{step}/workdir/setup.sh");
                        write(&path, SETUP.as_bytes())?;
                    }
                }
            }
        }
        Ok(())
    }

    fn write_environment(
        &self,
        variant: Variant,
        write: &impl Fn(&str, &[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut gap = CodeTree::default();
        for file in test_gap::files(&non_passed(
            self.row.suite.tests.node_ids(),
            Some(&self.base_report),
        )) {
            gap.insert_file(&file.name, file.content);
        }
        let mut dockerfile = format!(
            "FROM {}\nADD code.tar /app/code/\nADD non-passed.tar /app/non-passed/\n",
            self.image
        );
        if let Variant::Evolution { .. } = variant {
            dockerfile += "COPY gap.py tests.json tests.tar /opt/swe-ci/\n";
            let tests = CodeTree::default().with_folder_of(TESTS, &self.oracle);
            let plan = json!({
                "tests": self.row.suite.tests.node_ids(),
                "seconds": self.limits.test_seconds,
            });
            write("environment/gap.py", include_bytes!("gap.py"))?;
            write("environment/tests.json", plan.to_string().as_bytes())?;
            write("environment/tests.tar", &tests.to_tar("")?)?;
        }
        dockerfile += "WORKDIR /app\n";
        write("environment/Dockerfile", dockerfile.as_bytes())?;
        write("environment/code.tar", &self.code.to_tar("")?)?;
        write("environment/non-passed.tar", &gap.to_tar("")?)
    }

    fn write_verifier(
        &self,
        write: &impl Fn(&str, &[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let counts = self.row.suite.counts;
        let task = json!({
            "format": 1,
            "task_id": self.row.id,
            "current_sha": self.row.base_sha,
            "target_sha": self.row.target_sha,
            "tests": self.row.suite.tests.node_ids(),
            "base_passing": self.base_report.passing().collect::<Vec<_>>(),
            "base_passed": counts.base_in_target,
            "target_passed": counts.target,
            "audited": false,
        });
        let plan = serde_json::to_vec(&self.grading.plan)?;
        // An image of its own, so that nothing has to be copied, and no network:
        // where Harbor's own setting is not at hand, as without access to a
        // registry, it refuses the task.
        let dockerfile = format!("FROM {}\nCOPY . /tests/\nWORKDIR /app\n", self.image);
        write("tests/Dockerfile", dockerfile.as_bytes())?;
        write("tests/docker-compose.yaml", COMPOSE.as_bytes())?;
        write("tests/test.sh", TEST.as_bytes())?;
        write("tests/verify.py", include_bytes!("verify.py"))?;
        write("tests/bootstrap.py", self.grading.bootstrap.as_bytes())?;
        write("tests/plan.json", &plan)?;
        write("tests/task.json", task.to_string().as_bytes())?;
        write("tests/steering.tar", &self.grading.steering.to_tar("")?)
    }
}

const TEST: &str = "#!/bin/sh\nexec python -I -B /tests/verify.py\n";

const COMPOSE: &str = "services:\n  main:\n    network_mode: none\n";

/// The oracle's code in place of whatever is there.
const SOLVE: &str = "#!/bin/sh
set -e
find /app/code -mindepth 1 -delete
tar -xf /solution/target.tar -C /app/code
";

/// Harbor ends the evolution when this fails: code that cannot be tested is no
/// reason to.
const SETUP: &str = "#!/bin/sh\npython -B /opt/swe-ci/gap.py || true\nrm -f /app/setup.sh\n";

fn create_folder(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}
