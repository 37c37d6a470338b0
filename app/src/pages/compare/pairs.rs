use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::uncertainty::Comparison;
use swe_ci_views::leaderboard::{Pair, in_words};

use super::names::{Letter, Name};
use super::query::CompareQuery;
use crate::components::{Choice, Choices, Tag, Term, Tone};
use crate::format;
use crate::glossary::Word;

/// The result of each pair, as a sentence and a bar.
#[component]
pub(super) fn Pairs(
    pairs: Vec<Pair>,
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
    let list = move || {
        let wanted = |pair: &&Pair| !(only.get() && pair.comparison.is_tie());
        let shown: Vec<Pair> = pairs.with_value(|p| p.iter().filter(wanted).copied().collect());
        if shown.is_empty() {
            return Either::Left(view! {
                <p class="quiet">"No pair differs significantly: each interval spans 0."</p>
            });
        }
        let item = |pair: Pair| names.with_value(|n| view! { <PairItem pair names=n.clone()/> });
        Either::Right(view! {
            <ol class="pairs" class:pairs-one=!several>{shown.into_iter().map(item).collect_view()}</ol>
        })
    };
    view! {
        <section aria-labelledby="pairs-title">
            <h2 id="pairs-title">{if several { "Pair by pair" } else { "Which is ahead" }}</h2>
            <p class="quiet">
                "Differences of EvoScore, task by task, on the tasks two runs share, each with its "<Term word=Word::Interval/>". "
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
        choice(significant, "Pairs whose interval leaves 0 out", true),
    ]
}

#[component]
fn PairItem(pair: Pair, names: Vec<Name>) -> impl IntoView {
    let name = |at: u32| names.get(at as usize).cloned();
    let (Some(first), Some(second)) = (name(pair.first), name(pair.second)) else {
        return Either::Left(());
    };
    let comparison = pair.comparison;
    let (text, tone) = standing(&comparison);
    let sentence = in_words(&comparison, &first.in_words(), &second.in_words());
    Either::Right(view! {
        <li class="pair">
            <p class="pair-head">
                <Letter letter=first.letter series=first.series/>
                <span class="pair-against">"against"</span>
                <Letter letter=second.letter series=second.series/>
                <Tag text=text.to_owned() tone/>
            </p>
            <p class="pair-sentence">{unbroken(&sentence)}</p>
            <Balance comparison first second/>
        </li>
    })
}

/// Whether the data tells two runs apart; open where interval and test
/// disagree.
fn standing(comparison: &Comparison) -> (&'static str, Tone) {
    match (comparison.is_tie(), comparison.is_unlikely_chance()) {
        (true, _) => ("not significant", Tone::Plain),
        (false, false) => ("borderline", Tone::Warn),
        (false, true) => ("significant", Tone::Accent),
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

/// Tasks won, tied and lost, as parts of a bar and in words.
#[component]
fn Balance(comparison: Comparison, first: Name, second: Name) -> impl IntoView {
    let rect = |(class, series, (x, width)): (&'static str, Option<usize>, (String, String))| {
        view! { <rect class=class data-series=series x=x width=width height="10"/> }
    };
    let tasks = |n| format::count(n, "task");
    let [won, even, lost] = parts(&comparison);
    let rects = [
        ("balance-run", Some(first.series), won),
        ("balance-even", None, even),
        ("balance-run", Some(second.series), lost),
    ];
    view! {
        <div class="balance">
            <svg width="100%" height="10" aria-hidden="true" focusable="false">
                {rects.map(rect).into_iter().collect_view()}
            </svg>
            <p class="balance-words">
                <span>{format!("{} ahead on {}", first.letter, tasks(comparison.wins))}</span>
                <span>{format!("even on {}", format::thousands(comparison.ties))}</span>
                <span>{format!("{} ahead on {}", second.letter, tasks(comparison.losses))}</span>
            </p>
        </div>
    }
}

/// The start and length of each part.
fn parts(comparison: &Comparison) -> [(String, String); 3] {
    let (wins, ties, losses) = (comparison.wins, comparison.ties, comparison.losses);
    let all = f64::from((wins + ties + losses).max(1));
    let percent = |n: u32| format!("{:.2}%", f64::from(n) / all * 100.0);
    [
        (percent(0), percent(wins)),
        (percent(wins), percent(ties)),
        (percent(wins + ties), percent(losses)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fill_the_bar() {
        let check = |(wins, ties, losses), expect: [(&str, &str); 3]| {
            let comparison = Comparison {
                tasks: wins + ties + losses,
                repositories: 2,
                difference: 0.0,
                interval: None,
                p_value: 1.0,
                wins,
                ties,
                losses,
            };
            let seen = parts(&comparison);
            let seen = seen
                .each_ref()
                .map(|(x, width)| (x.as_str(), width.as_str()));
            assert_eq!(seen, expect);
        };
        check(
            (2, 1, 1),
            [
                ("0.00%", "50.00%"),
                ("50.00%", "25.00%"),
                ("75.00%", "25.00%"),
            ],
        );
        check(
            (0, 3, 0),
            [
                ("0.00%", "0.00%"),
                ("0.00%", "100.00%"),
                ("100.00%", "0.00%"),
            ],
        );
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
