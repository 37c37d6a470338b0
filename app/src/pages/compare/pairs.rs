use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::uncertainty::{Comparison, Interval};
use swe_ci_views::leaderboard::{GateReport, Pair, Versus, in_words, probability};

use super::names::{Letter, Name};
use super::query::CompareQuery;
use crate::components::CollectAny;
use crate::components::{Choice, Choices, Tag, Term, Tone};
use crate::format;
use crate::glossary::Word;
use crate::pages::plan_words::plan_in_words;
use crate::query::Query;

/// The difference of each pair on one scale: a forest plot.
#[component]
pub(super) fn Pairs(
    pairs: Vec<Pair>,
    gates: Vec<GateReport>,
    names: Vec<Name>,
    #[prop(into)] query: Signal<CompareQuery>,
) -> impl IntoView {
    let only = Memo::new(move |_| query.with(|a| a.only_significant));
    let several = pairs.len() > 1;
    let all = pairs.len();
    let apart = pairs.iter().filter(|p| !p.comparison.is_tie()).count();
    let choices = choices(all, apart, query);
    let pairs = StoredValue::new(pairs);
    let names = StoredValue::new(names);
    let gates = StoredValue::new(gates);
    let list = move || {
        let wanted = |pair: &&Pair| !(only.get() && pair.comparison.is_tie());
        let shown: Vec<Pair> = pairs.with_value(|p| p.iter().filter(wanted).cloned().collect());
        if shown.is_empty() {
            return Either::Left(view! {
                <p class="quiet">"No pair differs significantly."</p>
            });
        }
        let most = scale(&shown);
        let item = |pair: Pair| {
            names.with_value(|n| view! { <PairItem pair names=n.clone() gates most/> })
        };
        let end = format::decimals(most, 1);
        Either::Right(view! {
            <p class="forest-axis" aria-hidden="true">
                <span>{format!("\u{2212}{end} · second ahead")}</span>
                <span>"0"</span>
                <span>{format!("first ahead · {end}")}</span>
            </p>
            <ol class="pairs">{shown.into_iter().map(item).collect_any()}</ol>
        })
    };
    view! {
        <section aria-labelledby="pairs-title">
            <h2 id="pairs-title">{if several { "Pair by pair" } else { "Which is ahead" }}</h2>
            <p class="quiet">
                "Differences of EvoScore, task by task, on the tasks all runs share, each with its "<Term word=Word::Interval/>". "
                <a href="/about#certainty">"How sure is that?"</a>
            </p>
            {several.then(|| view! { <div class="controls controls-plain"><Choices label="Show" choices/></div> })}
            {list}
            {(all > 5).then(|| view! { <p class="footnote">{many(all)}</p> })}
        </section>
    }
}

/// With many pairs, some differ by chance alone.
fn many(pairs: usize) -> String {
    format!("{pairs} pairs are many: of 20 equal pairs, about one looks different by chance.")
}

fn choices(all: usize, apart: usize, query: Signal<CompareQuery>) -> Vec<Choice> {
    let choice = |label: String, hint, only_significant| {
        let href = move || {
            let mut query = query.get();
            query.only_significant = only_significant;
            query.href()
        };
        let chosen = move || query.with(|query| query.only_significant == only_significant);
        Choice::new(label, hint, href, chosen)
    };
    let significant = format!("significant · {apart}");
    vec![
        choice(format!("all · {all}"), "Every pair", false),
        choice(
            significant,
            "Pairs with p below 0.05, whose interval leaves 0 out",
            true,
        ),
    ]
}

/// A row of the forest plot.
#[component]
fn PairItem(
    pair: Pair,
    names: Vec<Name>,
    gates: StoredValue<Vec<GateReport>>,
    most: f64,
) -> impl IntoView {
    let name = |at: u32| names.get(at as usize).cloned();
    let (Some(first), Some(second)) = (name(pair.first), name(pair.second)) else {
        return Either::Left(());
    };
    let comparison = pair.comparison;
    let plan = pair
        .plan
        .map(|plan| view! { <p class="quiet pair-plan">{plan_in_words(&plan)}</p> });
    let gate = gates.with_value(|gates| {
        let of_run = |gate: &&GateReport| gate.candidate.run_id == first.run_id;
        gates.iter().find(of_run).map(gate_words)
    });
    let (text, tone) = standing(&comparison);
    let tasks = |n| format::count(n, "task");
    Either::Right(view! {
        <li class="pair">
            <p class="pair-head">
                <span class="pair-run"><Letter letter=first.letter series=first.series/>{first.model}</span>
                <span class="pair-against">"against"</span>
                <span class="pair-run"><Letter letter=second.letter series=second.series/>{second.model}</span>
                <Tag text=text.to_owned() tone/>
            </p>
            <Difference comparison most/>
            <div class="pair-figures">
                <p>{figures(&comparison)}</p>
                <p class="quiet">
                    {format!(
                        "{} ahead on {}, even on {}, {} ahead on {}",
                        first.letter,
                        tasks(comparison.wins),
                        format::thousands(comparison.ties),
                        second.letter,
                        tasks(comparison.losses),
                    )}
                </p>
            </div>
            {plan}
            {gate}
        </li>
    })
}

/// "Gate: open. …" with the default rules, and where it can be had with others.
fn gate_words(gate: &GateReport) -> impl IntoView + use<> {
    let mut query = Query::default();
    query.add("baseline", Some(&*gate.baseline.run_id));
    query.add("candidate", Some(&*gate.candidate.run_id));
    query.add_gamma(gate.gamma);
    query.add_convention(gate.convention);
    let href = query.at("/api/v1/gate.md");
    let words = format!("Gate: {}. {} ", gate.decision.name(), gate.reason);
    view! { <p class="quiet pair-plan">{words}<a href=href>"The gate in full"</a></p> }
}

/// "+0.19 [0.19, 0.20], p = 0.012": the first run's score minus the second's.
fn figures(comparison: &Comparison) -> String {
    let difference = format::signed(comparison.difference, 2);
    match comparison.interval {
        None => format!(
            "{difference}, of few repositories, {}",
            probability(comparison.p_value)
        ),
        Some(interval) => {
            let interval = unbroken(&format::interval(interval, 2));
            format!(
                "{difference} {interval}, {}",
                probability(comparison.p_value)
            )
        }
    }
}

/// The difference with its interval on a scale from −`most` to `most`.
#[component]
fn Difference(comparison: Comparison, most: f64) -> impl IntoView {
    let at = move |value: f64| format!("{:.2}%", 50.0 + value / most * 50.0);
    let interval = comparison.interval.map(|Interval { low, high }| {
        let width = format!("{:.2}%", (high - low) / most * 50.0);
        view! { <rect class="forest-interval" x=at(low) width=width y="9" height="2"/> }
    });
    let decided = !comparison.is_tie();
    view! {
        <svg class="forest" width="100%" height="20" aria-hidden="true" focusable="false">
            <line class="forest-zero" x1="50%" x2="50%" y1="0" y2="20"/>
            {interval}
            <circle class="forest-mark" class:forest-open=!decided cx=at(comparison.difference) cy="10" r="5"/>
        </svg>
    }
}

/// The end of a scale with room for all differences and intervals: 0.1 or more.
fn scale(pairs: &[Pair]) -> f64 {
    let ends = pairs.iter().flat_map(|pair| {
        let Comparison {
            difference,
            interval,
            ..
        } = pair.comparison;
        let interval = interval.map(|Interval { low, high }| [low, high]);
        interval.into_iter().flatten().chain([difference])
    });
    let most = ends.fold(0.1, |most: f64, end| most.max(end.abs()));
    (most * 10.0).ceil() / 10.0
}

/// Every pair, or those with the baseline, each of another run against it.
pub(super) fn pairs_of(versus: &Versus, baseline: Option<usize>) -> Vec<Pair> {
    let Some(baseline) = baseline else {
        return versus.pairs.clone();
    };
    let baseline = u32::try_from(baseline).unwrap_or(u32::MAX);
    let pairs = versus.pairs.iter();
    pairs.filter_map(|pair| pair.against(baseline)).collect()
}

/// The answer in a sentence: of two runs, how far one is ahead; of more, which
/// is ahead of all others, or how many are ahead of the baseline.
pub(super) fn verdict(pairs: &[Pair], names: &[Name], baseline: Option<usize>) -> String {
    let name = |at: u32| {
        names
            .get(at as usize)
            .map(Name::in_words)
            .unwrap_or_default()
    };
    if let [pair] = pairs {
        let sentence = in_words(&pair.comparison, &name(pair.first), &name(pair.second));
        return unbroken(&sentence);
    }
    let decided: Vec<&Pair> = pairs
        .iter()
        .filter(|pair| !pair.comparison.is_tie())
        .collect();
    if let Some(baseline) = baseline.and_then(|at| names.get(at)) {
        let ahead = decided.iter().filter(|it| it.comparison.difference > 0.0);
        let ahead = ahead.count();
        return format!(
            "Of {}, {} significantly ahead of the baseline {}, and {} behind it.",
            format::count(pairs.len(), "run"),
            are(ahead),
            baseline.in_words(),
            are(decided.len() - ahead)
        );
    }
    let wins = |run: u32| {
        let won = |pair: &&&Pair| match pair.comparison.difference > 0.0 {
            true => pair.first == run,
            false => pair.second == run,
        };
        decided.iter().filter(won).count()
    };
    let runs = 0u32..;
    let leader = runs
        .zip(names)
        .find(|(run, _)| wins(*run) + 1 == names.len());
    match (leader, decided.len()) {
        (Some((run, _)), _) => format!("{} is significantly ahead of all others.", name(run)),
        (None, 0) => "No run is significantly ahead of another.".to_owned(),
        (None, apart) => format!(
            "No run is significantly ahead of all others; {apart} of {} differ significantly.",
            format::count(pairs.len(), "pair")
        ),
    }
}

fn are(count: usize) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{count} {verb}")
}

/// Whether the data tells two runs apart: on the leaderboard, neighbours that it
/// does not tell apart are tied.
fn standing(comparison: &Comparison) -> (&'static str, Tone) {
    match comparison.is_tie() {
        true => ("not significant", Tone::Plain),
        false => ("significant", Tone::Accent),
    }
}

/// Keeps figures in brackets on one line.
fn unbroken(sentence: &str) -> String {
    let mut depth = 0_i32;
    let keep = |c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ' ' if depth > 0 => return '\u{a0}',
            _ => {}
        }
        c
    };
    sentence.chars().map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: u32, second: u32, difference: f64, p_value: f64) -> Pair {
        Pair {
            first,
            second,
            comparison: Comparison {
                tasks: 40,
                repositories: 20,
                difference,
                interval: Some(Interval {
                    low: difference - 0.1,
                    high: difference + 0.1,
                }),
                p_value,
                wins: 20,
                ties: 0,
                losses: 20,
            },
            plan: None,
        }
    }

    fn names(models: &[&str]) -> Vec<Name> {
        let runs: Vec<(&str, &[f64])> = models.iter().map(|model| (*model, &[0.5][..])).collect();
        let rows = swe_ci_plots::fixture::leaderboard(&runs).rank(
            swe_ci_core::metrics::Gamma::ONE,
            swe_ci_core::metrics::Convention::Paper,
        );
        Name::all(&rows, &[1, 2, 3])
    }

    #[test]
    fn who_is_ahead() {
        let names = names(&["a", "b", "c"]);
        let check = |differences: [(f64, f64); 3], expect: &str| {
            let [ab, ac, bc] = differences;
            let pairs = [
                pair(0, 1, ab.0, ab.1),
                pair(0, 2, ac.0, ac.1),
                pair(1, 2, bc.0, bc.1),
            ];
            assert_eq!(verdict(&pairs, &names, None), expect);
        };
        check(
            [(0.3, 0.01), (0.4, 0.01), (0.0, 0.8)],
            "a is significantly ahead of all others.",
        );
        check(
            [(-0.3, 0.01), (0.0, 0.6), (0.4, 0.01)],
            "b is significantly ahead of all others.",
        );
        // An interval without 0 is not enough.
        check(
            [(0.3, 0.2), (0.4, 0.01), (0.0, 0.8)],
            "No run is significantly ahead of all others; 1 of 3 pairs differ significantly.",
        );
        check([(0.0, 0.9); 3], "No run is significantly ahead of another.");
        let two = verdict(&[pair(0, 1, 0.3, 0.01)], &names[..2], None);
        assert!(
            two.starts_with("a is ahead of b by 0.30 [0.20,\u{a0}0.40]"),
            "{two}"
        );
    }

    #[test]
    fn how_many_are_ahead_of_the_baseline() {
        let names = names(&["a", "b", "c"]);
        let pairs = [pair(1, 0, 0.3, 0.01), pair(2, 0, -0.1, 0.4)];
        assert_eq!(
            verdict(&pairs, &names, Some(0)),
            "Of 2 runs, 1 is significantly ahead of the baseline a, and 0 are behind it."
        );
    }

    #[test]
    fn scales_have_room_and_steps_of_tenths() {
        let check = |differences: &[f64], expect: f64| {
            let pairs: Vec<Pair> = differences.iter().map(|d| pair(0, 1, *d, 1.0)).collect();
            assert!((scale(&pairs) - expect).abs() < 1e-12, "{differences:?}");
        };
        check(&[], 0.1);
        check(&[0.0], 0.1);
        check(&[0.05, -0.32], 0.5);
    }

    #[test]
    fn figures_stay_on_one_line() {
        assert_eq!(
            unbroken("A is ahead by 0.08 [0.01, 0.15]; that (p = 0.2)."),
            "A is ahead by 0.08 [0.01,\u{a0}0.15]; that (p\u{a0}=\u{a0}0.2)."
        );
    }

    #[test]
    fn a_warning_of_many_pairs() {
        assert!(many(15).starts_with("15 pairs are many"));
    }
}
