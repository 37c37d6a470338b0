//! The samples of a run: how probably some or all succeed, how much they
//! vary, and how many it takes to tell two runs apart.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::uncertainty::{DIFFERENCE, Interval, PowerPlan, PowerRow, ScoreSpread};
use swe_ci_views::leaderboard::{Passes, PassesOf, PowerPlans, Samples, Scores};

use crate::components::CollectAny;
use crate::components::{PlainTable, Term};
use crate::format;
use crate::glossary::Word;

/// Folded, because it is long; in the first convention that has scores.
#[component]
pub(super) fn SamplesOfRun(scores: RwSignal<Vec<Scores>>) -> impl IntoView {
    let first = Memo::new(move |_| {
        scores.with(|scores| {
            let first = scores.first()?;
            Some((first.convention, first.samples.clone()?))
        })
    });
    move || {
        first.get().map(|(convention, samples)| {
            view! {
                <details class="fold">
                    <summary>"Samples, and how many it takes"</summary>
                    <p class="quiet">
                        {taken(&samples)}
                        {format!(" In the {} convention. ", convention.name())}
                        <a href="/about#columns">"Definitions"</a>
                    </p>
                    <PassTable passes=samples.passes.clone()/>
                    <p class="quiet">{spread_in_words(samples.spread)}</p>
                    <PlanTable plans=samples.plans.clone()/>
                </details>
            }
        })
    }
}

/// "Each task has 3 samples."
fn taken(samples: &Samples) -> String {
    let most = format::count(samples.most, "sample");
    match samples.fewest == samples.most {
        true => format!("Each task has {most}."),
        false => format!("A task has {} to {most}.", samples.fewest),
    }
}

/// "EvoScore varies by 0.210 between repositories, …": standard deviations.
fn spread_in_words(spread: ScoreSpread) -> String {
    let by = |deviation: Option<f64>, origin: &str| {
        deviation.map(|d| format!("by {} between {origin}", format::decimals(d, 3)))
    };
    let known = [
        by(spread.repositories, "repositories"),
        by(spread.tasks, "tasks of one repository"),
        by(spread.samples, "samples of one task"),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let unknown = match spread.samples {
        Some(_) => "",
        None => " With one sample of each task nobody knows how much of that is chance.",
    };
    match known.is_empty() {
        true => "One task with one sample says nothing about the spread of EvoScore.".to_owned(),
        false => format!(
            "EvoScore varies {} (standard deviations).{unknown}",
            known.join(", ")
        ),
    }
}

/// Empty with one sample of each task: all its columns would be the rates.
#[component]
fn PassTable(passes: Vec<PassesOf>) -> impl IntoView {
    let head = |word, text| view! { <th scope="col" class="number"><Term word text/></th> };
    let heads = view! {
        <th scope="col" class="number">"k"</th>
        <th scope="col" class="number">"Tasks"</th>
        {head(Word::PassAt, "Solved, any")}
        {head(Word::PassHat, "Solved, all")}
        <th scope="col" class="number">"ZRR, any"</th>
        <th scope="col" class="number">"ZRR, all"</th>
    };
    let row = |of: &PassesOf| {
        view! {
            <tr>
                <th scope="row" class="number">{of.k}</th>
                <td class="number">{format::thousands(of.tasks)}</td>
                {cells(of.solved)}
                {cells(of.zrr)}
            </tr>
        }
    };
    let rows = passes.iter().map(row).collect_any();
    let caption = "At least one and all of k samples";
    (passes.len() > 1).then(|| {
        view! { <PlainTable class="profile" caption scrolls=caption heads=heads.into_any()>{rows}</PlainTable> }
    })
}

fn cells(passes: Passes) -> impl IntoView {
    let cell = |value: f64, interval: Option<Interval>| {
        let interval = interval.map(|interval| format::interval(interval, 2));
        view! { <td class="number">{format::share(value)}" "<small>{interval}</small></td> }
    };
    (
        cell(passes.any, passes.any_interval),
        cell(passes.all, passes.all_interval),
    )
}

#[component]
fn PlanTable(plans: PowerPlans) -> impl IntoView {
    let Some(worst) = plans.at_worst else {
        return Either::Left(view! {
            <p class="quiet">"All tasks are of one repository, so nothing says how many it takes to tell two runs apart."</p>
        });
    };
    let caption = "What tells two runs apart";
    let row = |row: &PowerRow| {
        let best = plans
            .at_best
            .as_ref()
            .and_then(|best| same_samples(best, row));
        let tasks = |row: &PowerRow| format::thousands(row.tasks_needed);
        let shown = |row: &PowerRow| format::decimals(row.detectable, 3);
        view! {
            <tr>
                <th scope="row" class="number">{row.samples}</th>
                <td class="number">{range(best.map(tasks), tasks(row))}</td>
                <td class="number">{range(best.map(shown), shown(row))}</td>
            </tr>
        }
    };
    let rows = worst.rows.iter().map(row).collect_any();
    let present = format::count(worst.tasks, "task");
    let heads = view! {
        <th scope="col" class="number">"Samples"</th>
        <th scope="col" class="number">{format!("Tasks for {}", format::share(DIFFERENCE))}</th>
        <th scope="col" class="number">{format!("{present} show")}</th>
    };
    let lead = format!(
        "To tell this run from another that varies as much, in four of five cases: the tasks that \
         show a difference of {}, with so many samples of each, and the smallest difference that \
         the present tasks show. The first number holds if both runs find the same tasks hard, the \
         last if nothing of one says anything about the other. ",
        format::share(DIFFERENCE)
    );
    Either::Right(view! {
        <p class="quiet">
            {lead}
            <a href="/compare">"A comparison"</a>
            " knows of two runs which."
        </p>
        <PlainTable class="profile" caption scrolls=caption heads=heads.into_any()>{rows}</PlainTable>
    })
}

fn same_samples<'a>(plan: &'a PowerPlan, row: &PowerRow) -> Option<&'a PowerRow> {
    plan.rows.iter().find(|other| other.samples == row.samples)
}

/// "12 to 230"; "at most 230" where the least is unknown.
fn range(least: Option<String>, most: String) -> String {
    match least {
        None => format!("at most {most}"),
        Some(least) if least == most => most,
        Some(least) => format!("{least} to {most}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words() {
        let check = |spread, expect: &str| assert_eq!(spread_in_words(spread), expect);
        let all = ScoreSpread {
            repositories: Some(0.21),
            tasks: Some(0.1),
            samples: Some(0.05),
        };
        check(
            all,
            "EvoScore varies by 0.210 between repositories, by 0.100 between tasks of one \
             repository, by 0.050 between samples of one task (standard deviations).",
        );
        let one = ScoreSpread {
            tasks: None,
            samples: None,
            ..all
        };
        check(
            one,
            "EvoScore varies by 0.210 between repositories (standard deviations). With one \
             sample of each task nobody knows how much of that is chance.",
        );
        let none = ScoreSpread::default();
        assert!(spread_in_words(none).starts_with("One task with one sample says"));
        assert_eq!(range(Some("2".into()), "9".into()), "2 to 9");
        assert_eq!(range(None, "9".into()), "at most 9");
    }
}
