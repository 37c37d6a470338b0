//! Which results of a run belong to which test in the source, whatever names a runner
//! gives them. It is found by experiment: of several sessions each source is contradicted
//! in half, no two in the same ones. A result that the oracle fails in exactly these
//! sessions belongs to the source; one that fails with a neighbour, too, is in more.

use std::collections::BTreeMap;

use futures::FutureExt;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_core::report::Outcome;
use swe_ci_core::task::TestCommand;
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

use super::making::{MOST, session, side_by_side};
use super::{Choice, Contradictions, Holding, Piece, Results, TestKey, grammars};
use crate::{Graded, Grading};

/// The fewest sessions of the experiment, which is enough for 20 sources.
const FEWEST: u32 = 6;
/// The most sessions that look for contradictions with which no test runs.
const MOST_TO_MEND: u32 = 40;

/// As of [`super::contradictions_of`], in languages that a grammar parses.
pub(super) async fn contradictions_of(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
) -> Result<Result<Contradictions, String>, SandboxError> {
    let (oracle, command) = (grading.oracle.clone(), grading.command.clone());
    let (files, skipped) = blocking(move || Ok(files_of(&oracle, &command))).await?;
    let all = Contradictions {
        files,
        ..Contradictions::default()
    };
    let sources = all.sources();
    if sources.all.is_empty() {
        let language = grading.command.language();
        let why = format!("no contradiction of its tests can be made in {language}");
        let skipped = skipped.into_iter().next();
        return Ok(Err(
            skipped.map_or(why, |(path, why)| format!("{path}: {why}"))
        ));
    }
    let mut lab = Lab {
        sandbox,
        spec,
        grading,
        all: &all,
        left: MOST_TO_MEND,
    };
    let as_written = lab.run(&Choice::new()).await?;
    let Some(results) = Results::of(&as_written) else {
        let why = as_written.result.err().unwrap_or_default();
        return Ok(Err(format!("the tests did not run once more: {why}")));
    };
    let (sound, _) = lab.sound(sources.all_of(0)).await?;
    let (count, codes) = codes(sound.len());
    let keys: BTreeMap<u32, TestKey<'_>> = codes.into_iter().zip(sound.into_keys()).collect();
    let choice = |bit: u32| -> Choice<'_> {
        let chosen = keys.iter().filter(|(code, _)| **code >> bit & 1 == 1);
        chosen.map(|(_, key)| (*key, 0)).collect()
    };
    let choices: Vec<Choice<'_>> = (0..count).map(choice).collect();
    let runs = choices.iter().map(|choice| lab.run(choice).boxed());
    let runs = side_by_side(runs.collect()).await?;
    let runs: Vec<Option<Results<'_>>> = runs.iter().map(Results::of).collect();
    let mut others = Vec::new();
    for number in 1..MOST {
        others.push(lab.sound(sources.all_of(number)).await?);
    }
    let order: Vec<String> = as_written.order.iter().map(|run| run.id.clone()).collect();
    let (mut holding, mut source_of) = (BTreeMap::new(), BTreeMap::new());
    for id in order.iter().filter(|id| results.passes(id, None)) {
        let failing = (0_u32..)
            .zip(&runs)
            .filter(|(_, run)| fails(run.as_ref(), id));
        let code = failing.fold(0, |code, (bit, _)| code | 1 << bit);
        let found = match keys.get(&code) {
            Some(key) => {
                let (path, test) = *key;
                source_of.insert(id.clone(), (path.to_owned(), test.to_owned()));
                let others = (1..).zip(&others).filter(|(number, (choice, graded))| {
                    choice.get(key) == Some(number) && fails(Results::of(graded).as_ref(), id)
                });
                let others = others.map(|(number, _)| number);
                Holding::Numbers([0].into_iter().chain(others).collect())
            }
            None if code == 0 => {
                Holding::None("nothing that it expects is a known constant".into())
            }
            None => Holding::None("it fails with other tests".into()),
        };
        holding.insert(id.clone(), found);
    }
    Ok(Ok(Contradictions {
        holding,
        source_of,
        order,
        ..all
    }))
}

/// Whether a result is there and a failure.
fn fails(results: Option<&Results<'_>>, id: &str) -> bool {
    let outcome = results.and_then(|results| results.same(id, None));
    outcome.is_some_and(|(outcome, _)| matches!(outcome, Outcome::Failed | Outcome::Error))
}

/// So many numbers, each with half of the bits set, no two alike; and the count of bits.
fn codes(number: usize) -> (u32, Vec<u32>) {
    let mut count = FEWEST;
    loop {
        let half = |code: &u32| code.count_ones() == count / 2;
        let codes: Vec<u32> = (0..1 << count).filter(half).take(number).collect();
        if codes.len() == number {
            return (count, codes);
        }
        count += 2;
    }
}

type Files = BTreeMap<String, Vec<Piece>>;

/// The files of tests in pieces, and why some are left out.
fn files_of(oracle: &CodeTree, command: &TestCommand) -> (Files, BTreeMap<String, String>) {
    let (mut files, mut skipped) = (BTreeMap::new(), BTreeMap::new());
    let mut reader = grammars::Reader::default();
    for path in oracle.paths().filter(|path| command.is_test(path)) {
        let Some(Ok(text)) = oracle.file(path).map(str::from_utf8) else {
            continue;
        };
        match reader.pieces(path, text) {
            Some(Ok(pieces)) => drop(files.insert(path.to_owned(), pieces)),
            Some(Err(why)) => drop(skipped.insert(path.to_owned(), why)),
            None => {}
        }
    }
    (files, skipped)
}

/// Where the oracle's code is tested.
struct Lab<'a> {
    sandbox: &'a dyn Sandbox,
    spec: &'a ContainerSpec,
    grading: &'a Grading,
    all: &'a Contradictions,
    /// Sessions that may still look for what does not run.
    left: u32,
}

impl Lab<'_> {
    async fn run(&self, choice: &Choice<'_>) -> Result<Graded, SandboxError> {
        let words = super::Words::new();
        let (sandbox, spec, grading) = (self.sandbox, self.spec, self.grading);
        session(sandbox, spec, grading, self.all, choice, None, words).await
    }

    /// Those contradictions with which the tests run, and their session: one that a
    /// compiler refuses hides all others.
    async fn sound<'c>(
        &mut self,
        mut choice: Choice<'c>,
    ) -> Result<(Choice<'c>, Graded), SandboxError> {
        loop {
            let graded = self.run(&choice).await?;
            if graded.result.is_ok() {
                return Ok((choice, graded));
            }
            let mut suspects: Vec<TestKey<'c>> = choice.keys().copied().collect();
            while suspects.len() > 1 && self.left > 0 {
                self.left -= 1;
                let second = suspects.split_off(suspects.len() / 2);
                let first = suspects.iter().map(|key| (*key, choice[key])).collect();
                if self.run(&first).await?.result.is_ok() {
                    suspects = second;
                }
            }
            match suspects.as_slice() {
                [one] => drop(choice.remove(one)),
                _ => choice.clear(),
            }
            if choice.is_empty() {
                return Ok((choice, graded));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_half_of_their_bits() {
        for (number, expect) in [(1, 6), (20, 6), (21, 8), (70, 8), (71, 10), (1_000, 14)] {
            let (count, codes) = codes(number);
            assert_eq!((count, codes.len()), (expect, number));
            let both = codes
                .iter()
                .zip(&codes[1..])
                .map(|(one, other)| one | other);
            assert!(both.into_iter().all(|both| both.count_ones() > count / 2));
        }
    }
}
