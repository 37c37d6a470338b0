//! Tests that a plan runs, and that write reports into files: no process of ours is
//! beside them. The walls around them are those of the container, and one within it:
//! they run as a user who owns nothing, so that tests, settings and dependencies stay
//! as they are. What the report says is held against the exit code and the tests
//! that are known.

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::report::{Cases, Report};
use swe_ci_core::test_plan::{TestPlan, matches_any};
use swe_ci_sandbox::{
    CODE_FOLDER, Exec, Exit, Lines, OnLine, Output, SandboxContainer, SandboxError,
};

use crate::{Graded, Grading};

/// Everyone may add to the folders of the code; what is in them stays as it is.
const OPEN_FOLDERS: &str = "find . -type d -exec chmod 1777 {} +";
/// Is given the test command, and then the conditions of `find` for its reports, which
/// come on standard output as archives one behind the other.
const TEST_AND_REPORT: &str = "sh -c \"$0\" </dev/null >&2; code=$?
    find . -type f \\( \"$@\" \\) -exec tar -cf - {} + 2>/dev/null; exit $code";
/// The most bytes of all reports.
const MAX_REPORTS: usize = 64 << 20;
/// Lines of the output that say why there is no result.
const LAST_LINES: usize = 20;
/// The most bytes of one of them.
const MAX_LINE: usize = 500;

/// Grades code in a fresh container.
pub(crate) async fn grade(
    sandbox: &dyn SandboxContainer,
    plan: &TestPlan,
    grading: &Grading,
    on_line: OnLine<'_>,
) -> Result<Graded, SandboxError> {
    let (of_plan, trees) = (plan.clone(), grading.clone());
    let placed = blocking(move || Ok(placed(&of_plan, &trees))).await?;
    sandbox.put(&[(CODE_FOLDER, &placed)]).await?;
    let mut session = Session {
        sandbox,
        plan,
        grading,
        last_lines: VecDeque::new(),
        findings: steering(plan, grading),
    };
    let began = Instant::now();
    let result = session.result(on_line).await;
    let seconds = began.elapsed().as_secs_f64();
    let (result, timed_out) = match result {
        Ok(result) => (Ok(result), false),
        Err(Failure::Code { why, timed_out }) => (Err(why), timed_out),
        Err(Failure::Sandbox(error)) if error.blames_the_code() => (Err(error.to_string()), false),
        Err(Failure::Sandbox(error)) => return Err(error),
    };
    let (result, raw) = match result {
        Ok((report, raw)) => (Ok(report), Some(raw)),
        Err(why) => (Err(why), None),
    };
    Ok(Graded {
        result,
        timed_out,
        raw,
        seconds,
        findings: session.findings,
        dropped_options: Vec::new(),
        order: Vec::new(),
    })
}

/// The code with the oracle's tests and settings, and without what builds and tests
/// of before may have left.
pub(crate) fn placed(plan: &TestPlan, grading: &Grading) -> CodeTree {
    let is_oracles = |path: &str| plan.is_oracles(path);
    let code = CodeTree::clone(&grading.code).with_files_of(is_oracles, &grading.oracle);
    let is_left = |path: &str| {
        let below = |folder: &String| path.strip_prefix(folder.as_str());
        let in_cache = plan
            .caches
            .iter()
            .filter_map(below)
            .any(|rest| rest.is_empty() || rest.starts_with('/'));
        in_cache || matches_any(plan.report.patterns(), path)
    };
    code.with_files_of(is_left, &CodeTree::default())
}

/// Settings of the code's own, which were not used.
fn steering(plan: &TestPlan, grading: &Grading) -> Vec<Finding> {
    let Grading {
        code, base, oracle, ..
    } = grading;
    let trees = [code, base, oracle];
    let paths: BTreeSet<&str> = trees.into_iter().flat_map(|tree| tree.paths()).collect();
    let settings = paths
        .into_iter()
        .filter(|path| matches_any(&plan.settings, path) && !plan.is_test(path));
    let differs = settings.filter(|path| {
        let own = code.entry(path);
        own != base.entry(path) && own != oracle.entry(path)
    });
    let note = |path: &str| {
        let text = format!("{path} differs from the base's and the target's, and was not used");
        Finding::note(FindingKind::Steering, text)
    };
    differs.map(note).collect()
}

/// Why there is no report.
enum Failure {
    /// The code's fault.
    Code {
        why: String,
        timed_out: bool,
    },
    Sandbox(SandboxError),
}

impl Failure {
    fn of_code(why: impl Into<String>) -> Self {
        let (why, timed_out) = (why.into(), false);
        Self::Code { why, timed_out }
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        Self::Sandbox(error)
    }
}

struct Session<'a> {
    sandbox: &'a dyn SandboxContainer,
    plan: &'a TestPlan,
    grading: &'a Grading,
    last_lines: VecDeque<String>,
    findings: Vec<Finding>,
}

impl Session<'_> {
    async fn result(&mut self, on_line: OnLine<'_>) -> Result<(Report, Vec<u8>), Failure> {
        let Self { plan, grading, .. } = *self;
        let open = self.exec(OPEN_FOLDERS, None, false);
        if self.sandbox.exec(&open, on_line).await? != Exit::Code(0) {
            let why = "its image has no `find` and `chmod` that open the code's folders";
            return Err(SandboxError::Engine(why.into()).into());
        }
        if let Some(build) = &plan.build {
            let exec = self.exec(build, plan.build_seconds, true);
            let code = self.run(&exec, "build", None, on_line).await?;
            if code != 0 {
                return Err(self.failure(&format!("the build failed with exit code {code}")));
            }
        }
        let mut archive = Vec::new();
        let mut exec = self.exec(TEST_AND_REPORT, plan.test_seconds, true);
        exec.command.push(plan.test.clone());
        exec.command.extend(conditions(plan.report.patterns()));
        let code = self
            .run(&exec, "tests", Some(&mut archive), on_line)
            .await?;
        if archive.len() > MAX_REPORTS {
            let why = format!("the reports have more than {} MiB", MAX_REPORTS >> 20);
            return Err(Failure::of_code(why));
        }
        let (of_plan, known) = (plan.clone(), grading.known_tests.clone());
        let read = blocking(move || Ok(cases(&of_plan, &archive)));
        let mut cases = match read.await.map_err(SandboxError::from)? {
            Ok(cases) if cases.is_empty() => {
                let patterns = plan.report.patterns().join(" or ");
                let what = format!(
                    "the tests ended with exit code {code} and no report of a test in {patterns}"
                );
                return Err(self.failure(&what));
            }
            Ok(cases) => cases,
            Err(why) => return Err(Failure::of_code(why)),
        };
        let unknown = known.map(|known| (cases.hold_against(&known), known));
        let failed = cases.failed();
        let (report, raw) = cases.report(code);
        if code == 0 && failed > 0 {
            let text =
                format!("the test command ended with exit code 0, and {failed} tests failed");
            self.findings.push(Finding::note(FindingKind::Report, text));
        }
        let Some((unknown, known)) = unknown else {
            return Ok((report, raw));
        };
        if let Some(first) = unknown.new.first() {
            let text = format!(
                "{} tests that neither the base nor the target has do not count, for example {first}",
                unknown.new.len()
            );
            self.findings.push(Finding::note(FindingKind::Report, text));
        }
        if let Some(first) = unknown.twice.first() {
            let text = format!(
                "{} tests came twice in the reports, for example {first}; the worse outcome counts",
                unknown.twice.len()
            );
            self.findings
                .push(Finding::suspicious(FindingKind::Report, text));
        }
        if code != 0 && failed == 0 && known.iter().all(|id| report.tests.contains_key(id)) {
            let what = format!(
                "the reports say that no test failed, the test command ended with exit code {code}"
            );
            return Err(self.failure(&what));
        }
        Ok((report, raw))
    }

    fn exec(&self, script: &str, seconds: Option<u32>, unprivileged: bool) -> Exec {
        let seconds = seconds.unwrap_or(self.grading.limits.test_seconds);
        Exec {
            command: ["sh", "-c", script].map(str::to_owned).into(),
            env: vec!["HOME=/tmp".into()],
            reads_input: false,
            unprivileged,
            wanted: None,
            working_dir: CODE_FOLDER.into(),
            time_limit: Duration::from_secs(seconds.into()),
            off: ExcludedTime::default(),
        }
    }

    /// Runs a command; its exit code. Standard output belongs to the lines, unless an
    /// archive is wanted.
    async fn run(
        &mut self,
        exec: &Exec,
        what: &str,
        mut archive: Option<&mut Vec<u8>>,
        on_line: OnLine<'_>,
    ) -> Result<i64, Failure> {
        let command = self.sandbox.start(exec).await?;
        let last_lines = &mut self.last_lines;
        last_lines.clear();
        let mut on_line = |line: &str| {
            if last_lines.len() == LAST_LINES {
                last_lines.pop_front();
            }
            last_lines.push_back(line.chars().take(MAX_LINE).collect());
            on_line(line);
        };
        let mut lines = Lines::new(&mut on_line);
        let mut on_output = |output| {
            match (output, &mut archive) {
                (Output::Stdout(bytes), Some(archive)) => {
                    archive.extend_from_slice(&bytes);
                    if archive.len() > MAX_REPORTS {
                        return ControlFlow::Break(());
                    }
                }
                (Output::Stdout(bytes) | Output::Stderr(bytes), _) => lines.push(&bytes),
            }
            ControlFlow::Continue(())
        };
        let exit = self.sandbox.wait(command, exec, &mut on_output).await;
        lines.finish();
        match exit? {
            Exit::Code(code) => Ok(code),
            Exit::TimedOut => Err(Failure::Code {
                why: format!(
                    "the {what} took longer than {} s",
                    exec.time_limit.as_secs()
                ),
                timed_out: true,
            }),
            Exit::DiskSpent => {
                let most = self.grading.limits.disk_mb;
                Err(Failure::of_code(format!(
                    "the {what} wrote more than {most} MiB"
                )))
            }
        }
    }

    /// With the end of the output.
    fn failure(&mut self, what: &str) -> Failure {
        let lines = self.last_lines.make_contiguous().join("\n");
        Failure::of_code(format!("{what}\n{lines}").trim_end())
    }
}

/// The conditions under which `find` finds what patterns match, and perhaps more.
fn conditions(patterns: &[String]) -> Vec<String> {
    let conditions = patterns.iter().enumerate().flat_map(|(at, pattern)| {
        let pattern = pattern.replace("**/", "*").replace("**", "*");
        let pattern = pattern.replace('[', "\\[").replace('?', "\\?");
        let or = (at > 0).then(|| "-o".to_owned());
        or.into_iter()
            .chain(["-path".to_owned(), format!("./{pattern}")])
    });
    conditions.collect()
}

/// What all reports of an archive say, in the order of their paths.
fn cases(plan: &TestPlan, archive: &[u8]) -> Result<Cases, String> {
    let files = CodeTree::from_tars(archive, MAX_REPORTS as u64);
    let files = files.map_err(|error| format!("the reports cannot be read: {error:#}"))?;
    let mut cases = Cases::default();
    for path in files
        .paths()
        .filter(|path| matches_any(plan.report.patterns(), path))
    {
        let read = cases.read(&plan.report, files.file(path).unwrap_or_default());
        read.map_err(|why| format!("the report {path} cannot be read: {why}"))?;
    }
    Ok(cases)
}
