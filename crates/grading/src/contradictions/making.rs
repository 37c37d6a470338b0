//! Makes the contradictions of a suite, and keeps those that hold on the
//! oracle's code.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use serde::Deserialize;
use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_core::audit::ContradictionKind;
use swe_ci_core::report::Outcome;
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

use super::{Choice, Contradictions, Holding, Piece, Results, Source, Words, places};
use crate::generalisation::{Question, Questions};
use crate::{
    Bootstrap, Graded, Grading, Staging, TESTS, TestRun, grade, grade_as, is_test, program, python,
};

/// How many sessions of a suite run side by side.
const AT_ONCE: usize = 2;
pub(crate) const PROGRAM: [&str; 5] = [
    include_str!("constants.py"),
    include_str!("expectations.py"),
    include_str!("questions.py"),
    include_str!("data.py"),
    include_str!("files.py"),
];
/// A suite of 50,000 tests takes about a minute.
const TIME_LIMIT: Duration = Duration::from_mins(10);
/// The limit of one test is the time of its suite as written, between these seconds.
const LEAST_TEST_SECONDS: f64 = 2.0;
const MOST_TEST_SECONDS: f64 = 10.0;
/// The exception of bootstrap/limit.py.
const TOOK_TOO_LONG: &str = "TookTooLong";
/// The most contradictions of one test; files.py has the same number.
pub(super) const MOST: usize = 5;
/// The largest file beside the tests of which forms are made, in bytes.
const MOST_DATA: usize = 512 << 10;
/// Files that steer programs.
const NO_DATA: [&str; 4] = [".ini", ".cfg", ".toml", ".lock"];

/// As of [`super::contradictions_of`], of Python's tests.
pub(super) async fn contradictions_of(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
) -> Result<Result<Contradictions, String>, SandboxError> {
    let mut made = match made(sandbox, spec, grading).await? {
        Ok(made) => made,
        Err(why) => return Ok(Err(why)),
    };
    let mut all = Contradictions {
        files: made.files,
        ..Contradictions::default()
    };
    let sources = all.sources();
    let run = |choice, seconds, traced: &Words| {
        session(
            sandbox,
            spec,
            grading,
            &all,
            choice,
            seconds,
            traced.clone(),
        )
        .boxed()
    };
    let (no_choice, no_words) = (Choice::new(), Words::new());
    let as_written = run(&no_choice, None, &no_words).await?;
    let Some(results) = Results::of(&as_written) else {
        let why = as_written.result.err().unwrap_or_default();
        return Ok(Err(format!("the unparsed tests did not run: {why}")));
    };
    let choices: Vec<Choice<'_>> = (0..MOST).map(|number| sources.all_of(number)).collect();
    let seconds = Some(test_seconds(as_written.seconds));
    let checks = choices.iter().map(|choice| run(choice, seconds, &no_words));
    let checks = side_by_side(checks.collect()).await?;
    let checks: Vec<_> = checks.iter().map(Results::of).collect();
    let data = sources.data_forms(&made.words);
    let runs = data
        .iter()
        .map(|(choice, traced)| run(choice, seconds, traced));
    let runs = side_by_side(runs.collect()).await?;
    let runs: Vec<_> = runs.iter().map(|run| (run, Results::of(run))).collect();
    let order: Vec<String> = as_written.order.iter().map(|run| run.id.clone()).collect();
    let mut holding = BTreeMap::new();
    let (mut source_of, mut touched) = (BTreeMap::new(), BTreeSet::new());
    for ((_, place), id) in places(order.iter().map(String::as_str)) {
        if results.passes(id, None) {
            let found = match sources.of(id) {
                Some(source) => holding_of(source, id, place, &checks),
                None => Holding::None(no_source(id, &made.skipped)),
            };
            let is_strong = found.is_strong(sources.of(id));
            let tried = tried_by_data(id, &runs, &made.words, &mut touched);
            let found = match tried.filter(|_| !is_strong) {
                Some((path, numbers)) => {
                    source_of.insert(id.to_owned(), (path, String::new()));
                    Holding::Numbers(numbers)
                }
                None => found,
            };
            holding.insert(id.to_owned(), found);
        }
    }
    for question in &mut made.questions {
        question.find_row(&order);
    }
    all = Contradictions {
        holding,
        source_of,
        touched,
        order,
        test_seconds: seconds,
        ..all
    };
    all.questions = Questions::of(sandbox, spec, grading, made.questions, made.not_asked).await?;
    Ok(Ok(all))
}

/// The limit of a test whose whole suite takes so many seconds. Too short a limit costs
/// contradictions, and accuses nobody.
fn test_seconds(suite: f64) -> NonZeroU16 {
    let seconds = suite.clamp(LEAST_TEST_SECONDS, MOST_TEST_SECONDS).ceil();
    NonZeroU16::MIN.saturating_add(seconds as u16 - 1)
}

/// The contradictions of a test that the oracle fails as it should.
fn holding_of(
    source: Source<'_>,
    id: &str,
    place: usize,
    checks: &[Option<Results<'_>>],
) -> Holding {
    let (mut numbers, mut reasons) = (Vec::new(), BTreeSet::new());
    let tried = source.forms.contradictions.iter().zip(checks);
    for (number, (contradiction, results)) in tried.enumerate() {
        match failure(contradiction.kind, results.as_ref(), id, place) {
            Ok(()) => numbers.push(number),
            Err(why) => {
                reasons.insert(format!("{}: {why}", contradiction.kind.name()));
            }
        }
    }
    match numbers.is_empty() {
        false => Holding::Numbers(numbers),
        true => Holding::None(Vec::from_iter(reasons).join(", ")),
    }
}

/// The file beside the tests from which this one is made, and the forms of it in which
/// its expectation alone is changed: the oracle fails by an assertion that speaks of
/// the new words, and none of them reached the package.
fn tried_by_data(
    id: &str,
    runs: &[(&Graded, Option<Results<'_>>)],
    words: &BTreeMap<String, Vec<Words>>,
    touched: &mut BTreeSet<String>,
) -> Option<(String, Vec<usize>)> {
    let mut found: Option<(&String, Vec<usize>)> = None;
    for (number, (graded, results)) in runs.iter().enumerate() {
        let (Ok(report), Some(results)) = (&graded.result, results) else {
            continue;
        };
        let Some((outcome, run)) = results.same(id, None) else {
            continue;
        };
        if outcome == Outcome::Passed {
            continue;
        }
        touched.insert(id.to_owned());
        let by_assertion = run.raised.as_deref().is_some_and(is_assertion);
        let message = report
            .tests
            .get(id)
            .map_or("", |test| test.message.as_str());
        let said = message.split(|c: char| !c.is_ascii_alphabetic());
        let said: BTreeSet<&str> = said.collect();
        let speaks = |forms: &Vec<Words>| {
            let words = forms.get(number);
            words.is_some_and(|words| said.iter().any(|word| words.contains(*word)))
        };
        let of = words.iter().find(|(_, forms)| speaks(forms));
        if let Some((path, _)) = of.filter(|_| by_assertion && !run.reached) {
            let (first, numbers) = found.get_or_insert((path, Vec::new()));
            if *first == path {
                numbers.push(number);
            }
        }
    }
    found.map(|(path, numbers)| (path.clone(), numbers))
}

fn is_assertion(raised: &str) -> bool {
    raised.ends_with("AssertionError") || raised == "Failed"
}

fn no_source(id: &str, skipped: &BTreeMap<String, String>) -> String {
    let file = id.split("::").next().unwrap_or(id);
    let why = skipped.get(file).map(String::as_str);
    why.unwrap_or("its source was not found").to_owned()
}

/// Whether the oracle's code fails a contradiction as it should; else what it
/// does instead.
fn failure(
    kind: ContradictionKind,
    results: Option<&Results<'_>>,
    id: &str,
    place: usize,
) -> Result<(), String> {
    let results = results.ok_or("the session came to no results")?;
    let same = results.same(id, Some(place));
    let (outcome, run) = same.ok_or("it was not collected")?;
    let raised = run.raised.as_deref().unwrap_or("no exception");
    let may_leave = matches!(kind, ContradictionKind::Exception | ContradictionKind::Near);
    match outcome {
        Outcome::Failed if raised == TOOK_TOO_LONG => Err("it took too long".into()),
        // The exception that was expected before may leave the test now.
        Outcome::Failed if is_assertion(raised) || may_leave => Ok(()),
        Outcome::Failed => Err(format!("fails by {raised}")),
        other => Err(other.name().to_owned()),
    }
}

/// Grades code with these contradictions, in a container of its own.
pub(crate) async fn session(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
    contradictions: &Contradictions,
    choice: &Choice<'_>,
    test_seconds: Option<NonZeroU16>,
    traced: Words,
) -> Result<Graded, SandboxError> {
    let container = sandbox.open(spec).await?;
    let grading = contradictions.contradicting(grading, choice);
    if grading.command.plan().is_some() {
        let mut graded = grade(container.as_ref(), &grading, &mut |_| {}).await?;
        let tests = graded.result.iter().flat_map(|report| &report.tests);
        graded.order = tests.map(|(id, _)| TestRun::of(id)).collect();
        return Ok(graded);
    }
    let bootstrap = Bootstrap::start(container.as_ref(), grading.limits).await?;
    let staging = match test_seconds {
        Some(test_seconds) => Staging::Bounded {
            test_seconds,
            traced,
        },
        None => Staging::AsWritten,
    };
    let on_line = &mut |_: &str| {};
    let graded = grade_as(staging, container.as_ref(), bootstrap, &grading, on_line);
    Box::pin(graded).await
}

pub(crate) async fn side_by_side<T>(
    sessions: Vec<BoxFuture<'_, Result<T, SandboxError>>>,
) -> Result<Vec<T>, SandboxError> {
    let sessions = stream::iter(sessions).buffered(AT_ONCE);
    sessions.try_collect().await
}

impl Contradictions {
    fn contradicting(&self, grading: &Grading, choice: &Choice<'_>) -> Grading {
        let oracle = self.laid_over(&grading.oracle, choice);
        let is_test = |path: &str| grading.command.is_test(path);
        let code = CodeTree::clone(&grading.code).with_files_of(is_test, &oracle);
        Grading {
            code: Arc::new(code),
            oracle: Arc::new(oracle),
            known_tests: None,
            ..grading.clone()
        }
    }

    /// With all tests as they are, in the layout of contradictions.
    pub(crate) fn unparsed(&self, grading: &Grading) -> Grading {
        self.contradicting(grading, &Choice::new())
    }
}

#[derive(Debug, Deserialize)]
struct Made {
    files: BTreeMap<String, Vec<Piece>>,
    skipped: BTreeMap<String, String>,
    /// The new words of each form of a file beside the tests.
    words: BTreeMap<String, Vec<Words>>,
    questions: Vec<Question>,
    not_asked: BTreeMap<String, u32>,
}

/// What the program makes of the oracle's tests; inside is why it makes nothing.
async fn made(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
) -> Result<Result<Made, String>, SandboxError> {
    let container = sandbox.open(spec).await?;
    let input = sources(&grading.oracle);
    let made = program::answer(container.as_ref(), &PROGRAM, &input, TIME_LIMIT).await?;
    Ok(made.map_err(|why| format!("the tests could not be parsed: {why}")))
}

/// The files of tests, the modules beside them that they may import, and data.
fn sources(oracle: &CodeTree) -> serde_json::Value {
    let (mut files, mut beside, mut data) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for path in oracle.paths().filter(|path| is_test(path)) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some(Ok(text)) = oracle.file(path).map(str::from_utf8) else {
            continue;
        };
        let Some(stem) = name.strip_suffix(".py") else {
            let is_data = !NO_DATA.iter().any(|end| name.ends_with(end));
            let is_plain = matches!(
                oracle.entry(path),
                Some(Entry::File {
                    executable: false,
                    ..
                })
            );
            if is_data && is_plain && text.len() <= MOST_DATA {
                data.insert(path, text);
            }
            continue;
        };
        match stem.starts_with("test") || stem.ends_with("_test") {
            true => files.insert(path, text),
            false => beside.insert(stem, text),
        };
    }
    // The same contradictions each time, so that a finding can be seen again;
    // which of them a session has is drawn from secret randomness.
    let mut own = python::top_level_names(oracle);
    own.remove(TESTS);
    serde_json::json!({"files": files, "beside": beside, "data": data, "own": own, "seed": "contradictions"})
}
