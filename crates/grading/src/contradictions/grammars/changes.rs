//! How the expectations of a test are changed.

use std::ops::Range;

use swe_ci_core::audit::ContradictionKind;

use super::literals::{Dice, Distance};
use super::places::{Edit, Leaves, Span};

/// The most changes of one kind in the contradiction that has all of them.
const MOST_AT_ONCE: usize = 200;

/// A test in the source.
pub(super) struct Unit {
    pub name: String,
    /// Its place in the text, in bytes.
    pub range: Range<usize>,
    pub expectations: Vec<Expectation>,
}

pub(super) enum Expectation {
    /// Constants of which each has to be another: one, or a column of a table.
    Constants(Vec<Span>),
    Truth(Span),
}

impl Unit {
    /// The changes of each contradiction: all constants at once, one of them far, another
    /// one less far, a near one, and a truth.
    pub fn changes(&self, path: &str, leaves: &Leaves<'_>) -> Vec<(ContradictionKind, Vec<Edit>)> {
        let mut dice = Dice::new(format!("{path} {}", self.name));
        let (mut constants, mut truths) = (Vec::new(), Vec::new());
        for expectation in &self.expectations {
            match expectation {
                Expectation::Constants(spans) => constants.push(spans),
                Expectation::Truth(span) => truths.push(span),
            }
        }
        let mut one = |spans: &[Span], distance| -> Vec<Edit> {
            let others = spans
                .iter()
                .filter_map(|span| leaves.other(span, &mut dice, distance));
            others.collect()
        };
        let negated = |span: &Span| {
            let bytes = leaves.bytes(span);
            vec![(bytes.clone(), format!("!({})", leaves.text(span)))]
        };
        let all: Vec<Vec<Edit>> = constants
            .iter()
            .map(|spans| one(spans, Distance::Far))
            .collect();
        let mut near = constants.iter().map(|spans| one(spans, Distance::Near));
        let near = near.find(|edits| !edits.is_empty());
        let medium = constants.last().map(|spans| one(spans, Distance::Medium));
        let far = all.iter().find(|edits| !edits.is_empty()).cloned();
        let at_once = |changes: Vec<Vec<Edit>>| {
            let mut edits = changes
                .into_iter()
                .take(MOST_AT_ONCE)
                .collect::<Vec<_>>()
                .concat();
            edits.sort_by_key(|(range, _)| (range.start, range.end));
            edits.dedup_by(|later, before| later.0.start < before.0.end);
            edits
        };
        let several = constants.len() > 1;
        let all = at_once(all);
        let truth = truths.first().map(|span| negated(span));
        let all_truths = at_once(truths.iter().map(|span| negated(span)).collect());
        use ContradictionKind::{Constant, Near, Negation};
        let changes = match all.is_empty() {
            false => vec![
                (Constant, Some(all)),
                (Constant, far.filter(|_| several)),
                (Constant, medium),
                (Near, near),
                (Negation, truth),
            ],
            true => vec![
                (Negation, Some(all_truths)),
                (Negation, truth.filter(|_| truths.len() > 1)),
            ],
        };
        let changes = changes
            .into_iter()
            .filter_map(|(kind, edits)| Some((kind, edits?)));
        changes.filter(|(_, edits)| !edits.is_empty()).collect()
    }
}
