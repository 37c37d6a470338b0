//! Small sheets for the tests of figures.

use super::Study;
use crate::leaderboard::{Entry, Judge, Sheet};
use crate::metrics::{Convention, Gamma};
use crate::style::Beside;
use crate::testing;
use crate::usage::Usage;

/// A run: per task, each of a repository of its own, its normalized changes.
pub(super) struct Told {
    pub model: &'static str,
    pub tasks: &'static [&'static [f64]],
    pub date: Option<&'static str>,
    pub tokens: Option<u64>,
    /// Whether code was measured: at every end, and after the first iteration.
    pub styled: bool,
}

impl Told {
    pub(super) fn of(model: &'static str, tasks: &'static [&'static [f64]]) -> Self {
        Self {
            model,
            tasks,
            date: None,
            tokens: None,
            styled: false,
        }
    }

    fn entry(&self) -> Entry {
        let run = Entry {
            run_id: format!("run-{}", self.model.replace(' ', "-")),
            provider: "acme".into(),
            release_date: self.date.map(str::to_owned),
            usage: self.tokens.map(|input_tokens| Usage {
                input_tokens,
                output_tokens: 0,
                ..Usage::default()
            }),
            micro_usd: None,
            ..testing::spread_run(self.model, self.tasks)
        };
        testing::styled(run, |_, _| self.styled.then(style))
    }
}

fn style() -> Beside {
    let style = testing::beside([68.0, 72.0], [8.0, 7.5], [120, 40]);
    Beside {
        course: vec![(1, style.own)],
        ..style
    }
}

pub(super) fn sheet(runs: &[Told]) -> Sheet {
    testing::sheet(runs.iter().map(Told::entry).collect())
}

/// Of runs made otherwise.
pub(super) fn sheet_of(runs: Vec<Entry>) -> Sheet {
    testing::sheet(runs)
}

/// Looks at a sheet with this γ.
pub(super) fn look(sheet: &Sheet, gamma: f64, check: impl FnOnce(&Study<'_>)) {
    let judge = Judge::with(sheet, 200, 1);
    let gamma = Gamma::new(gamma).unwrap();
    check(&Study::of(sheet, &judge, gamma, Convention::Paper));
}
