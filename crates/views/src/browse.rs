//! Browsing of tasks: filter, order, and the distribution of their sizes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::task_results::Difficulty;
use crate::view::{TaskState, TaskSummary};
use crate::{count, has_words, median, missing_last};

swe_ci_core::named! {
    /// A size of a task, for filters, orders and histograms.
    #[derive(PartialOrd, Ord)]
    pub enum Size {
        /// Tests of the gap.
        Gap = "gap",
        /// Tests the target passes.
        Tests = "tests",
        /// Commits between base and target.
        Commits = "commits",
        /// Days between base and target.
        Days = "days",
        /// Lines that differ between base and target.
        Lines = "lines",
        /// Seconds the suite takes.
        Suite = "suite",
        /// Share of the runs that solved it.
        Solved = "solved",
        /// Mean EvoScore of the runs.
        Score = "score",
        /// Share of the tests that can be contradicted.
        Contradicted = "contradicted",
    }
}

impl Size {
    /// Its value for this task; `None` if unknown.
    pub fn of(self, task: &TaskSummary) -> Option<f64> {
        let counted = |count: u32| task.has_counts().then(|| f64::from(count));
        let prepared = |value: f64| task.is_prepared().then_some(value);
        match self {
            Self::Gap => counted(task.gap),
            Self::Tests => counted(task.target_passed),
            Self::Commits => prepared(f64::from(task.commits)),
            Self::Days => prepared(task.span_days),
            Self::Lines => task.modified_lines.map(f64::from),
            Self::Suite => prepared(task.suite_seconds),
            Self::Solved => task.difficulty.as_ref().map(Difficulty::solved_share),
            Self::Score => task.difficulty.as_ref().map(|of| of.evoscore),
            Self::Contradicted => task.contradicted,
        }
    }

    /// Whether its values are shares or scores, at most 1. Others differ by orders of
    /// magnitude.
    pub fn is_share(self) -> bool {
        matches!(self, Self::Solved | Self::Score | Self::Contradicted)
    }

    /// The least value that it can have.
    pub fn least(self) -> f64 {
        match self {
            Self::Score => -1.0,
            _ => 0.0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    pub from: f64,
    pub to: f64,
}

impl Between {
    fn contains(self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }
}

/// A filter of tasks; every condition must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskFilter {
    /// Words; all of them must occur in the name of the task or its
    /// repository.
    pub search: String,
    pub repo: Option<String>,
    pub licence: Option<String>,
    /// With or without findings of its preparation.
    pub findings: Option<bool>,
    pub ready: Option<bool>,
    pub sizes: BTreeMap<Size, Between>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    pub name: String,
    pub value: String,
    pub must: &'static str,
}

const MAX_TEXT: usize = 200;

impl TaskFilter {
    /// Parses the filter from the parameters of a URL; empty ones do not
    /// count. Invalid parameters are ignored and returned.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> (Self, Vec<Unusable>) {
        let mut query = QueryParser {
            get,
            unusable: Vec::new(),
        };
        let text = |text: &str| (text.len() <= MAX_TEXT).then(|| text.to_owned());
        let must = "at most 200 bytes of text";
        let filter = Self {
            search: query.value("q", must, text).unwrap_or_default(),
            repo: query.value("repo", must, text),
            licence: query.value("licence", must, text),
            findings: query.value("findings", "`some` or `none`", |text| match text {
                "some" => Some(true),
                "none" => Some(false),
                _ => None,
            }),
            ready: query.value("state", "`ready` or `unusable`", |text| match text {
                "ready" => Some(true),
                "unusable" => Some(false),
                _ => None,
            }),
            sizes: Size::ALL
                .into_iter()
                .filter_map(|size| Some((size, query.between(size)?)))
                .collect(),
        };
        (filter, query.unusable)
    }

    pub fn pairs(&self) -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut pairs = Vec::new();
        if !self.search.trim().is_empty() {
            pairs.push(pair("q", self.search.trim()));
        }
        pairs.extend(self.repo.iter().map(|repo| pair("repo", repo)));
        pairs.extend(self.licence.iter().map(|name| pair("licence", name)));
        let findings = self.findings.map(|some| if some { "some" } else { "none" });
        pairs.extend(findings.map(|value| pair("findings", value)));
        let state = |ready| if ready { "ready" } else { "unusable" };
        pairs.extend(self.ready.map(|ready| pair("state", state(ready))));
        for (size, between) in &self.sizes {
            let ends = [("min", between.from), ("max", between.to)];
            let finite = ends.into_iter().filter(|(_, value)| value.is_finite());
            let name = size.name();
            pairs.extend(finite.map(|(end, value)| (format!("{end}_{name}"), value.to_string())));
        }
        pairs
    }

    pub fn wants(&self, task: &TaskSummary) -> bool {
        let names = format!("{} {}", task.task_id, task.repo);
        let ready = task.state == TaskState::Ready;
        has_words(&names, &self.search)
            && self.repo.as_ref().is_none_or(|repo| *repo == task.repo)
            && (self.licence.is_none() || self.licence == task.licence)
            && self.findings.is_none_or(|any| any == (task.findings > 0))
            && self.ready.is_none_or(|wanted| wanted == ready)
            && self
                .sizes
                .iter()
                .all(|(size, between)| size.of(task).is_some_and(|value| between.contains(value)))
    }
}

struct QueryParser<G> {
    get: G,
    unusable: Vec<Unusable>,
}

impl<G: Fn(&str) -> Option<String>> QueryParser<G> {
    fn value<T>(
        &mut self,
        name: &str,
        must: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = (self.get)(name).filter(|value| !value.trim().is_empty())?;
        let parsed = parse(value.trim());
        if parsed.is_none() {
            self.unusable.push(Unusable {
                name: name.to_owned(),
                value,
                must,
            });
        }
        parsed
    }

    fn between(&mut self, size: Size) -> Option<Between> {
        let mut end = |name: &str| {
            let name = format!("{name}_{}", size.name());
            let must = match size {
                Size::Score => "a number from -1",
                _ => "a number from 0",
            };
            self.value(&name, must, |text| {
                let number: f64 = text.parse().ok()?;
                (number.is_finite() && number >= size.least()).then_some(number)
            })
        };
        let (from, to) = (end("min"), end("max"));
        (from.is_some() || to.is_some()).then(|| Between {
            from: from.unwrap_or(f64::NEG_INFINITY),
            to: to.unwrap_or(f64::INFINITY),
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// The order of their split; by name without one.
    #[default]
    Listed,
    Smallest(Size),
    Largest(Size),
}

impl ListOrder {
    /// The name in URLs: empty, `gap`, `-gap`.
    pub fn name(self) -> String {
        match self {
            Self::Listed => String::new(),
            Self::Smallest(size) => size.name().to_owned(),
            Self::Largest(size) => format!("-{}", size.name()),
        }
    }

    /// The inverse of [`ListOrder::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        match name.strip_prefix('-') {
            _ if name.is_empty() => Some(Self::Listed),
            Some(name) => Size::from_name(name).map(Self::Largest),
            None => Size::from_name(name).map(Self::Smallest),
        }
    }

    /// Sorts tasks; unknown sizes come last, equal ones keep their order.
    pub fn sort(self, tasks: &mut [TaskSummary]) {
        let by = |size: Size, sign: f64| {
            let compare = move |a: f64, b: f64| (sign * a).total_cmp(&(sign * b));
            move |a: &TaskSummary, b: &TaskSummary| missing_last(size.of(a), size.of(b), compare)
        };
        match self {
            Self::Listed => {}
            Self::Smallest(size) => tasks.sort_by(by(size, 1.0)),
            Self::Largest(size) => tasks.sort_by(by(size, -1.0)),
        }
    }
}

/// The distribution of a size over tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Spread {
    pub size: Size,
    /// Number of tasks with a known size.
    pub tasks: u32,
    pub min: f64,
    pub mean: f64,
    pub median: f64,
    pub max: f64,
    pub bins: Vec<SpreadBin>,
}

/// A bin of tasks with similar size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SpreadBin {
    /// Inclusive.
    pub from: f64,
    /// Exclusive.
    pub to: f64,
    pub tasks: u32,
}

impl Spread {
    /// The distribution over these tasks; `None` when no size is known. Bins of
    /// shares are a fifth wide; others start at 0, 1, 2, 5, 10, 20, 50, …; empty
    /// bins at either end are omitted.
    pub fn of(size: Size, tasks: &[TaskSummary]) -> Option<Self> {
        let mut values: Vec<f64> = tasks.iter().filter_map(|task| size.of(task)).collect();
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let edges = match size.is_share() {
            // The last bin has 1 alone.
            true => (-5..=6).map(|fifth| f64::from(fifth) / 5.0).collect(),
            false => edges(max),
        };
        let bins = edges.windows(2).map(|edge| {
            let below = |limit| values.partition_point(|value| *value < limit);
            SpreadBin {
                from: edge[0],
                to: edge[1],
                tasks: count(below(edge[1]) - below(edge[0])),
            }
        });
        let mut bins: Vec<SpreadBin> = bins.skip_while(|bin| bin.tasks == 0).collect();
        let end = bins.iter().rposition(|bin| bin.tasks > 0);
        bins.truncate(end.map_or(0, |last| last + 1));
        Some(Self {
            size,
            tasks: count(values.len()),
            min,
            mean: values.iter().sum::<f64>() / values.len() as f64,
            median: median(&values)?,
            max,
            bins,
        })
    }
}

/// 0, 1, 2, 5, 10, … up to the first above `max`.
fn edges(max: f64) -> Vec<f64> {
    let mut edges = vec![0.0];
    let mut ten = 1.0;
    loop {
        for step in [1.0, 2.0, 5.0] {
            edges.push(step * ten);
            if step * ten > max {
                return edges;
            }
        }
        ten *= 10.0;
    }
}

#[cfg(test)]
mod tests;
