use super::*;
use crate::counted;
use crate::task_results::{RunOnTask, TaskInResults};
use std::collections::BTreeSet;
use swe_ci_core::metrics::Convention;
use swe_ci_core::task::TaskId;

fn task(name: &str, gap: u32, lines: Option<u32>) -> TaskSummary {
    TaskSummary {
        task_id: TaskId::new(name).unwrap(),
        repo: format!("acme/{}", name.split('-').next().unwrap()),
        base_sha: String::new(),
        target_sha: String::new(),
        state: TaskState::Ready,
        base_passed: 10,
        target_passed: 10 + gap,
        gap,
        commits: 3,
        span_days: 12.5,
        suite_seconds: 1.0,
        modified_lines: lines,
        licence: Some("MIT".into()),
        findings: 0,
        left_away: BTreeSet::new(),
        from_results: false,
        difficulty: None,
        contradicted: None,
    }
}

/// A task that results alone tell of.
fn found(name: &str, solved_by: u32, evoscore: f64) -> TaskSummary {
    let run = RunOnTask {
        run_id: "r".into(),
        model: "m".into(),
        evoscore,
    };
    let mut task = TaskSummary {
        target_passed: 0,
        ..task(name, 0, None)
    };
    task.add_results(&TaskInResults {
        base_passed: 7,
        target_passed: 12,
        gap: 5,
        difficulty: Some(Difficulty {
            convention: Convention::Paper,
            runs: 4,
            solved_by,
            evoscore,
            best: run.clone(),
            worst: run,
        }),
    });
    task
}

#[test]
fn results_fill_what_was_not_counted_here() {
    let task = found("a-1", 3, 0.5);
    assert!(task.has_counts() && !task.is_prepared());
    assert_eq!((task.base_passed, task.target_passed, task.gap), (7, 12, 5));
    let known = Size::ALL.map(|size| size.of(&task));
    let expect = [
        Some(5.0),
        Some(12.0),
        None,
        None,
        None,
        None,
        Some(0.75),
        Some(0.5),
        None,
    ];
    assert_eq!(known, expect);
    let mut counted = self::task("a-1", 9, None);
    counted.add_results(&TaskInResults::default());
    assert!(counted.gap == 9 && counted.is_prepared() && counted.difficulty.is_none());
}

#[test]
fn shares_have_bins_of_a_fifth() {
    let tasks = [
        found("a-1", 4, -0.3),
        found("b-1", 3, 0.1),
        found("c-1", 0, 1.0),
    ];
    let bins = |size: Size| {
        let spread = Spread::of(size, &tasks).unwrap();
        let bins = spread.bins.iter().filter(|bin| bin.tasks > 0);
        bins.map(|bin| (bin.from, bin.to, bin.tasks))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        bins(Size::Solved),
        [(0.0, 0.2, 1), (0.6, 0.8, 1), (1.0, 1.2, 1)]
    );
    assert_eq!(
        bins(Size::Score),
        [(-0.4, -0.2, 1), (0.0, 0.2, 1), (1.0, 1.2, 1)]
    );
}

#[test]
fn every_condition_of_a_filter_must_hold() {
    let check = |filter: TaskFilter, expect| {
        assert_eq!(filter.wants(&task("lib-1", 7, None)), expect, "{filter:?}");
    };
    let none = TaskFilter::default;
    let sized = |size, from, to| TaskFilter {
        sizes: [(size, Between { from, to })].into(),
        ..none()
    };
    check(none(), true);
    let search = |text: &str| TaskFilter {
        search: text.into(),
        ..none()
    };
    check(search("LIB acme"), true);
    check(search("lib other"), false);
    check(sized(Size::Gap, 7.0, 7.0), true);
    check(sized(Size::Gap, 8.0, f64::INFINITY), false);
    check(sized(Size::Lines, 0.0, f64::INFINITY), false);
    let with = |change: fn(&mut TaskFilter)| {
        let mut filter = none();
        change(&mut filter);
        filter
    };
    check(with(|f| f.repo = Some("acme/lib".into())), true);
    check(with(|f| f.repo = Some("acme".into())), false);
    check(with(|f| f.licence = Some("ISC".into())), false);
    check(with(|f| f.findings = Some(true)), false);
    check(with(|f| f.findings = Some(false)), true);
    check(with(|f| f.ready = Some(false)), false);
}

#[test]
fn queries_round_trip() {
    let check = |query: &str, expect: &str, wrong: &str| {
        let pairs: Vec<(&str, &str)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .collect();
        let get = |name: &str| {
            let pair = pairs.iter().find(|(known, _)| *known == name);
            pair.map(|(_, value)| (*value).to_owned())
        };
        let (filter, unusable) = TaskFilter::read(get);
        let params: Vec<String> = filter
            .pairs()
            .iter()
            .map(|(n, v)| format!("{n}={v}"))
            .collect();
        assert_eq!(params.join("&"), expect);
        let names: Vec<&str> = unusable.iter().map(|u| u.name.as_str()).collect();
        assert_eq!(names.join(" "), wrong, "{query}");
    };
    check("", "", "");
    check("q=&min_gap=&state=", "", "");
    let all =
        "q=a b&repo=o/r&licence=MIT&findings=none&state=ready&min_gap=5&max_gap=10&max_days=2.5";
    check(all, all, "");
    let scored = "min_solved=0.5&max_solved=1&min_score=-0.5";
    check(scored, scored, "");
    check("min_score=-2&min_solved=-1", "", "min_solved min_score");
    check(
        "min_gap=-1&max_gap=x&min_tests=inf&state=on&findings=1",
        "",
        "findings state min_gap max_gap min_tests",
    );
    check("min_gap=5&max_gap=?", "min_gap=5", "max_gap");
}

#[test]
fn orders_have_names_and_put_unknown_sizes_last() {
    let check = |name: &str, expect: &str| {
        let mut tasks = vec![
            task("b-1", 5, None),
            task("a-1", 9, Some(3)),
            task("c-1", 5, Some(8)),
        ];
        let order = ListOrder::from_name(name).unwrap();
        assert_eq!(order.name(), name);
        order.sort(&mut tasks);
        let names: Vec<&str> = tasks.iter().map(|t| t.task_id.as_str()).collect();
        assert_eq!(names.join(" "), expect, "{name}");
    };
    check("", "b-1 a-1 c-1");
    check("gap", "b-1 c-1 a-1");
    check("-gap", "a-1 b-1 c-1");
    check("lines", "a-1 c-1 b-1");
    check("-lines", "c-1 a-1 b-1");
    assert_eq!(ListOrder::from_name("-"), None);
    assert_eq!(ListOrder::from_name("size"), None);
}

#[test]
fn spreads_have_bins_by_magnitude() {
    let gaps = |gaps: &[u32]| {
        let tasks: Vec<TaskSummary> = gaps.iter().map(|gap| task("a-1", *gap, None)).collect();
        Spread::of(Size::Gap, &tasks)
    };
    let spread = gaps(&[5, 60, 35, 14]).unwrap();
    assert_eq!((spread.min, spread.median, spread.max), (5.0, 24.5, 60.0));
    assert_eq!((spread.mean, spread.tasks), (28.5, 4));
    let bins: Vec<(f64, u32)> = spread.bins.iter().map(|b| (b.from, b.tasks)).collect();
    assert_eq!(bins, [(5.0, 1), (10.0, 1), (20.0, 1), (50.0, 1)]);
    assert_eq!(spread.bins[3].to, 100.0);
    assert_eq!(gaps(&[0]).unwrap().bins.len(), 1);
    assert_eq!(gaps(&[0, 1]).unwrap().bins.len(), 2);
    assert_eq!(gaps(&[]), None);
    assert_eq!(Spread::of(Size::Lines, &[task("a-1", 1, None)]), None);
}

#[test]
fn the_most_common_comes_first() {
    let counts = counted(["b", "a", "c", "c"]);
    let counts: Vec<(&str, u32)> = counts.iter().map(|(n, c)| (n.as_str(), *c)).collect();
    assert_eq!(counts, [("c", 2), ("a", 1), ("b", 1)]);
}
