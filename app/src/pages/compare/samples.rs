//! The samples of the runs.

use leptos::prelude::*;
use swe_ci_core::uncertainty::Interval;
use swe_ci_views::leaderboard::{PassesOf, Samples};

use super::names::{Name, heads};
use super::run_columns::figure_cell;
use crate::components::CollectAny;
use crate::components::{PlainTable, Term};
use crate::format;
use crate::glossary::Word;

/// A row of the table: its name, and each run's figure with a note.
type Line = (&'static str, fn(&Samples, u32) -> Option<(String, String)>);

/// The lines that say something about more than one sample.
const OF_SEVERAL: [Line; 4] = [
    ("Solved, any", |s, k| {
        pass(s, k, |of| (of.solved.any, of.solved.any_interval))
    }),
    ("Solved, all", |s, k| {
        pass(s, k, |of| (of.solved.all, of.solved.all_interval))
    }),
    ("ZRR, any", |s, k| {
        pass(s, k, |of| (of.zrr.any, of.zrr.any_interval))
    }),
    ("ZRR, all", |s, k| {
        pass(s, k, |of| (of.zrr.all, of.zrr.all_interval))
    }),
];

const SPREADS: [Line; 3] = [
    ("By repository", |s, _| deviation(s.spread.repositories)),
    ("By task", |s, _| deviation(s.spread.tasks)),
    ("By sample", |s, _| deviation(s.spread.samples)),
];

fn pass(
    samples: &Samples,
    k: u32,
    of: fn(&PassesOf) -> (f64, Option<Interval>),
) -> Option<(String, String)> {
    let passes = samples.passes.iter().find(|passes| passes.k == k)?;
    let (value, interval) = of(passes);
    let interval = interval.map(|interval| format::interval(interval, 2));
    Some((format::share(value), interval.unwrap_or_default()))
}

fn deviation(deviation: Option<f64>) -> Option<(String, String)> {
    Some((format::decimals(deviation?, 3), String::new()))
}

/// The most samples that a task has in each of the runs.
fn common(samples: &[Samples]) -> u32 {
    samples.iter().map(|s| s.most).min().unwrap_or(1)
}

#[component]
pub(super) fn SamplesOfRuns(samples: Vec<Samples>, names: Vec<Name>) -> impl IntoView {
    let heads = heads(names);
    let k = common(&samples);
    let lines = OF_SEVERAL.iter().filter(|_| k > 1).chain(&SPREADS);
    let line = |(name, of): &Line| {
        let unknown = || ("–".to_owned(), "unknown".to_owned());
        let cell = |samples: &Samples| figure_cell(of(samples, k).unwrap_or_else(unknown));
        view! {
            <tr>
                <th scope="row">{*name}</th>
                {samples.iter().map(cell).collect_any()}
            </tr>
        }
    };
    let lines = lines.map(line).collect_any();
    let several = (k > 1).then(|| {
        view! {
            {format!("Of {k} samples of a task, how probably any ")}
            <Term word=Word::PassAt text=format!("(pass@{k})")/>
            " or all "
            <Term word=Word::PassHat text=format!("(pass^{k})")/>
            " succeed. "
        }
    });
    view! {
        <section aria-labelledby="samples-title">
            <h2 id="samples-title">"Samples and spread"</h2>
            <p class="quiet">
                {several}
                "Below: how much EvoScore varies by repository, by task within one, and by chance, as standard deviations."
            </p>
            <PlainTable class="versus-heads versus-style" caption="Samples of the runs" scrolls="Samples of the runs" heads>
                {lines}
            </PlainTable>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_views::leaderboard::UncertaintyModel;
    use swe_ci_views::testing::{entry, leaderboard};

    #[test]
    fn figures_of_a_run() {
        let run = entry(
            "m",
            &[("p", &[&[1.0], &[0.5]]), ("q", &[&[1.0], &[1.0], &[0.5]])],
        );
        let model = UncertaintyModel::new(&leaderboard(vec![run.clone()]));
        let samples = model.samples(&run, Gamma::ONE, Convention::Paper).unwrap();
        assert_eq!(common(std::slice::from_ref(&samples)), 3);
        let figures = OF_SEVERAL.map(|(_, of)| of(&samples, 2).unwrap().0);
        // All pairs have a solved sample; none of p's and one of three of q's
        // has two.
        assert_eq!(figures, ["1.00", "0.17", "1.00", "0.17"]);
        assert_eq!(OF_SEVERAL[0].1(&samples, 4), None);
        assert_eq!(SPREADS[1].1(&samples, 1), None);
        assert!(SPREADS[2].1(&samples, 1).is_some());
    }
}
