//! Generalisation: whether code answers changed inputs as the oracle does. Where a
//! test compares a call of the package with a constant, the same call with one
//! input changed a little is asked of both, each in a fresh container. It is a
//! measure and no verdict: honest code may differ where no test looks.

mod asking;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::{FutureExt, try_join};
use serde::{Deserialize, Serialize};
use swe_ci_core::audit::{FunctionAnswers, Generalisation, LeftOut};
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

use crate::{Grading, function_of};
use asking::Session;

/// How long the oracle may take for an answer.
const ORACLE_TIME: Duration = Duration::from_secs(4);
/// How long other code may: it is no worse for being slower.
const CODE_TIME: Duration = Duration::from_secs(10);

/// The most changed inputs of one call.
const MOST_CHANGED: usize = 6;

/// A call that a test compares with a constant, with its changed inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The file of tests whose names the forms use.
    file: String,
    /// Its test, as node ids name it.
    test: String,
    /// Its row, of so many, as a parser sees it.
    #[serde(default, skip_serializing)]
    row: Option<(usize, usize)>,
    /// The node id of the row; absent where it is unknown.
    #[serde(default)]
    id: Option<String>,
    /// The package's function, or one of the tests' that calls it.
    function: String,
    /// Statements and the expression behind them: as the test has them, then
    /// changed.
    forms: Vec<[String; 2]>,
    /// The constant that the call exactly equals, in the same two parts.
    expected: Option<[String; 2]>,
    /// The oracle's answers to the forms; none before it was asked.
    #[serde(default)]
    answers: Vec<String>,
    /// Whether its first answer is the expected one: with any code that passes the
    /// test.
    #[serde(default)]
    is_pinned: bool,
}

/// The questions of a suite that its oracle answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Questions {
    asked: Vec<Question>,
    /// Others by reason: calls of the tests, and changed inputs alone.
    left_out: BTreeMap<String, u32>,
}

/// An answer as it can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Is(String),
    Raised(String),
    /// Of a type whose equality is unknown.
    Other,
    /// There was no time left to ask.
    Late,
}

impl Answer {
    fn text(answer: Option<&Self>) -> Result<&str, &'static str> {
        match answer {
            Some(Self::Is(text)) => Ok(text),
            Some(Self::Raised(_)) => Err("the oracle raises an exception"),
            Some(Self::Other) => Err("answers of a type that cannot be compared"),
            Some(Self::Late) | None => Err("the oracle does not answer in time"),
        }
    }
}

impl Questions {
    /// Those of these questions that the oracle answers, and otherwise than the
    /// test's own. `grading` is of the oracle's code.
    pub(crate) async fn of(
        sandbox: &dyn Sandbox,
        spec: &ContainerSpec,
        grading: &Grading,
        questions: Vec<Question>,
        mut left_out: BTreeMap<String, u32>,
    ) -> Result<Self, SandboxError> {
        let session = Session::new(sandbox, spec, grading);
        let with_expected = questions.iter().map(|question| Question {
            forms: question
                .forms
                .iter()
                .chain(&question.expected)
                .cloned()
                .collect(),
            ..question.clone()
        });
        let with_expected: Vec<Question> = with_expected.collect();
        let answers = session
            .ask(&grading.oracle, &with_expected, 0, ORACLE_TIME)
            .await?;
        let mut leave_out = |why: &str| *left_out.entry(why.to_owned()).or_default() += 1;
        let mut asked = Vec::new();
        for (mut question, mut answers) in questions.into_iter().zip(answers) {
            let expected = question.expected.take().and_then(|_| answers.pop()?);
            question.is_pinned = expected.is_some() && expected == answers[0];
            let own = match Answer::text(answers[0].as_ref()) {
                Ok(own) => own,
                Err(why) => {
                    leave_out(why);
                    continue;
                }
            };
            let forms = std::mem::take(&mut question.forms);
            for (at, (form, answer)) in forms.into_iter().zip(&answers).enumerate() {
                if question.forms.len() > MOST_CHANGED {
                    break;
                }
                match Answer::text(answer.as_ref()) {
                    Ok(text) if at > 0 && text == own => leave_out("the answer does not change"),
                    Ok(text) => {
                        question.forms.push(form);
                        question.answers.push(text.to_owned());
                    }
                    Err(why) => leave_out(why),
                }
            }
            asked.extend(Some(question).filter(|question| question.forms.len() > 1));
        }
        Ok(Self { asked, left_out })
    }
}

/// How far code generalises: of the calls that the base answers otherwise than the
/// oracle and this code like it, the share of changed inputs to which its answer is
/// the oracle's. `tests` are the node ids of the suite, and whether the code passes
/// them: code that passes a test and has no such answer to its call when it is asked
/// alone knows the test, and no answer.
///
/// # Errors
/// Failures of the platform. Code that hangs or ends its container does not answer.
pub async fn generalisation<'a>(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
    questions: &Questions,
    tests: impl Iterator<Item = (&'a str, bool)>,
) -> Result<Generalisation, SandboxError> {
    let Questions { asked, left_out } = questions;
    let tests: Vec<(&str, bool)> = tests.collect();
    let mut count = Count {
        passed: passed(&tests),
        passing: tests
            .iter()
            .filter(|(_, passes)| *passes)
            .map(|(id, _)| *id)
            .collect(),
        left_out: left_out.clone(),
        ..Count::default()
    };
    let session = Session::new(sandbox, spec, grading);
    let as_written: Vec<Question> = asked.iter().map(Question::as_written).collect();
    let base = session
        .ask(&grading.base, &as_written, 0, CODE_TIME)
        .await?;
    let won = asked.iter().zip(base).filter_map(|(question, base)| {
        let is_new = !question.is_answered(0, &base) && base[0] != Some(Answer::Late);
        count
            .leave_out_unless(is_new, "the base has the answer")
            .then(|| question.clone())
    });
    let won: Vec<Question> = won.collect();
    if won.is_empty() {
        return Ok(count.result());
    }
    // Answers that depend on the day or on the order of a set are not the same now.
    let (oracle, code) = try_join!(
        session.ask(&grading.oracle, &won, 1, ORACLE_TIME).boxed(),
        session.ask(&grading.code, &won, 0, CODE_TIME).boxed(),
    )?;
    let code = session.ask_again(&grading.code, &won, code).await?;
    for (question, (oracle, code)) in won.iter().zip(oracle.iter().zip(&code)) {
        count.add(question, oracle, code);
    }
    Ok(count.result())
}

impl Question {
    /// Where the suite has as many rows of the test as the parser sees.
    pub(crate) fn find_row(&mut self, order: &[String]) {
        let ids = order.iter().filter(|id| function_of(id) == self.test);
        let ids: Vec<&String> = ids.collect();
        let row = self.row.take().filter(|(_, rows)| *rows == ids.len());
        self.id = row.and_then(|(row, _)| ids.get(row).map(|id| (*id).clone()));
    }

    fn as_written(&self) -> Self {
        Self {
            forms: self.forms[..1].to_vec(),
            ..self.clone()
        }
    }

    fn is_answered(&self, form: usize, answers: &[Option<Answer>]) -> bool {
        matches!(&answers[form], Some(Answer::Is(text)) if *text == self.answers[form])
    }
}

/// The tests of which all rows pass.
fn passed<'a>(tests: &[(&'a str, bool)]) -> BTreeSet<&'a str> {
    let (mut passed, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for (id, passes) in tests {
        let which = if *passes { &mut passed } else { &mut failed };
        which.insert(function_of(id));
    }
    passed.difference(&failed).copied().collect()
}

/// The counts so far.
#[derive(Default)]
struct Count<'a> {
    passed: BTreeSet<&'a str>,
    passing: BTreeSet<&'a str>,
    functions: BTreeMap<String, FunctionAnswers>,
    unanswered: u32,
    late: u32,
    left_out: BTreeMap<String, u32>,
}

impl Count<'_> {
    fn leave_out_unless(&mut self, holds: bool, why: &str) -> bool {
        if !holds {
            *self.left_out.entry(why.to_owned()).or_default() += 1;
        }
        holds
    }

    fn add(&mut self, question: &Question, oracle: &[Option<Answer>], code: &[Option<Answer>]) {
        const UNSTABLE: &str = "the oracle's answer differs from run to run";
        if code[0] == Some(Answer::Late) {
            self.late += 1;
            return;
        }
        let is_right = question.is_answered(0, code);
        let passes = match &question.id {
            Some(id) => self.passing.contains(&**id),
            None => self.passed.contains(&*question.test),
        };
        let counts = is_right || question.is_pinned && passes;
        let is_stable = question.is_answered(0, oracle);
        if !(self.leave_out_unless(is_stable, UNSTABLE)
            && self.leave_out_unless(counts, "the code answers otherwise"))
        {
            return;
        }
        for form in 1..question.forms.len() {
            let is_stable = question.is_answered(form, oracle);
            if code[form] == Some(Answer::Late) {
                self.late += 1;
                continue;
            }
            if !self.leave_out_unless(is_stable, UNSTABLE) {
                continue;
            }
            let function = self.functions.entry(question.function.clone());
            let function = function.or_insert_with(|| FunctionAnswers {
                function: question.function.clone(),
                asked: 0,
                equal: 0,
                unknown: 0,
            });
            function.asked += 1;
            function.equal += u32::from(is_right && question.is_answered(form, code));
            function.unknown += u32::from(code[form] == Some(Answer::Other));
            self.unanswered += u32::from(code[form].is_none());
        }
    }

    fn result(self) -> Generalisation {
        let left_out = self.left_out.into_iter();
        let left_out = left_out.map(|(why, calls)| LeftOut { why, calls });
        let functions = self.functions.into_values().collect();
        Generalisation {
            late: self.late,
            ..Generalisation::of(functions, self.unanswered, left_out.collect())
        }
    }
}
