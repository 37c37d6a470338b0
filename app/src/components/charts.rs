use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::browse::{Size, Spread, SpreadBin};
use swe_ci_views::curation::{Dropped, Stage, StageCount};

use super::Meter;
use crate::components::CollectAny;
use crate::format;

/// The height of the largest bin.
const HEIGHT: u32 = 44;

/// How a size is distributed over tasks: a bar per magnitude links to its tasks.
#[component]
pub fn SpreadChart(
    spread: Spread,
    /// The address for the tasks of a bin.
    href: Callback<(Size, f64, f64), String>,
) -> impl IntoView {
    let size = spread.size;
    let most = spread.bins.iter().map(|bin| bin.tasks).max().unwrap_or(1);
    let bar = move |bin: SpreadBin| {
        let (from, to) = (bin.from, last(size, bin));
        let range = match from < to {
            true => format!("{}–{}", number(from), number(to)),
            false => number(from),
        };
        let words = format!("{}: {}", range, format::count(bin.tasks, "task"));
        let height = (f64::from(bin.tasks) / f64::from(most) * f64::from(HEIGHT)).ceil();
        let drawn = view! {
            <span class="spread-count">{bin.tasks}</span>
            <svg width="100%" height=HEIGHT aria-hidden="true" focusable="false">
                <rect y=f64::from(HEIGHT) - height width="100%" height=height rx="2"/>
            </svg>
            <span class="spread-range">{range}</span>
        };
        match bin.tasks {
            0 => Either::Left(view! { <li><span class="spread-bin">{drawn}</span></li> }),
            _ => Either::Right(view! {
                <li><a class="spread-bin" href=href.run((size, from, to)) title=words>{drawn}</a></li>
            }),
        }
    };
    let typical = |value| match size.is_share() {
        true => format::share(value),
        false => number(value),
    };
    let bars = spread.bins.iter().copied().map(bar).collect_any();
    view! {
        <figure class="spread">
            <figcaption>
                <strong>{title(size)}</strong>
                <small>{format!("median {}, mean {}", typical(spread.median), typical(spread.mean))}</small>
            </figcaption>
            <ol aria-label=format!("Tasks by {}", title(size))>{bars}</ol>
        </figure>
    }
}

/// The name of a size, with its unit.
pub fn title(size: Size) -> &'static str {
    match size {
        Size::Gap => "Gap, in tests",
        Size::Tests => "Suite, in tests",
        Size::Commits => "Commits between",
        Size::Days => "Days between",
        Size::Lines => "Lines modified",
        Size::Suite => "Suite, in seconds",
        Size::Solved => "Solved, share of runs",
        Size::Score => "Mean EvoScore of runs",
        Size::Contradicted => "Contradicted, share of tests",
    }
}

/// The largest value of a bin; the next bin's first value is outside it.
fn last(size: Size, bin: SpreadBin) -> f64 {
    match size {
        Size::Days | Size::Suite => bin.to,
        // Values are at most 1, and 1 has a bin of its own.
        _ if size.is_share() => (bin.to - 0.001).min(1.0),
        _ => bin.to - 1.0,
    }
}

/// As short as possible.
fn number(value: f64) -> String {
    if value >= 10_000.0 {
        format!("{}k", format::decimals((value / 1_000.0).round(), 0))
    } else if value.fract() == 0.0 || value >= 100.0 {
        format::decimals(value, 0)
    } else {
        format::decimals(value, 1)
    }
}

/// The candidates left after each stage, with the reasons (figure 2 of the paper).
#[component]
pub fn Funnel(stages: Vec<StageCount>) -> impl IntoView {
    let row = |count: StageCount| {
        let (title, does, came) = words(count.stage);
        let reason = |dropped: Dropped| {
            let times = format::thousands(dropped.count);
            view! { <li>{format!("{}: {times}", dropped.reason)}</li> }
        };
        let waiting = (count.waiting > 0).then(|| view! { <p class="quiet">{format!("{} not examined yet", format::thousands(count.waiting))}</p> });
        view! {
            <li class="funnel-stage">
                <h3>{title}</h3>
                <p>{does}</p>
                <Meter value=count.survived most=count.entered label=format!("{} that stayed", count.stage.yields())/>
                <p><strong>{format::thousands(count.survived)}</strong>{format!(" of {} {came} stayed", format::thousands(count.entered))}</p>
                {waiting}
                <ul class="funnel-reasons">{count.dropped.into_iter().map(reason).collect_any()}</ul>
            </li>
        }
    };
    view! { <ol class="funnel">{stages.into_iter().map(row).collect_any()}</ol> }
}

/// The stage's title, what it does, and what enters it.
fn words(stage: Stage) -> (&'static str, &'static str, &'static str) {
    match stage {
        Stage::Collect => (
            "1. Collect",
            "Repositories that are old enough, tested, and free to use.",
            "repositories",
        ),
        Stage::Spans => (
            "2. Spans",
            "Stretches of the main branch with unchanged dependencies, and enough change.",
            "stretches",
        ),
        Stage::Environment => (
            "3. Environment",
            "An image in which the target’s tests run, mended where something was missing.",
            "candidates",
        ),
        Stage::Filter => (
            "4. Filter",
            "Both ends tested, a gap worth closing, and the best of all.",
            "candidates",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let check = |value, expect: &str| assert_eq!(number(value), expect);
        check(0.0, "0");
        check(24.5, "24.5");
        check(233.4, "233");
        check(4_999.0, "4999");
        check(20_000.0, "20k");
    }

    #[test]
    fn bins_of_counts_end_before_the_next() {
        let bin = SpreadBin {
            from: 5.0,
            to: 10.0,
            tasks: 1,
        };
        assert_eq!(last(Size::Gap, bin), 9.0);
        assert_eq!(last(Size::Days, bin), 10.0);
        let share = |from, to| last(Size::Solved, SpreadBin { from, to, tasks: 1 });
        assert_eq!((share(0.8, 1.0), share(1.0, 1.2)), (0.999, 1.0));
    }
}
