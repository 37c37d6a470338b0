//! Asks code questions, in a container of its own.

use std::time::{Duration, Instant};

use serde_json::json;
use swe_ci_base::code::CodeTree;
use swe_ci_sandbox::{CODE_FOLDER, ContainerSpec, Sandbox, SandboxError};

use super::{Answer, CODE_TIME, Question};
use crate::{Grading, TESTS, program};

pub(super) const PROGRAM: &str = include_str!("ask.py");
/// How long code may take for all answers.
const ALL_TIME: Duration = Duration::from_secs(100);
/// The program itself ends within this time after that.
const GRACE: Duration = Duration::from_secs(20);

/// Which process asks a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// A copy of the one that has imported its file.
    Copy,
    /// One that has imported its file itself, with its threads.
    Own,
}

/// Where code is asked.
pub(super) struct Session<'a> {
    sandbox: &'a dyn Sandbox,
    spec: &'a ContainerSpec,
    oracle: &'a CodeTree,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        sandbox: &'a dyn Sandbox,
        spec: &'a ContainerSpec,
        grading: &'a Grading,
    ) -> Self {
        Self {
            sandbox,
            spec,
            oracle: &grading.oracle,
        }
    }

    /// With other answers to the questions that the code does not answer as its test
    /// has them: what it began as it was imported, such as a thread, may be missing.
    pub(super) async fn ask_again(
        &self,
        code: &CodeTree,
        questions: &[Question],
        mut answers: Vec<Vec<Option<Answer>>>,
    ) -> Result<Vec<Vec<Option<Answer>>>, SandboxError> {
        let silent =
            |answers: &[Option<Answer>]| matches!(answers[0], None | Some(Answer::Raised(_)));
        let again = questions.iter().zip(&answers).enumerate();
        let again = again.filter(|(_, (_, answers))| silent(answers));
        let (places, again): (Vec<usize>, Vec<Question>) = again
            .map(|(place, (question, _))| (place, question.clone()))
            .unzip();
        if !again.is_empty() {
            let asked = self.ask_in(Asking::Own, code, &again, 0, CODE_TIME).await?;
            for (place, own) in places.into_iter().zip(asked) {
                if questions[place].is_answered(0, &own) {
                    answers[place] = own;
                }
            }
        }
        Ok(answers)
    }

    pub(super) async fn ask(
        &self,
        code: &CodeTree,
        questions: &[Question],
        hash_seed: u8,
        answer_time: Duration,
    ) -> Result<Vec<Vec<Option<Answer>>>, SandboxError> {
        self.ask_in(Asking::Copy, code, questions, hash_seed, answer_time)
            .await
    }

    /// The answers of some code to each form of each question, in a container of its
    /// own; `None` for those that did not come.
    async fn ask_in(
        &self,
        asking: Asking,
        code: &CodeTree,
        questions: &[Question],
        hash_seed: u8,
        answer_time: Duration,
    ) -> Result<Vec<Vec<Option<Answer>>>, SandboxError> {
        let forms = questions.iter().flat_map(|question| {
            let forms = question.forms.iter();
            forms.map(|[statements, expression]| [&question.file, statements, expression])
        });
        let forms: Vec<[&String; 3]> = forms.collect();
        let input = json!({
            "code": CODE_FOLDER,
            "copies": asking == Asking::Copy,
            "seconds_each": answer_time.as_secs(),
            "seconds": ALL_TIME.as_secs(),
            "questions": forms,
        });
        let container = self.sandbox.open(self.spec).await?;
        let code = code.clone().with_folder_of(TESTS, self.oracle);
        container.put(&[(CODE_FOLDER, &code)]).await?;
        let (limit, began) = (ALL_TIME + GRACE, Instant::now());
        let printed =
            program::run(container.as_ref(), &[PROGRAM], &input, hash_seed, limit).await?;
        let mut answers = answers(&printed.output, forms.len());
        // The code can say so too: before its time is up, or between answers.
        let is_answer = |answer: &Option<Answer>| !matches!(answer, None | Some(Answer::Late));
        let in_time = match began.elapsed() < ALL_TIME {
            true => answers.len(),
            false => answers
                .iter()
                .rposition(is_answer)
                .map_or(0, |last| last + 1),
        };
        for answer in &mut answers[..in_time] {
            answer.take_if(|answer| *answer == Answer::Late);
        }
        let mut answers = answers.into_iter();
        let of = |question: &Question| answers.by_ref().take(question.forms.len()).collect();
        Ok(questions.iter().map(of).collect())
    }
}

/// The answers that a program printed, of so many. A line of others is none.
pub(super) fn answers(output: &[u8], number: usize) -> Vec<Option<Answer>> {
    let mut answers = vec![None; number];
    let lines = output.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice::<(usize, Answer)>(line).ok());
    for (number, answer) in lines {
        if let Some(place @ None) = answers.get_mut(number) {
            *place = Some(answer);
        }
    }
    answers
}
