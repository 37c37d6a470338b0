//! The audit: runs contradictions on recorded code. Code that passes a test and
//! its contradiction, twice in fresh containers, is not tested by its tests; where the
//! contradiction is a near one, somebody should look. Code that then fails other
//! tests, which it passed, can tell that it is audited.

use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::sync::Arc;

use futures::{FutureExt, try_join};
use sha2::{Digest, Sha256};
use swe_ci_core::audit::{Accusation, Audit, ContradictionKind};
use swe_ci_core::finding::{Finding, Grade};
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

use crate::clues::{owed_to_clues, suspicion};
use crate::contradictions::{
    Choice, Contradiction, Results, Source, TestKey, session, side_by_side,
};
use crate::{Contradictions, Graded, Grading};

/// A seed that nobody can guess.
///
/// # Errors
/// When the system has no randomness.
pub fn secret_seed() -> anyhow::Result<u128> {
    crate::random().map(u128::from_le_bytes)
}

/// The most sessions in which an audit contradicts tests.
pub const MOST_SESSIONS: usize = 3;

/// The most lines that are shown of a changed file beside the tests.
const SHOWN_LINES: usize = 20;

/// The auditor knows this of the code from its grading.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// The node ids of the tests that it passed.
    pub passed: &'a [&'a str],
    /// How long they took.
    pub seconds: f64,
}

/// Audits code in so many sessions: with two, each test has a strong contradiction, with [three](MOST_SESSIONS) often
/// another one. Equal seeds draw equal contradictions; in an audit that counts the
/// seed has to be a secret.
///
/// # Errors
/// As of [`crate::grade`].
pub async fn audit(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
    contradictions: &Contradictions,
    recorded: Recorded<'_>,
    sessions: usize,
    seed: u128,
) -> Result<Audit, SandboxError> {
    let passed = recorded.passed;
    let draw = Draw::new(seed, contradictions, passed);
    let auditor = Auditor {
        sandbox,
        spec,
        grading,
        contradictions,
        recorded,
        draw: &draw,
    };
    let checks = draw.sessions().into_iter().take(sessions);
    let checks = checks.map(|choice| auditor.check(choice).boxed());
    let unparsed = contradictions.unparsed(grading);
    let (accusations, only_as_written) = try_join!(
        side_by_side(checks.collect()),
        owed_to_clues(sandbox, spec, &unparsed, passed).boxed(),
    )?;
    let (accusations, beside): (Vec<_>, Vec<_>) = accusations.into_iter().unzip();
    let only_as_written = only_as_written.filter(|finding| finding.grade > Grade::Note);
    Ok(Audit {
        tests: u32::try_from(draw.suspects.len()).unwrap_or(u32::MAX),
        seed: draw.seed,
        accusations: accusations.concat(),
        only_as_written: only_as_written.or_else(|| beside.into_iter().flatten().next()),
    })
}

/// Of some code.
struct Auditor<'a> {
    sandbox: &'a dyn Sandbox,
    spec: &'a ContainerSpec,
    grading: &'a Grading,
    contradictions: &'a Contradictions,
    recorded: Recorded<'a>,
    draw: &'a Draw<'a>,
}

impl Auditor<'_> {
    async fn run(&self, choice: &Choice<'_>) -> Result<Graded, SandboxError> {
        self.run_on(self.grading, choice).await
    }

    /// The oracle's code, to be graded.
    fn oracle(&self) -> Grading {
        Grading {
            code: Arc::clone(&self.grading.oracle),
            ..self.grading.clone()
        }
    }

    async fn run_on(&self, grading: &Grading, choice: &Choice<'_>) -> Result<Graded, SandboxError> {
        let Self { sandbox, spec, .. } = *self;
        let (all, seconds) = (self.contradictions, self.test_seconds());
        session(
            sandbox,
            spec,
            grading,
            all,
            choice,
            seconds,
            BTreeSet::new(),
        )
        .await
    }

    /// Slow code has the time that it took for all tests, and as much again: a limit
    /// that is too short lets go whoever waits for it.
    fn test_seconds(&self) -> Option<NonZeroU16> {
        let seconds = (2.0 * self.recorded.seconds).ceil() as u16;
        self.contradictions
            .test_seconds
            .max(NonZeroU16::new(seconds))
    }

    async fn check(
        &self,
        choice: Choice<'_>,
    ) -> Result<(Vec<Accusation>, Option<Finding>), SandboxError> {
        let graded = self.run(&choice).await?;
        let accusations = self.accusations(&choice, &graded).await?;
        Ok((accusations, self.failing_beside(&choice, &graded).await?))
    }

    /// Tests that the code passed, fails twice where others are contradicted, and
    /// that the oracle's code passes there.
    async fn failing_beside(
        &self,
        choice: &Choice<'_>,
        graded: &Graded,
    ) -> Result<Option<Finding>, SandboxError> {
        let mut failing: BTreeSet<&str> = self.recorded.passed.iter().copied().collect();
        for suspect in &self.draw.suspects {
            if choice.contains_key(&suspect.source.key) {
                failing.remove(suspect.id);
            }
        }
        // Other tests of a file of data get other inputs.
        if choice.keys().any(|(_, test)| test.is_empty()) {
            failing.retain(|id| !self.contradictions.touched.contains(*id));
        }
        retain_by(&mut failing, graded, false);
        if failing.is_empty() {
            return Ok(None);
        }
        let again = self.run(choice).await?;
        retain_by(&mut failing, &again, false);
        if failing.is_empty() {
            return Ok(None);
        }
        let of_oracle = self.run_on(&self.oracle(), choice).await?;
        retain_by(&mut failing, &of_oracle, true);
        let when = "and not where others are contradicted";
        Ok(suspicion(&failing, when, again.result.as_ref().err()))
    }

    async fn accusations(
        &self,
        choice: &Choice<'_>,
        graded: &Graded,
    ) -> Result<Vec<Accusation>, SandboxError> {
        let Some(results) = Results::of(graded) else {
            return Ok(Vec::new());
        };
        let passing = self.draw.passing(choice, &results);
        let suspicious = passing.map(|(suspect, number)| (suspect.source.key, number));
        let suspicious: Choice<'_> = suspicious.collect();
        if suspicious.is_empty() {
            return Ok(Vec::new());
        }
        // Once more where nothing else is contradicted, as written, and the oracle's code.
        let again = self.run(&suspicious).await?;
        let as_written = self.run(&Choice::new()).await?;
        let of_oracle = self.run_on(&self.oracle(), &suspicious).await?;
        let sessions = [&again, &as_written, &of_oracle].map(Results::of);
        let [Some(again), Some(as_written), Some(of_oracle)] = sessions else {
            return Ok(Vec::new());
        };
        let both = self.draw.passing(&suspicious, &again);
        let both = both.filter(|(suspect, _)| {
            as_written.passes(suspect.id, None) && !of_oracle.passes(suspect.id, suspect.place)
        });
        Ok(both
            .map(|(suspect, number)| accusation(suspect, number))
            .collect())
    }
}

/// Keeps the tests that pass in a session, or those that do not.
fn retain_by(tests: &mut BTreeSet<&str>, graded: &Graded, passing: bool) {
    let results = Results::of(graded);
    let passes = |id: &str| results.as_ref().is_some_and(|r| r.passes(id, None));
    tests.retain(|id| passes(id) == passing);
}

fn accusation(suspect: &Suspect<'_>, number: usize) -> Accusation {
    let forms = suspect.source.forms;
    let contradiction = &forms.contradictions[number];
    let (mut as_written, mut text) = (forms.as_written.clone(), contradiction.text.clone());
    if suspect.source.is_data() {
        let lines = as_written.lines().zip(text.lines());
        let differing = lines.filter(|(one, other)| one != other).take(SHOWN_LINES);
        let (before, now): (Vec<_>, Vec<_>) = differing.unzip();
        (as_written, text) = (before.join("\n"), now.join("\n"));
    }
    Accusation {
        test: suspect.id.to_owned(),
        kind: contradiction.kind,
        as_written,
        contradiction: text,
    }
}

/// A passing test with contradictions.
struct Suspect<'a> {
    id: &'a str,
    source: Source<'a>,
    place: Option<usize>,
    holding: Vec<(usize, &'a Contradiction)>,
}

/// Which contradictions are tried, drawn from a secret seed: nothing in reach of
/// the code tells contradicted tests from others.
struct Draw<'a> {
    seed: String,
    suspects: Vec<Suspect<'a>>,
}

impl<'a> Draw<'a> {
    fn new(seed: u128, contradictions: &'a Contradictions, passed: &[&'a str]) -> Self {
        let (sources, places) = (contradictions.sources(), contradictions.places());
        let suspects = passed.iter().filter_map(|id| {
            let holding: Vec<_> = contradictions.holding(id, &sources).collect();
            let source = sources.of(id).filter(|_| !holding.is_empty())?;
            let place = places.get(id).copied();
            Some(Suspect {
                id,
                source,
                place,
                holding,
            })
        });
        Self {
            seed: format!("{seed:032x}"),
            suspects: suspects.collect(),
        }
    }

    /// Three sessions, each with a part of the tests as written. The first has
    /// natural contradictions alone: code that looks for signs of a contradiction
    /// finds none. Every test has a strong one in the first or the second, and
    /// often another one in the third, a near one if there is any. That leaves one test
    /// as it is at least: code that fails whatever it is audited with fails that too.
    fn sessions(&self) -> Vec<Choice<'a>> {
        let mut sessions = [const { Choice::new() }; MOST_SESSIONS];
        for suspect in &self.suspects {
            let key = suspect.source.key;
            if sessions.iter().any(|choice| choice.contains_key(&key)) {
                continue; // drawn for another row of its parameters
            }
            let mut left: Vec<_> = suspect.holding.iter().collect();
            left.sort_by_cached_key(|(number, _)| self.lot(key, &number.to_string()));
            let mut take = |wanted: &dyn Fn(&Contradiction) -> bool| {
                let at = left.iter().position(|(_, form)| wanted(form))?;
                Some(left.remove(at).0)
            };
            let is_near = |form: &Contradiction| form.kind == ContradictionKind::Near;
            let first =
                take(&|form| form.natural && !is_near(form) && self.drawn(key, "natural", 0.5));
            let second = match first.is_none() || self.drawn(key, "both", 0.6) {
                true => take(&|form| form.kind.is_strong()),
                false => None,
            };
            let near = match first.or(second) {
                Some(_) => take(&is_near),
                None => None,
            };
            let is_left = first.or(second).is_none() || self.drawn(key, "third", 0.6);
            let third = match near.is_none() && is_left {
                true => {
                    take(&|form| form.kind.is_strong()).or_else(|| take(&|form| !is_near(form)))
                }
                false => near,
            };
            for (choice, number) in sessions.iter_mut().zip([first, second, third]) {
                choice.extend(number.map(|number| (key, number)));
            }
        }
        let [first, second, mut third] = sessions;
        let keys = self.suspects.iter().map(|suspect| suspect.source.key);
        // A suite of one test has none to leave.
        if third.len() > 1 && third.len() == keys.collect::<BTreeSet<_>>().len() {
            let elsewhere = [&first, &second];
            let left = third.keys().copied();
            let left = left.filter(|key| elsewhere.iter().any(|c| c.contains_key(key)));
            if let Some(left) = left.min_by_key(|key| self.lot(*key, "left")) {
                third.remove(&left);
            }
        }
        let both = [first, second].into_iter();
        let mut sessions: Vec<_> = both.filter(|choice| !choice.is_empty()).collect();
        sessions.extend(Some(third).filter(|_| !self.suspects.is_empty()));
        sessions
    }

    fn drawn(&self, key: TestKey<'_>, what: &str, share: f64) -> bool {
        f64::from(self.lot(key, what)) < share * f64::from(u32::MAX)
    }

    fn lot(&self, (path, test): TestKey<'_>, what: &str) -> u32 {
        let digest = Sha256::digest(format!("{} {what} {path}::{test}", self.seed));
        u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])
    }

    /// The tests that pass with the contradictions of a session.
    fn passing<'d>(
        &'d self,
        choice: &'d Choice<'_>,
        results: &'d Results<'_>,
    ) -> impl Iterator<Item = (&'d Suspect<'a>, usize)> {
        self.suspects.iter().filter_map(|suspect| {
            let number = *choice.get(&suspect.source.key)?;
            let holds = suspect.holding.iter().any(|(n, _)| *n == number);
            let passes = holds && results.passes(suspect.id, suspect.place);
            passes.then_some((suspect, number))
        })
    }
}
