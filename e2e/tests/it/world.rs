//! A site full of results, and every address worth looking at.

use crate::product::Product;

pub const WORLD: &str = include_str!("world.sql");

/// Every column the leaderboard has.
pub const ALL_COLUMNS: &str = "evoscore,zero-regression,net-zero-regression,solved,zrr,turns,mi-wins,pylint-wins,generalisation,tokens,cost,tokens-per-task,cost-per-task,tokens-per-test,cost-per-test,agent-time,wall-time,findings,tasks,released,finished";

/// The id of a finished run of the world.
pub fn run(number: u32) -> String {
    format!("00000000-0000-7000-a000-{number:012}")
}

/// The run at work.
pub const LIVE: &str = "00000000-0000-7000-b000-000000000001";

/// The run whose agents asked a model and came to every kind of end.
pub const TRIAL: &str = "00000000-0000-7000-c000-000000000001";

/// Names and addresses.
pub type Pages = Vec<(&'static str, String)>;

/// A cheaper one on the same tasks.
const CHEAPER: &str = "00000000-0000-7000-c000-000000000002";

/// The page of an evolution of that run.
pub fn trial(task: &str) -> String {
    format!("/runs/{TRIAL}/tasks/task-{task}")
}

/// Every page of the world, and its states that look otherwise.
pub fn pages() -> Pages {
    let bramble = run(3);
    let compare = |runs: &[u32]| {
        let ids: Vec<String> = runs.iter().map(|n| run(*n)).collect();
        format!("/compare?runs={}", ids.join(","))
    };
    let task = "task-00-of-otter__parsing";
    vec![
        ("leaderboard", "/?split=field".into()),
        (
            "leaderboard-all",
            format!(
                "/?split=field&gamma=1.30&provider=Kiln&text=a&seen=exclude&kind=measured,imported&sort=-turns&columns={ALL_COLUMNS}"
            ),
        ),
        (
            "leaderboard-wide",
            format!("/?split=field&columns={ALL_COLUMNS}"),
        ),
        ("leaderboard-nothing", "/?split=field&text=nobody".into()),
        ("leaderboard-no-runs", "/?split=quiet".into()),
        ("figures", "/figures?split=field".into()),
        ("figures-no-runs", "/figures?split=quiet".into()),
        ("compare-choose", "/compare?split=field".into()),
        ("compare-too-few", "/compare?split=quiet".into()),
        ("compare-refused", format!("/compare?runs={}", run(1))),
        ("compare-two", compare(&[0, 1])),
        (
            "compare-task",
            compare(&[0, 1]).replacen("/compare", &format!("/compare/{task}"), 1),
        ),
        (
            "compare-four",
            format!("{}&task={task}", compare(&[0, 3, 6, 11])),
        ),
        (
            "compare-baseline",
            format!("{}&baseline={}", compare(&[0, 3, 6]), run(3)),
        ),
        ("matrix", "/matrix?split=field".into()),
        ("snapshots-none", "/snapshots".into()),
        ("handover-none", "/handover?split=field".into()),
        ("model", "/models/Albatross%204".into()),
        ("tasks", "/tasks?split=field".into()),
        (
            "tasks-narrowed",
            "/tasks?split=field&min_gap=5&state=ready&sort=-gap".into(),
        ),
        ("datasets", "/datasets".into()),
        ("dataset", "/datasets/field".into()),
        ("task", format!("/tasks/{task}")),
        ("task-unusable", "/tasks/broken".into()),
        ("runs", "/runs".into()),
        ("run", format!("/runs/{bramble}")),
        ("run-imported", format!("/runs/{}", run(9))),
        ("run-counts-only", format!("/runs/{}", run(12))),
        ("run-live", format!("/runs/{LIVE}")),
        (
            "run-cancelled",
            "/runs/00000000-0000-7000-b000-000000000003".into(),
        ),
        ("run-agents", format!("/runs/{TRIAL}")),
        ("trajectories", format!("/runs/{TRIAL}/trajectories")),
        (
            "trajectories-two",
            format!("/runs/{TRIAL}/trajectories?with={CHEAPER}"),
        ),
        (
            "trajectories-places",
            format!("/runs/{bramble}/trajectories?show=loss&name=lost"),
        ),
        ("judgements", format!("/runs/{TRIAL}/judgements")),
        (
            "judgements-chosen",
            format!("/runs/{TRIAL}/judgements?question=general%20solution&answer=unclear"),
        ),
        (
            "transcript-search",
            format!("/runs/{TRIAL}/search?q=needle"),
        ),
        (
            "leaderboard-cost",
            "/?split=trial&columns=evoscore,solved,tokens,cost,tasks&sort=cost".into(),
        ),
        ("compare-cost", format!("/compare?runs={TRIAL},{CHEAPER}")),
        ("model-cost", "/models/Juniper".into()),
        ("evolution", format!("/runs/{bramble}/tasks/{task}")),
        (
            "evolution-agents",
            trial("00-of-otter__parsing?iteration=1"),
        ),
        ("evolution-blocked", trial("01-of-heron__forms")),
        ("evolution-gave-up", trial("02-of-lynx__queues")),
        ("evolution-over-budget", trial("03-of-ibis__dates")),
        ("iteration-agents", format!("/runs/{TRIAL}/trial-1-04/5")),
        ("iteration", format!("/runs/{bramble}/field-03-00/2")),
        (
            "iteration-collapsed",
            format!("/runs/{}/field-06-00/4", run(6)),
        ),
        ("about", "/about".into()),
        ("api", "/api".into()),
        ("not-found", "/nothing/here".into()),
        ("run-not-found", "/runs/nobody".into()),
        ("task-not-found", "/tasks/nothing".into()),
        ("figure-not-found", "/embed/nothing".into()),
    ]
}

/// Each figure by itself.
pub fn embeds() -> Pages {
    const NAMES: [&str; 11] = [
        "evoscore-by-release",
        "rank-by-gamma",
        "zero-regression",
        "regression-correlation",
        "solved",
        "turns",
        "best-change",
        "zrr",
        "evoscore-gamma",
        "score-by-tokens",
        "score-by-budget",
    ];
    NAMES
        .map(|name| (name, format!("/embed/{name}?split=field")))
        .into()
}

/// Where nothing was imported yet.
pub fn empty_pages() -> Pages {
    vec![
        ("empty-leaderboard", "/".into()),
        ("empty-figures", "/figures".into()),
        ("empty-compare", "/compare".into()),
        ("empty-runs", "/runs".into()),
        ("empty-tasks", "/tasks".into()),
    ]
}

pub async fn world() -> Product {
    Product::showing(WORLD).await
}

pub async fn empty() -> Product {
    Product::showing("").await
}
