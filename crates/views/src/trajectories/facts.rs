//! The facts that steps and iterations contribute to the tables, their sums, and
//! the places of one row.

use std::borrow::Cow;
use std::collections::BTreeMap;

use swe_ci_core::metrics::Verdict;
use swe_ci_core::step::Role;
use swe_ci_core::usage::{Traffic, Usage};

use super::digest::{EvolutionDigest, StepDigest, Use};
use super::{
    Amount, FailureClass, MAX_ROWS, Place, Row, Selection, StepFailure, Subject, Table, Trouble,
};
use crate::count;
use crate::failures::{Frame, LossClass};
use crate::view::{EvolutionView, StepView};

/// An evolution with all that was recorded of it.
#[derive(Debug, Clone)]
pub struct EvolutionRecord {
    pub view: EvolutionView,
    pub steps: Vec<StepRecord>,
    pub digest: EvolutionDigest,
}

/// An attempt at a step, and the artifact of its recording, if it has one.
#[derive(Debug, Clone)]
pub struct StepRecord {
    pub view: StepView,
    pub recording: Option<String>,
}

/// A contribution to one row.
struct Fact<'a> {
    subject: Subject,
    name: Cow<'a, str>,
    evolution: &'a EvolutionView,
    iteration: u32,
    step: Option<(Role, u32)>,
    message: Option<u32>,
    /// The first message of the marked part.
    marked_message: Option<u32>,
    note: Cow<'a, str>,
    amount: Amount,
}

/// All tables.
pub fn tables(records: &[EvolutionRecord]) -> Vec<Table> {
    let mut sums: BTreeMap<(Subject, Cow<'_, str>), Row> = BTreeMap::new();
    for fact in records.iter().flat_map(EvolutionRecord::facts) {
        let row = sums.entry((fact.subject, fact.name.clone()));
        row.and_modify(|row| {
            row.places += 1;
            row.amount += fact.amount;
        })
        .or_insert_with(|| Row {
            name: fact.name.into_owned(),
            places: 1,
            amount: fact.amount,
        });
    }
    let mut rows: BTreeMap<Subject, Vec<Row>> = BTreeMap::new();
    for ((subject, _), row) in sums {
        rows.entry(subject).or_default().push(row);
    }
    let table = |subject| {
        let mut rows = rows.remove(&subject).unwrap_or_default();
        sort(&mut rows, subject);
        let more = count(rows.len().saturating_sub(MAX_ROWS));
        rows.truncate(MAX_ROWS);
        Table {
            subject,
            rows,
            more,
        }
    };
    Subject::ALL.map(table).into()
}

fn sort(rows: &mut [Row], subject: Subject) {
    use std::cmp::Reverse;

    let lines = |row: &Row| row.amount.lines_added + row.amount.lines_removed;
    let role = |row: &Row| {
        let name = row.name.split('/').next().unwrap_or_default();
        Role::ALL.iter().position(|role| role.name() == name)
    };
    let failure = |row: &Row| {
        let class = FailureClass::ALL.iter().position(|c| c.name() == row.name);
        (Reverse(row.amount.times), class)
    };
    let trouble = |row: &Row| Trouble::ALL.iter().position(|t| t.name() == row.name);
    match subject {
        Subject::Outcome => rows.sort_by_key(|row| (role(row), Reverse(row.amount.times))),
        Subject::Role => rows.sort_by_key(role),
        Subject::Iteration => rows.sort_by_key(|row| row.name.parse::<u32>().ok()),
        Subject::Tool | Subject::Command => rows.sort_by_key(|row| Reverse(row.amount.times)),
        Subject::File => rows.sort_by_key(|row| Reverse(lines(row))),
        Subject::Failure => rows.sort_by_key(failure),
        Subject::Trouble => rows.sort_by_key(trouble),
        Subject::Cause => rows.sort_by_key(|row| Reverse(row.amount.times)),
        Subject::Loss => rows.sort_by(|a, b| b.name.cmp(&a.name)),
    }
}

/// The places that a row sums, those with the largest part of it first.
pub fn places(records: &[EvolutionRecord], selection: &Selection) -> Vec<Place> {
    let facts = records.iter().flat_map(EvolutionRecord::facts);
    let selected = facts.filter(|fact| {
        fact.subject == selection.subject
            && fact.name == selection.name
            && (!selection.marked || fact.amount.marked > 0)
    });
    let mut places: Vec<Place> = selected.map(|fact| fact.place(selection.marked)).collect();
    let weight = |place: &Place| {
        let amount = &place.amount;
        let marked = if selection.marked { amount.marked } else { 0 };
        let lines = amount.lines_added + amount.lines_removed;
        (marked, amount.times, amount.usage.total(), lines)
    };
    places.sort_by(|a, b| {
        let weights = weight(b).cmp(&weight(a));
        weights.then(b.amount.seconds.total_cmp(&a.amount.seconds))
    });
    places
}

impl EvolutionRecord {
    fn facts(&self) -> Vec<Fact<'_>> {
        let mut facts = Vec::new();
        for step in &self.steps {
            self.step_facts(step, &mut facts);
        }
        self.file_facts(&mut facts);
        self.loss_facts(&mut facts);
        self.cause_facts(&mut facts);
        facts
    }

    fn fact<'a>(&'a self, subject: Subject, name: impl Into<Cow<'a, str>>) -> Fact<'a> {
        Fact {
            subject,
            name: name.into(),
            evolution: &self.view,
            iteration: 0,
            step: None,
            message: None,
            marked_message: None,
            note: Cow::Borrowed(""),
            amount: Amount::default(),
        }
    }

    fn step_facts<'a>(&'a self, step: &'a StepRecord, facts: &mut Vec<Fact<'a>>) {
        let view = &step.view;
        let recording = step.recording.as_ref();
        let digest = recording.and_then(|key| self.digest.steps.get(key)?.as_ref());
        let effort = effort(view);
        let (role, outcome) = (view.role.name(), view.outcome.name());
        let from = facts.len();
        let start = step.recording.is_some().then_some(1);
        // A retry is a row of the log, and no step.
        if view.outcome.is_attempt() {
            let whole = [
                (Subject::Outcome, Cow::Owned(format!("{role}/{outcome}"))),
                (Subject::Role, Cow::Borrowed(role)),
                (Subject::Iteration, Cow::Owned(view.iteration.to_string())),
            ];
            for (subject, name) in whole {
                let amount = effort;
                facts.push(Fact {
                    amount,
                    message: start,
                    ..self.fact(subject, name)
                });
            }
        }
        if let Some(failure) = StepFailure::of(view, digest) {
            facts.push(Fact {
                amount: effort,
                message: failure.message.or(start),
                note: failure.evidence.into(),
                ..self.fact(Subject::Failure, failure.class.name())
            });
        }
        if let Some(digest) = digest {
            self.recording_facts(digest, facts);
        }
        for fact in &mut facts[from..] {
            fact.iteration = view.iteration;
            fact.step = Some((view.role, view.attempt));
        }
    }

    fn recording_facts<'a>(&'a self, digest: &'a StepDigest, facts: &mut Vec<Fact<'a>>) {
        for (subject, uses) in [
            (Subject::Tool, &digest.tools),
            (Subject::Command, &digest.commands),
        ] {
            facts.extend(uses.iter().map(|(name, calls)| Fact {
                message: Some(calls.first),
                marked_message: (calls.failed > 0).then_some(calls.first_failed),
                amount: calls.amount(),
                ..self.fact(subject, name)
            }));
        }
        facts.extend(digest.repeated.iter().map(|repeated| Fact {
            message: Some(repeated.message),
            note: Cow::Borrowed(&repeated.call),
            amount: times(repeated.times),
            ..self.trouble(Trouble::Repeated)
        }));
        for (trouble, messages) in [
            (Trouble::Truncated, &digest.truncated),
            (Trouble::Empty, &digest.empty),
            (Trouble::Unanswered, &digest.unanswered),
        ] {
            facts.extend(messages.first().map(|first| Fact {
                message: Some(*first),
                amount: times(count(messages.len())),
                ..self.trouble(trouble)
            }));
        }
    }

    fn trouble(&self, trouble: Trouble) -> Fact<'_> {
        self.fact(Subject::Trouble, trouble.name())
    }

    fn file_facts<'a>(&'a self, facts: &mut Vec<Fact<'a>>) {
        for (iteration, changes) in &self.digest.changes {
            facts.extend(changes.files.iter().map(|file| Fact {
                iteration: *iteration,
                amount: Amount {
                    marked: u32::from(file.back),
                    lines_added: file.added.into(),
                    lines_removed: file.removed.into(),
                    ..times(1)
                },
                ..self.fact(Subject::File, &file.path)
            }));
        }
    }

    fn loss_facts<'a>(&'a self, facts: &mut Vec<Fact<'a>>) {
        for iteration in &self.view.iterations {
            let name = match iteration.verdict {
                Verdict::Scored { lost: 0, .. } => continue,
                Verdict::Scored { .. } => "lost",
                Verdict::Collapsed { .. } => "collapsed",
            };
            let note = iteration.collapse.as_deref().unwrap_or_default();
            facts.push(Fact {
                iteration: iteration.iteration,
                note: Cow::Borrowed(note),
                amount: times(iteration.verdict.lost()),
                ..self.fact(Subject::Loss, name)
            });
        }
    }

    /// One for each class of an iteration, with the line that most of its tests end at.
    fn cause_facts<'a>(&'a self, facts: &mut Vec<Fact<'a>>) {
        for (iteration, losses) in &self.digest.losses {
            let mut classes: BTreeMap<LossClass, (u32, Option<&Frame>)> = BTreeMap::new();
            // The largest come first.
            for loss in losses {
                let (tests, frame) = classes.entry(loss.class).or_default();
                *tests = tests.saturating_add(loss.tests);
                *frame = frame.or(loss.frame.as_ref());
            }
            facts.extend(classes.into_iter().map(|(class, (tests, frame))| Fact {
                iteration: *iteration,
                note: frame.map_or(Cow::Borrowed(""), |frame| frame.named().into()),
                amount: times(tests),
                ..self.fact(Subject::Cause, class.name())
            }));
        }
    }
}

impl Fact<'_> {
    fn place(self, marked: bool) -> Place {
        let marked_message = self.marked_message.filter(|_| marked);
        let mut tested = self.evolution.iterations.iter();
        Place {
            tested: tested.any(|one| one.iteration == self.iteration),
            task_id: self.evolution.task_id.clone(),
            sample: self.evolution.sample,
            evolution_id: self.evolution.evolution_id.clone(),
            iteration: self.iteration,
            step: self.step,
            message: marked_message.or(self.message),
            note: self.note.into_owned(),
            amount: self.amount,
        }
    }
}

impl Place {
    /// A step with hits of a search.
    pub fn of_hits(
        evolution: &EvolutionRecord,
        step: &StepRecord,
        hits: u32,
        message: u32,
    ) -> Self {
        let fact = Fact {
            iteration: step.view.iteration,
            step: Some((step.view.role, step.view.attempt)),
            message: Some(message),
            amount: times(hits),
            ..evolution.fact(Subject::default(), "")
        };
        fact.place(false)
    }
}

impl Use {
    fn amount(&self) -> Amount {
        Amount {
            marked: self.failed,
            #[expect(clippy::cast_precision_loss, reason = "no step takes 2^53 ms")]
            seconds: self.ms as f64 / 1_000.0,
            usage: Usage {
                output_tokens: self.output_tokens,
                ..Usage::default()
            },
            result_bytes: self.result_bytes,
            ..times(self.calls)
        }
    }
}

fn times(times: u32) -> Amount {
    Amount {
        times,
        ..Amount::default()
    }
}

/// What a step took.
fn effort(step: &StepView) -> Amount {
    let traffic = step.traffic.unwrap_or_default();
    let uses_no_model = step.usage.is_none() && step.traffic.is_none();
    #[expect(clippy::cast_precision_loss, reason = "no step waits 2^53 ms")]
    let waiting_seconds = traffic.waiting_ms as f64 / 1_000.0;
    Amount {
        seconds: step.seconds,
        waiting_seconds,
        usage: step.usage.unwrap_or_default(),
        micro_usd: match uses_no_model {
            true => Some(0),
            false => step.traffic.and_then(|traffic: Traffic| traffic.micro_usd),
        },
        ..times(1)
    }
}
