//! How the task was prepared, and its known issues.

use std::collections::HashMap;

use leptos::prelude::*;
use swe_ci_core::audit::Coverage;
use swe_ci_core::text::visible;
use swe_ci_views::preparation::{HistoryPoint, Lines, Preparation, TaskFinding, Trial};
use swe_ci_views::view::TaskTest;

use crate::components::CollectAny;
use crate::components::{Meter, PlainTable, fact};
use crate::format;

#[component]
pub(super) fn Prepared(
    preparation: Preparation,
    gap: u32,
    target_passed: u32,
    contradictions: Option<Coverage>,
) -> impl IntoView {
    (!preparation.suite_seconds.is_empty()).then(|| {
        view! {
            <section aria-labelledby="prepared-title">
                <h2 id="prepared-title">"How it was prepared"</h2>
                <PreparationFacts preparation gap target_passed/>
                {contradictions.map(|coverage| view! { <Contradicted coverage/> })}
            </section>
        }
    })
}

/// How far an audit of the task's results reaches.
#[component]
fn Contradicted(coverage: Coverage) -> impl IntoView {
    let text = match coverage.reason {
        Some(why) => format!("No test can be contradicted: {}.", visible(&why)),
        None => format!(
            "{} of {} can be contradicted when results are audited, {} of them by another expected value.",
            coverage.contradicted,
            format::count(coverage.tests as usize, "test"),
            coverage.strongly
        ),
    };
    let hidden = (coverage.tests - coverage.contradicted) as usize - coverage.without.len();
    let more = format!("and {}", format::count(hidden, "other"));
    let without = coverage.without.iter().map(|uncovered| {
        let (test, why) = (uncovered.test.clone(), visible(&uncovered.why).into_owned());
        view! { <li><code>{test}</code>": "{why}</li> }
    });
    let without = without.collect_any();
    let listed = (!coverage.without.is_empty()).then(|| {
        view! {
            <details>
                <summary>"Tests without a contradiction"</summary>
                <ul class="test-list">{without}{(hidden > 0).then(|| view! { <li>{more}</li> })}</ul>
            </details>
        }
    });
    let vacuous = coverage.vacuous.filter(|tests| *tests > 0).map(|tests| {
        let hidden = tests as usize - coverage.some_vacuous.len();
        let more = (hidden > 0).then(|| view! { <li>{format!("and {}", format::count(hidden, "other"))}</li> });
        let named = coverage.some_vacuous.into_iter().map(|test| view! { <li><code>{test}</code></li> });
        view! {
            <details>
                <summary>{format!("Tests that test nothing, for they pass with empty functions: {tests}")}</summary>
                <ul class="test-list">{named.collect_any()}{more}</ul>
            </details>
        }
    });
    view! { <p>{text}</p>{listed}{vacuous} }
}

/// The findings of a preparation, and its figures: how far to trust the task, and
/// how hard it is.
#[component]
pub(crate) fn PreparationFacts(
    preparation: Preparation,
    gap: u32,
    target_passed: u32,
) -> impl IntoView {
    let human = preparation.human_iterations(target_passed);
    let human = human.map(|(needed, of)| {
        fact(
            "The human baseline needs",
            format!("{needed} of {}", format::count(of, "iteration")),
        )
    });
    let without_code = preparation.gap_without_code.map(|tests| {
        fact(
            "Gap without code",
            format!(
                "{tests} of {} pass with empty source files",
                format::count(gap as usize, "test")
            ),
        )
    });
    let tried = |trial: Trial| {
        let runs = format::count(trial.runs as usize, "run");
        fact(
            trial.condition.text(),
            format!("{runs}, {}", trial.result()),
        )
    };
    let trials = preparation.trials.into_iter().map(tried).collect_any();
    let runs = preparation.suite_seconds;
    let times: Vec<String> = runs.iter().copied().map(format::seconds).collect();
    let lines = preparation.lines.map(|lines| {
        [
            changed("Source lines", lines.source),
            changed("Test lines", lines.tests),
            changed("Other lines", lines.other),
        ]
        .collect_any()
    });
    let licence = preparation.licence.map(|licence| fact("Licence", licence));
    let history =
        (!preparation.history.is_empty()).then(|| view! { <History points=preparation.history/> });
    let findings = preparation.findings;
    let found = match findings.is_empty() {
        true => "No known issues.",
        false => "",
    };
    let findings = findings
        .into_iter()
        .map(|finding| view! { <Found finding/> });
    view! {
            <p class="quiet">
                "Its suite ran "{format::count(runs.len(), "time")}
                " each on base and target. Tests that did not come out alike every time are not counted. "
                {found}
            </p>
            <ul class="found-list">{findings.collect_any()}</ul>
            <dl class="facts">
                <div><dt>"The suite took"</dt><dd>{times.join(", ")}</dd></div>
                <div><dt>"Found on the target"</dt><dd>{format::count(preparation.target_collected, "test")}</dd></div>
                <div><dt>"Found on the base"</dt><dd>{format::count(preparation.base_collected, "test")}</dd></div>
                {lines}
                {human}
                {without_code}
                {trials}
                {licence}
            </dl>
            {history}
    }
}

/// The real history, as the human baseline replays it.
#[component]
fn History(points: Vec<HistoryPoint>) -> impl IntoView {
    let row = |(at, point): (usize, HistoryPoint)| {
        let result = match point.problem {
            Some(problem) => problem,
            None => format::count(point.passed as usize, "test"),
        };
        let sha: String = point.sha.chars().take(7).collect();
        view! {
            <tr>
                <th scope="row">{at + 1}</th>
                <td><code>{sha}</code></td>
                <td>{point.commits}</td>
                <td>{result}</td>
                <td>{format::seconds(point.seconds)}</td>
            </tr>
        }
    };
    let heads = ["Chunk", "Commit", "Commits", "Result", "Suite"];
    let heads = heads.map(|head| view! { <th scope="col">{head}</th> });
    let heads = heads.collect_any().into_any();
    view! {
        <details>
            <summary>"Its real history, tested"</summary>
            <p class="quiet">"The code that the human baseline has after each iteration, and the tests that count and pass."</p>
            <PlainTable class="gap-files" caption="The code after each chunk of the real history" heads>
                {points.into_iter().enumerate().map(row).collect_any()}
            </PlainTable>
        </details>
    }
}

fn changed(label: &'static str, lines: Lines) -> impl IntoView {
    let files = format::count(lines.files, "file");
    let changed = format::added_deleted(lines.added, lines.deleted);
    fact(label, format!("{changed} in {files}"))
}

#[component]
fn Found(finding: TaskFinding) -> impl IntoView {
    let names = finding.tests().map(|tests| {
        let rest = (tests.count as usize).saturating_sub(tests.first.len());
        let more = format!("and {}", format::count(rest, "other"));
        let more = (rest > 0).then(|| view! { <li>{more}</li> });
        let name = |name: &String| view! { <li><code>{name.clone()}</code></li> };
        view! {
            <details>
                <summary>"Which"</summary>
                <ul class="test-list">{tests.first.iter().map(name).collect_any()}{more}</ul>
            </details>
        }
    });
    view! {
        <li>
            <strong>{format::capital(finding.title())}</strong>
            <p>{finding.text()}</p>
            {names}
        </li>
    }
}

/// More files are summed up in one line.
const MOST_FILES: usize = 12;

/// A file with its number of tests in the gap.
type Count = (String, u32);

/// The gap by test file, most tests first; then by name.
fn by_file(tests: &[TaskTest]) -> Vec<Count> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for test in tests.iter().filter(|test| test.base != "passed") {
        let file = test.node_id.split("::").next().unwrap_or(&test.node_id);
        *counts.entry(file).or_default() += 1;
    }
    let mut counts: Vec<Count> = counts.into_iter().map(|(f, n)| (f.to_owned(), n)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

#[component]
pub(super) fn GapByFile<'a>(tests: &'a [TaskTest]) -> impl IntoView + use<> {
    let counts = by_file(tests);
    let most = counts.first().map_or(0, |(_, n)| *n);
    let rest = counts.get(MOST_FILES..).unwrap_or_default();
    let rest_tests: u32 = rest.iter().map(|(_, n)| n).sum();
    let more = (!rest.is_empty()).then(|| {
        let files = format::count(rest.len(), "more file");
        let tests = format::count(rest_tests, "test");
        view! { <p class="quiet">{format!("And {files} with {tests}.")}</p> }
    });
    let row = |(file, n): Count| {
        view! {
            <tr>
                <th scope="row"><code>{file.clone()}</code></th>
                <td class="number">{format::thousands(n)}</td>
                <td class="gap-bar"><Meter value=n most label=format!("Tests of the gap in {file}")/></td>
            </tr>
        }
    };
    (most > 0).then(|| {
        let rows = counts.into_iter().take(MOST_FILES).map(row).collect_any();
        let heads = view! { <th scope="col">"File"</th><th scope="col" class="number">"Tests"</th><td></td> };
        let heads = heads.into_any();
        view! {
            <section aria-labelledby="gap-title">
                <h2 id="gap-title">"The gap by test file"</h2>
                <p class="quiet">"Tests the target passes and the base does not."</p>
                <PlainTable class="gap-files" caption="The gap by test file" heads>{rows}</PlainTable>
                {more}
            </section>
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_by_file() {
        let check = |tests: &[(&str, &str)], expect: &[(&str, u32)]| {
            let test = |(node_id, base): &(&str, &str)| TaskTest {
                node_id: (*node_id).into(),
                base: (*base).into(),
            };
            let tests: Vec<TaskTest> = tests.iter().map(test).collect();
            let found = by_file(&tests);
            let found: Vec<(&str, u32)> = found.iter().map(|(f, n)| (f.as_str(), *n)).collect();
            assert_eq!(found, expect);
        };
        check(&[], &[]);
        check(&[("a.py::x", "passed")], &[]);
        check(
            &[
                ("b.py::T::x[::]", "failed"),
                ("c.py::x", "missing"),
                ("c.py::y", "error"),
                ("a.py::x", "skipped"),
                ("a.py::y", "passed"),
            ],
            &[("c.py", 2), ("a.py", 1), ("b.py", 1)],
        );
        check(&[("no-file", "failed")], &[("no-file", 1)]);
    }
}
