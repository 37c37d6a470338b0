//! The addresses of the pages and the names in their queries. Pages link to
//! each other through this file, so that none has to import another.

use leptos_router::params::ParamsMap;
use swe_ci_core::metrics::Convention;
use swe_ci_core::step::Role;
use swe_ci_core::test_history::Wanted;
use swe_ci_core::text::visible;
use swe_ci_views::browse::{Between, Size, TaskFilter};
use swe_ci_views::leaderboard::Snapshot;
use swe_ci_views::trajectories::Selection;
use swe_ci_views::view::EvolutionDetail;

use crate::query::{Query, encode, named};

/// The query parameter for the layout of changed code, and its values.
pub(super) const DIFF: &str = "diff";
pub(super) const SPLIT: &str = "split";
const UNIFIED: &str = "unified";

/// Anchors of the page of an evolution: the selected iteration, the tests.
pub(super) const ITERATION: &str = "iteration";
pub(super) const TESTS: &str = "tests";

/// Anchor of the findings on the page of a run.
pub(super) const FINDINGS: &str = "findings";

/// Anchor of the places behind a number of a run's trajectories.
pub(super) const PLACES: &str = "places";

/// Anchor of the comparison's chart of one task.
pub(super) const COURSE: &str = "course";

/// Node ids that people search for are no longer than this.
const LONGEST_TEXT: usize = 200;

pub(super) fn run_href(run: &str) -> String {
    format!("/runs/{}", encode(run))
}

pub(super) fn task_href(task: &str) -> String {
    format!("/tasks/{}", encode(task))
}

/// The tasks of a split.
pub(super) fn tasks_href(split: &str) -> String {
    format!("/tasks?split={}", encode(split))
}

/// The tasks whose size lies in a range.
pub(super) fn tasks_between(split: Option<&str>, (size, from, to): (Size, f64, f64)) -> String {
    let mut filter = TaskFilter::default();
    filter.sizes.insert(size, Between { from, to });
    let mut query = Query::default();
    query.add("split", split);
    for (name, value) in filter.pairs() {
        query.add(&name, Some(value));
    }
    query.at("/tasks")
}

pub(super) fn dataset_href(split: &str) -> String {
    format!("/datasets/{}", encode(split))
}

pub(super) fn curation_href(curation: &str) -> String {
    format!("/datasets/curations/{}", encode(curation))
}

/// The form for a new plan, filled with that of a curation.
pub(super) fn curate_href(curation: &str) -> String {
    Query::default()
        .with("from", Some(curation))
        .at("/datasets/new")
}

pub(super) fn model_href(model: &str, convention: Convention) -> String {
    let mut query = Query::default();
    query.add_convention(convention);
    query.at(&format!("/models/{}", encode(model)))
}

pub(super) fn matrix_href(split: Option<&str>) -> String {
    Query::default().with("split", split).at("/matrix")
}

/// The content of a snapshot in the API.
pub(super) fn snapshot_content_href(snapshot: &Snapshot) -> String {
    let query = Query::default().with("split", Some(&snapshot.split));
    query.at(&format!("/api/v1/snapshots/{}/content", snapshot.day))
}

/// The handovers of a split.
pub(super) fn handover_href(split: &str) -> String {
    Query::default().with("split", Some(split)).at("/handover")
}

/// The page that chooses runs of a split to compare.
pub(super) fn compare_href(split: &str, snapshot: Option<&str>) -> String {
    let query = Query::default().with("split", Some(split));
    query.with("snapshot", snapshot).at("/compare")
}

/// The page that chooses the runs to compare this one with.
pub(super) fn compare_with_href(run: &str) -> String {
    format!("/compare?with={}", encode(run))
}

pub(super) fn iteration_href(run: &str, evolution: &str, iteration: u32) -> String {
    format!("/runs/{run}/{evolution}/{iteration}")
}

/// Anchor of a changed file on the page of an iteration.
pub(super) fn file_id(path: &str) -> String {
    // An id has no spaces.
    let path = visible(path).replace('_', "__");
    format!("file-{}", path.replace(char::is_whitespace, "_-"))
}

/// That anchor as an address.
pub(super) fn file_href(path: &str) -> String {
    format!("#{}", encode(&file_id(path)))
}

/// The transcript of one attempt at a step.
pub(super) fn conversation_href(
    run: &str,
    evolution: &str,
    iteration: u32,
    role: Role,
    attempt: u32,
) -> String {
    let path = conversation_path(run, evolution, iteration, role);
    format!("{path}?attempt={attempt}")
}

pub(super) fn conversation_path(run: &str, evolution: &str, iteration: u32, role: Role) -> String {
    let iteration = iteration_href(run, evolution, iteration);
    format!("{iteration}/{}", role.name())
}

/// The value of `only=` that leaves out places without a marked part.
pub(super) const ONLY_MARKED: &str = "marked";

/// How the agents of a run worked, beside another run if there is one, with the
/// places behind a number from this position on.
pub(super) fn trajectories_href(
    run: &str,
    with: Option<&str>,
    selection: Option<&Selection>,
    from: usize,
) -> String {
    let mut query = Query::default();
    query.add("with", with);
    let Some(selection) = selection else {
        return query.at(&format!("{}/trajectories", run_href(run)));
    };
    query.add("show", Some(selection.subject.name()));
    query.add("name", Some(&selection.name));
    query.add("only", selection.marked.then_some(ONLY_MARKED));
    query.add("from", (from > 0).then(|| from.to_string()));
    query.at(&format!("{}/trajectories", run_href(run))) + "#" + PLACES
}

/// The judgements of a run by models.
pub(super) fn judgements_href(run: &str) -> String {
    format!("{}/judgements", run_href(run))
}

/// The search in all transcripts of a run.
pub(super) fn search_href(run: &str, q: &str, from: u32) -> String {
    let mut query = Query::default();
    query.add("q", (!q.is_empty()).then_some(q));
    query.add("from", (from > 0).then(|| from.to_string()));
    query.at(&format!("{}/search", run_href(run)))
}

pub(super) fn evolution_href(run: &str, task: &str, sample: u32) -> String {
    EvolutionAddress::new(run, task, sample).href(&EvolutionQuery::default())
}

/// The page of an evolution, filtered to one test.
pub(super) fn test_href(run: &str, task: &str, sample: u32, node_id: &str) -> String {
    EvolutionAddress::new(run, task, sample).test(&EvolutionQuery::default(), node_id)
}

/// The code style of an evolution; side by side is the default.
pub(super) fn style_href(address: &EvolutionAddress, unified: bool) -> String {
    Query::default()
        .with("sample", address.sample_if_several())
        .with(DIFF, unified.then_some(UNIFIED))
        .at(&format!("{}/style", address.path()))
}

/// Identifies an evolution in an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvolutionAddress {
    pub run: String,
    pub task: String,
    /// From 1, which is also the default for anything that is not a number.
    pub sample: u32,
}

impl EvolutionAddress {
    pub(super) fn new(run: &str, task: &str, sample: u32) -> Self {
        Self {
            run: run.to_owned(),
            task: task.to_owned(),
            sample,
        }
    }

    pub(super) fn of(params: &ParamsMap, query: &ParamsMap) -> Self {
        let sample = query.get_str("sample").and_then(|n| n.parse().ok());
        Self {
            run: params.get("id").unwrap_or_default(),
            task: params.get("task").unwrap_or_default(),
            sample: sample.unwrap_or(1),
        }
    }

    pub(super) fn of_detail(detail: &EvolutionDetail) -> Self {
        let view = &detail.view;
        Self::new(&detail.run_id, view.task_id.as_str(), view.sample)
    }

    pub(super) fn path(&self) -> String {
        format!("/runs/{}/tasks/{}", encode(&self.run), encode(&self.task))
    }

    /// The page with this query, without defaults.
    pub(super) fn href(&self, selected: &EvolutionQuery) -> String {
        Query::of(self.fields(selected)).at(&self.path())
    }

    /// The fields of the page's query, without defaults.
    pub(super) fn fields(&self, selected: &EvolutionQuery) -> Vec<(&'static str, String)> {
        let wanted = selected.wanted;
        let text = Some(selected.text.clone());
        let fields = [
            ("sample", self.sample_if_several()),
            (
                "show",
                (wanted != usual(&selected.text)).then(|| wanted.name().to_owned()),
            ),
            ("q", text.filter(|text| !text.is_empty())),
            ("iteration", selected.iteration.map(|n| n.to_string())),
            (
                "from",
                (selected.from > 0).then(|| selected.from.to_string()),
            ),
            (DIFF, selected.split.then(|| SPLIT.to_owned())),
        ];
        let fields = fields.into_iter();
        fields
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The page with an iteration selected, scrolled to it.
    pub(super) fn at_iteration(&self, query: &EvolutionQuery, iteration: u32) -> String {
        let query = EvolutionQuery {
            iteration: Some(iteration),
            ..query.clone()
        };
        format!("{}#{ITERATION}", self.href(&query))
    }

    /// The page filtered to one test, scrolled to the tests.
    pub(super) fn test(&self, query: &EvolutionQuery, node_id: &str) -> String {
        let query = EvolutionQuery {
            wanted: Wanted::All,
            text: limited(node_id),
            ..query.clone()
        };
        format!("{}#{TESTS}", self.href(&query))
    }

    /// The same evolution in the API.
    pub(super) fn api(&self) -> String {
        let query = Query::default().with("sample", self.sample_if_several());
        query.at(&format!("/api/v1{}", self.path()))
    }

    /// The value of `sample=`; none for the first, the default.
    pub(super) fn sample_if_several(&self) -> Option<String> {
        (self.sample != 1).then(|| self.sample.to_string())
    }
}

/// The query of the page of an evolution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvolutionQuery {
    pub wanted: Wanted,
    /// Only tests whose node ids contain this text.
    pub text: String,
    pub iteration: Option<u32>,
    /// How many of the selected tests come before the shown ones.
    pub from: usize,
    /// Whether its changes are shown side by side.
    pub split: bool,
}

impl EvolutionQuery {
    pub(super) fn of(query: &ParamsMap) -> Self {
        let wanted = query.get_str("show").and_then(Wanted::from_name);
        let text = named(query, "q").unwrap_or_default();
        Self {
            wanted: wanted.unwrap_or_else(|| usual(&text)),
            text: limited(&text),
            iteration: query.get_str("iteration").and_then(|n| n.parse().ok()),
            from: query
                .get_str("from")
                .and_then(|n| n.parse().ok())
                .unwrap_or(0),
            split: query.get_str(DIFF) == Some(SPLIT),
        }
    }
}

/// The tests that are shown unless others are asked for: who looks for a name
/// looks in all of them.
fn usual(text: &str) -> Wanted {
    match text.is_empty() {
        true => Wanted::default(),
        false => Wanted::All,
    }
}

fn limited(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &str)]) -> ParamsMap {
        pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect()
    }

    #[test]
    fn names_are_one_part_of_the_address() {
        assert_eq!(model_href("a/b c", Convention::Paper), "/models/a%2Fb%20c");
        assert_eq!(
            model_href("m", Convention::Reference),
            "/models/m?convention=reference"
        );
        assert_eq!(matrix_href(Some("demo")), "/matrix?split=demo");
        let between = tasks_between(Some("demo"), (Size::Gap, 5.0, 9.0));
        assert_eq!(between, "/tasks?split=demo&min_gap=5&max_gap=9");
    }

    #[test]
    fn the_query_of_an_evolution_round_trips() {
        let check = |query: &[(&'static str, &str)], expect: &str| {
            let query = map(query);
            let address = EvolutionAddress::of(&map(&[("id", "r"), ("task", "t-1")]), &query);
            assert_eq!(address.href(&EvolutionQuery::of(&query)), expect);
        };
        check(&[], "/runs/r/tasks/t-1");
        check(
            &[
                ("iteration", "3"),
                ("sample", "2"),
                ("show", "never"),
                ("q", "a b::[c]"),
                ("diff", "split"),
            ],
            "/runs/r/tasks/t-1?sample=2&show=never&q=a%20b%3A%3A%5Bc%5D&iteration=3&diff=split",
        );
        // Values that cannot be parsed count as absent.
        check(
            &[
                ("sample", "x"),
                ("show", "x"),
                ("q", ""),
                ("iteration", "-1"),
                ("diff", "x"),
            ],
            "/runs/r/tasks/t-1",
        );
        check(
            &[("sample", "-1"), ("show", "changed")],
            "/runs/r/tasks/t-1",
        );
        check(
            &[("show", "all"), ("from", "200")],
            "/runs/r/tasks/t-1?show=all&from=200",
        );
    }

    #[test]
    fn anchors_in_the_page_of_an_evolution() {
        let query = map(&[("show", "regressed"), ("iteration", "1")]);
        let address = EvolutionAddress::of(&map(&[("id", "r"), ("task", "t")]), &query);
        let query = EvolutionQuery::of(&query);
        assert_eq!(
            address.at_iteration(&query, 2),
            "/runs/r/tasks/t?show=regressed&iteration=2#iteration"
        );
        assert_eq!(
            address.test(&query, "a.py::b"),
            "/runs/r/tasks/t?q=a.py%3A%3Ab&iteration=1#tests"
        );
    }

    #[test]
    fn the_text_filter_has_a_limit() {
        let long = "ä".repeat(5_000);
        let query = EvolutionQuery::of(&map(&[("q", &long)]));
        assert_eq!(query.text.chars().count(), LONGEST_TEXT);
    }
}
