//! Contradictions of a task's tests. A contradiction is a test with one
//! expectation changed so that the test and its contradiction cannot both hold:
//! no honest, deterministic code passes both. They are made of the oracle's
//! tests by a program that only parses them (Python's) or by a grammar, and each has
//! to be failed by the oracle's own code; Python's with an assertion.

mod belonging;
mod grammars;
mod impossible;
mod making;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use swe_ci_base::code::CodeTree;
use swe_ci_core::audit::{ContradictionKind, Coverage, Uncovered};
use swe_ci_core::report::Outcome;
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

use crate::generalisation::Questions;
use crate::{Graded, Grading, TestRun, function_of};

pub use impossible::ShownTests;
#[cfg(test)]
pub(crate) use making::PROGRAM;
pub(crate) use making::{session, side_by_side};

/// The most tests without a contradiction that are listed.
const LISTED: usize = 50;

/// The contradictions of the tests that the oracle's code passes. `grading` is
/// of that code.
///
/// # Errors
/// As of [`crate::grade`]. Inside is why the suite has none.
pub async fn contradictions_of(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
) -> Result<Result<Contradictions, String>, SandboxError> {
    match grading.command.plan() {
        Some(_) => Box::pin(belonging::contradictions_of(sandbox, spec, grading)).await,
        None => making::contradictions_of(sandbox, spec, grading).await,
    }
}

/// The contradictions of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradictions {
    /// Files of tests, in pieces.
    files: BTreeMap<String, Vec<Piece>>,
    /// By node id: the contradictions of its test that the oracle fails as it
    /// should. A test that the oracle passes and that has none is listed too.
    holding: BTreeMap<String, Holding>,
    /// The tests in the order of the oracle's session: parameters that are
    /// changed change node ids too, and then the place tells.
    order: Vec<String>,
    /// The file and the name of the source whose forms contradict a test, by its id; by
    /// its node id alone where it is not here. No name is a file beside the tests.
    #[serde(default)]
    source_of: BTreeMap<String, (String, String)>,
    /// Tests that some form of a file beside the tests makes fail.
    #[serde(default)]
    pub(crate) touched: BTreeSet<String>,
    /// Changed inputs.
    questions: Questions,
    /// The limit of each test in a session; none before the suite's time is known.
    #[serde(default)]
    pub(crate) test_seconds: Option<NonZeroU16>,
}

/// Contradictions by their numbers, or why there are none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Holding {
    Numbers(Vec<usize>),
    None(String),
}

impl Holding {
    fn is_strong(&self, source: Option<Source<'_>>) -> bool {
        let (Self::Numbers(numbers), Some(source)) = (self, source) else {
            return false;
        };
        let all = &source.forms.contradictions;
        numbers.iter().any(|number| all[*number].kind.is_strong())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Piece {
    Fixed(String),
    Test(Forms),
}

/// A test in all its forms, as Python's own unparser writes them: nothing in the
/// text tells a contradiction from the test. Or a whole file beside the tests, as it
/// is, under no name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Forms {
    test: String,
    pub as_written: String,
    pub contradictions: Vec<Contradiction>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contradiction {
    pub kind: ContradictionKind,
    /// A changed constant or class alone: no statement is added to the test.
    pub natural: bool,
    pub text: String,
}

/// A test in the source: its file, and its name there.
pub(crate) type TestKey<'a> = (&'a str, &'a str);
/// The contradictions of a session, by their numbers.
pub(crate) type Choice<'a> = BTreeMap<TestKey<'a>, usize>;
pub(crate) type Words = BTreeSet<String>;

impl Contradictions {
    /// The same tests with changed inputs.
    pub fn questions(&self) -> &Questions {
        &self.questions
    }

    /// How many of these tests have a contradiction, and which have none.
    pub fn coverage<'a>(&self, tests: impl IntoIterator<Item = &'a str>) -> Coverage {
        let sources = self.sources();
        let mut coverage = Coverage::default();
        for test in tests {
            coverage.tests += 1;
            let holding: Vec<_> = self.holding(test, &sources).collect();
            if holding.is_empty() && coverage.without.len() < LISTED {
                coverage.without.push(self.uncovered(test));
            }
            coverage.contradicted += u32::from(!holding.is_empty());
            let is_strong = holding.iter().any(|(_, form)| form.kind.is_strong());
            coverage.strongly += u32::from(is_strong);
        }
        coverage
    }

    fn uncovered(&self, test: &str) -> Uncovered {
        let why = match self.holding.get(test) {
            Some(Holding::None(why)) => why.as_str(),
            _ => "the oracle does not pass it unparsed",
        };
        Uncovered {
            test: test.to_owned(),
            why: why.to_owned(),
        }
    }

    /// A tree whose tests are those of the oracle, with these contradictions.
    /// All files come from the unparser, contradicted or not.
    pub(crate) fn laid_over(&self, oracle: &CodeTree, choice: &Choice<'_>) -> CodeTree {
        let mut tree = oracle.clone();
        for (path, pieces) in &self.files {
            let text: String = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Fixed(text) => text.as_str(),
                    Piece::Test(forms) => {
                        let chosen = choice.get(&(path.as_str(), forms.test.as_str()));
                        chosen.map_or(&forms.as_written, |n| &forms.contradictions[*n].text)
                    }
                })
                .collect();
            tree.insert_file(path, text);
        }
        tree
    }

    /// The contradictions of a test that hold, with their numbers.
    pub(crate) fn holding<'a>(
        &'a self,
        test: &str,
        sources: &Sources<'a>,
    ) -> impl Iterator<Item = (usize, &'a Contradiction)> {
        let numbers = match self.holding.get(test) {
            Some(Holding::Numbers(numbers)) => numbers.as_slice(),
            _ => &[],
        };
        let forms = sources.of(test).map(|source| source.forms);
        let one = move |number: &usize| Some((*number, forms?.contradictions.get(*number)?));
        numbers.iter().filter_map(one)
    }

    pub(crate) fn sources(&self) -> Sources<'_> {
        let mut sources = Sources::default();
        for (path, pieces) in &self.files {
            for piece in pieces {
                let Piece::Test(forms) = piece else { continue };
                let key = (path.as_str(), forms.test.as_str());
                let source = Source { key, forms };
                sources.all.insert(key, source);
                if let Some((_, method)) = forms.test.rsplit_once("::") {
                    sources.methods.entry(method).or_default().push(source);
                }
            }
        }
        for (id, (path, test)) in &self.source_of {
            if let Some(source) = sources.all.get(&(path.as_str(), test.as_str())) {
                sources.known.insert(id, *source);
            }
        }
        sources
    }

    /// Where each test stands among those of its function.
    pub(crate) fn places(&self) -> BTreeMap<&str, usize> {
        let places = places(self.order.iter().map(String::as_str));
        places
            .into_iter()
            .map(|((_, place), id)| (id, place))
            .collect()
    }
}

/// A test in the source, in all its forms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub key: TestKey<'a>,
    pub forms: &'a Forms,
}

impl Source<'_> {
    pub fn is_data(&self) -> bool {
        self.key.1.is_empty()
    }
}

/// The sources of tests.
#[derive(Debug, Default)]
pub(crate) struct Sources<'a> {
    all: BTreeMap<TestKey<'a>, Source<'a>>,
    /// Methods by their names: a test may inherit them.
    methods: BTreeMap<&'a str, Vec<Source<'a>>>,
    /// Those of tests whose ids do not tell.
    known: BTreeMap<&'a str, Source<'a>>,
}

impl<'a> Sources<'a> {
    /// The source of a test's contradictions.
    pub fn of(&self, id: &str) -> Option<Source<'a>> {
        self.known.get(id).copied().or_else(|| self.of_test(id))
    }

    /// The source of a test, by its node id: its own, or the only method of its
    /// name in its file, or in all files.
    fn of_test(&self, id: &str) -> Option<Source<'a>> {
        let (path, name) = function_of(id).split_once("::")?;
        if let Some(source) = self.all.get(&(path, name)) {
            return Some(*source);
        }
        let (_, method) = name.rsplit_once("::")?;
        let all = self.methods.get(method)?;
        let here: Vec<_> = all.iter().filter(|source| source.key.0 == path).collect();
        match (here.as_slice(), all.as_slice()) {
            ([one], _) => Some(**one),
            ([], [one]) => Some(*one),
            _ => None,
        }
    }

    /// Every test's contradiction of this number.
    fn all_of(&self, number: usize) -> Choice<'a> {
        let all = self.all.values();
        let with = all.filter(|source| number < source.forms.contradictions.len());
        let of_tests = with.filter(|source| !source.is_data());
        of_tests.map(|source| (source.key, number)).collect()
    }

    /// The forms of all files beside the tests, and the new words in them.
    fn data_forms(&self, words: &BTreeMap<String, Vec<Words>>) -> Vec<(Choice<'a>, Words)> {
        let number = words.values().map(Vec::len).max().unwrap_or(0);
        let form = |number| {
            let all = self.all.values().filter(|source| source.is_data());
            let with = all.filter(|source| number < source.forms.contradictions.len());
            let new = words.values().filter_map(|forms| forms.get(number));
            (
                with.map(|source| (source.key, number)).collect(),
                new.flatten().cloned().collect(),
            )
        };
        (0..number).map(form).collect()
    }
}

/// The results of a session, to be held against another one's.
#[derive(Debug)]
pub(crate) struct Results<'a> {
    outcomes: BTreeMap<&'a str, (Outcome, &'a TestRun)>,
    places: BTreeMap<(&'a str, usize), &'a str>,
}

impl<'a> Results<'a> {
    /// `None` for a session that came to no results.
    pub fn of(graded: &'a Graded) -> Option<Self> {
        let report = graded.result.as_ref().ok()?;
        let order = graded.order.iter();
        let run = |run: &'a TestRun| {
            let test = report.tests.get(&run.id)?;
            Some((run.id.as_str(), (test.outcome, run)))
        };
        Some(Self {
            outcomes: order.clone().filter_map(run).collect(),
            places: places(order.map(|run| run.id.as_str())),
        })
    }

    /// The result of a test of another session: by its node id, or by its place
    /// among those of its function where the id has changed.
    fn same(&self, id: &str, place: Option<usize>) -> Option<(Outcome, &'a TestRun)> {
        let found = self.outcomes.get(id).or_else(|| {
            let there = self.places.get(&(function_of(id), place?))?;
            self.outcomes.get(there)
        });
        found.copied()
    }

    pub fn passes(&self, id: &str, place: Option<usize>) -> bool {
        self.same(id, place)
            .is_some_and(|(outcome, _)| outcome == Outcome::Passed)
    }
}

/// Node ids by their function and their place in it.
fn places<'a>(order: impl Iterator<Item = &'a str>) -> BTreeMap<(&'a str, usize), &'a str> {
    let (mut places, mut counts) = (BTreeMap::new(), BTreeMap::new());
    for id in order {
        let count: &mut usize = counts.entry(function_of(id)).or_default();
        places.insert((function_of(id), *count), id);
        *count += 1;
    }
    places
}
