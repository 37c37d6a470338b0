//! The names of runs on this page: the model, and a letter that tells runs of
//! one model apart and stands in for the name where space is short.

use leptos::prelude::*;
use swe_ci_plots::RunLook;
use swe_ci_views::leaderboard::Row;

use crate::components::CollectAny;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub run_id: String,
    pub letter: char,
    pub model: String,
    /// The number of its look.
    pub look: usize,
    /// Its colour, from 1.
    pub series: Option<usize>,
    shared: bool,
}

impl Name {
    /// `looks` has the number of each run's look.
    pub(super) fn all(rows: &[Row], looks: &[usize]) -> Vec<Self> {
        let name = |((letter, row), look): ((char, &Row), &usize)| Self {
            run_id: row.run_id.clone(),
            letter,
            model: row.model.clone(),
            look: *look,
            series: RunLook::of(*look).colour(),
            shared: rows.iter().filter(|r| r.model == row.model).count() > 1,
        };
        ('A'..='Z').zip(rows).zip(looks).map(name).collect()
    }

    /// The model, with the letter if another run has the same model.
    pub(super) fn in_words(&self) -> String {
        if self.shared {
            format!("{} ({})", self.model, self.letter)
        } else {
            self.model.clone()
        }
    }

    /// "A · Model", for legends and marks.
    pub(super) fn labelled(&self) -> String {
        format!("{} · {}", self.letter, self.model)
    }
}

/// The letter in the run's colour.
#[component]
pub(super) fn Letter(letter: char, series: Option<usize>) -> impl IntoView {
    view! { <span class="letter" data-series=series>{letter.to_string()}</span> }
}

/// The heads of a table with a column for each run.
pub(super) fn heads(names: Vec<Name>) -> AnyView {
    let head = |name: Name| {
        view! { <th scope="col"><Letter letter=name.letter series=name.series/>" "{name.model}</th> }
    };
    let heads = names.into_iter().map(head).collect_any();
    view! { <td></td>{heads} }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_plots::fixture::leaderboard;

    #[test]
    fn runs_of_one_model_are_told_apart() {
        let mut leaderboard = leaderboard(&[("m", &[0.5]), ("n", &[0.4]), ("m", &[0.3])]);
        leaderboard.entries[2].run_id = "again".into();
        let names = Name::all(&leaderboard.rank(Gamma::ONE, Convention::Paper), &[1, 0, 2]);
        let words: Vec<String> = names.iter().map(Name::in_words).collect();
        assert_eq!(words, ["m (A)", "n", "m (C)"]);
        assert_eq!(names[1].labelled(), "B · n");
        assert_eq!(names[2].series, Some(3));
    }
}
