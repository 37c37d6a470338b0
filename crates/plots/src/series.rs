//! How runs look: the same on every page.

use std::collections::{BTreeSet, HashMap, HashSet};

use swe_ci_core::run::Kind;
use swe_ci_views::figures::MOST_RUNS;
use swe_ci_views::leaderboard::{Entry, LeaderboardData, Row, featured};

use crate::marker::{Filling, outline};
use crate::paint::{self, Look, PAIRS, Paint};

/// The look of each entry of the leaderboard data, and of providers.
#[derive(Debug, Clone, Default)]
pub struct Series {
    looks: Vec<RunLook>,
    providers: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLook {
    /// Its colour, marker and dashes; no two entries share one.
    pub number: usize,
    /// Whether its line has its colour; others are grey.
    pub featured: bool,
    /// Whether its markers have its colour, as those of the best runs of many do.
    pub coloured: bool,
}

impl Series {
    /// Of these ranked rows, some have a colour.
    pub fn new(data: &LeaderboardData, rows: &[Row]) -> Self {
        let id = |row: &Row| row.run_id.clone();
        let featured: BTreeSet<String> = featured(rows).into_iter().map(id).collect();
        let best: BTreeSet<String> = rows.iter().take(MOST_RUNS).map(id).collect();
        let look = |(entry, number): (&Entry, usize)| {
            let featured = featured.contains(&entry.run_id);
            RunLook {
                number,
                featured,
                coloured: featured || best.contains(&entry.run_id),
            }
        };
        let looks = data.entries.iter().zip(numbers(&data.entries)).map(look);
        let mut providers = providers(&data.entries);
        let published = data.published.rows.iter().map(|row| row.provider.as_str());
        let published: BTreeSet<&str> = published.filter(|p| !providers.contains(p)).collect();
        if providers.len() == 1 {
            // Colours tell its models apart.
            providers.clear();
        } else {
            providers.extend(published);
        }
        Self {
            looks: looks.collect(),
            providers: providers.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Every run has a colour.
    pub fn all(numbers: impl IntoIterator<Item = usize>) -> Self {
        Self {
            looks: numbers.into_iter().map(RunLook::of).collect(),
            providers: Vec::new(),
        }
    }

    /// The number of each run of a board, by its id.
    pub fn numbers(data: &LeaderboardData) -> HashMap<String, usize> {
        let ids = data.entries.iter().map(|entry| entry.run_id.clone());
        ids.zip(numbers(&data.entries)).collect()
    }

    /// Numbers from several boards, each once: a run whose number another one has
    /// keeps colour and shape, and takes the next dashes and filling.
    pub fn apart(numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut taken = HashSet::new();
        let free = |mut number: usize| {
            while !taken.insert(number) {
                number += PAIRS;
            }
            number
        };
        numbers.into_iter().map(free).collect()
    }

    /// Of the entry with this index.
    pub fn of(&self, index: usize) -> RunLook {
        self.looks.get(index).copied().unwrap_or_default()
    }

    /// The number that stands for a provider in a key; none where its models have
    /// no colour in common.
    pub(crate) fn of_provider(&self, provider: &str) -> Option<usize> {
        let place = self.providers.iter().position(|name| name == provider);
        place.map(pair)
    }
}

impl RunLook {
    /// With a colour.
    pub fn of(number: usize) -> Self {
        Self {
            number,
            featured: true,
            coloured: true,
        }
    }

    /// The number of its colour in the style sheet, from 1; none for a grey one.
    pub fn colour(self) -> Option<usize> {
        self.coloured.then_some(paint::colour(self.number) + 1)
    }

    /// The data of a `<path>` that draws its marker, of this radius around 0, and
    /// whether it is filled.
    pub fn path(self, radius: i32) -> (String, bool) {
        let filling = Filling::of(self.number);
        let mut path = outline(paint::shape(self.number), radius);
        if filling == Filling::Dot {
            path.push_str(&outline(0, 1));
        }
        (path, filling == Filling::Full)
    }

    pub(crate) fn line(self) -> Paint {
        let look = if self.featured {
            Look::Line
        } else {
            Look::Faint
        };
        Paint::Run(self.number, look)
    }

    pub(crate) fn solid(self) -> Paint {
        let look = if self.coloured {
            Look::Solid
        } else {
            Look::Grey
        };
        Paint::Run(self.number, look)
    }
}

/// In order of name.
fn providers(entries: &[Entry]) -> Vec<&str> {
    let models = entries.iter().filter(|entry| entry.kind != Kind::Human);
    let names: BTreeSet<&str> = models.map(|entry| entry.provider.as_str()).collect();
    names.into_iter().collect()
}

/// The pair of colour and shape of the provider, or the model, at this place.
fn pair(place: usize) -> usize {
    1 + place % (PAIRS - 1)
}

/// The models of a provider share a colour and a shape and are told apart by
/// dashes and fillings, in the order in which they came. With a single provider,
/// each model has a colour of its own instead.
fn numbers(entries: &[Entry]) -> Vec<usize> {
    let providers = providers(entries);
    let mut by_age: Vec<usize> = (0..entries.len()).collect();
    // An id begins with its time.
    by_age.sort_by_key(|at| &entries[*at].run_id);
    let mut taken = [0; PAIRS];
    let mut models = 0;
    let mut numbers = vec![0; entries.len()];
    for at in by_age {
        let entry = &entries[at];
        let place = match providers.iter().position(|name| *name == entry.provider) {
            _ if entry.kind == Kind::Human => 0,
            _ if providers.len() == 1 => pair(models),
            of_provider => pair(of_provider.unwrap_or_default()),
        };
        models += usize::from(entry.kind != Kind::Human);
        numbers[at] = place + PAIRS * taken[place];
        taken[place] += 1;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::leaderboard;

    /// Models with these providers, in the order in which they came.
    fn runs(of: &[&str]) -> Vec<Entry> {
        let entry = leaderboard(&[("m", &[0.1])]).entries.remove(0);
        let run = |(age, provider): (usize, &&str)| Entry {
            run_id: format!("{age:04}"),
            provider: (*provider).to_owned(),
            ..entry.clone()
        };
        of.iter().enumerate().map(run).collect()
    }

    #[test]
    fn providers_have_colours_and_their_models_dashes() {
        let check = |of: &[&str], expect: &[usize]| assert_eq!(numbers(&runs(of)), expect);
        check(&[], &[]);
        check(&["b", "a", "b"], &[2, 1, 2 + PAIRS]);
        check(&["a", "a", "a"], &[1, 2, 3]);
        let mut with_people = runs(&["", "b", "a", ""]);
        with_people[0].kind = Kind::Human;
        with_people[3].kind = Kind::Human;
        assert_eq!(numbers(&with_people), [0, 2, 1, PAIRS]);
    }

    /// Thirty models of twelve providers; another model that comes later, and the
    /// order of the data, change none of their looks.
    #[test]
    fn no_two_look_alike_and_looks_stay() {
        let names: Vec<String> = (0..30).map(|i| format!("p{:02}", i * i % 12)).collect();
        let mut of: Vec<&str> = names.iter().map(String::as_str).collect();
        let twelve = ["p00", "p01", "p02", "p03", "p04", "p05"];
        let more = ["p06", "p07", "p08", "p09", "p10", "p11"];
        of[..12].copy_from_slice(&[twelve, more].concat());
        let mut entries = runs(&of);
        assert_eq!(providers(&entries).len(), 12);
        let before = numbers(&entries);
        let look = |number: &usize| {
            let filling = Filling::of(*number) as u8;
            let dashes = paint::nth(*number) % paint::DASHES.len();
            let (colour, shape) = (paint::colour(*number), paint::shape(*number));
            (colour, shape, filling, dashes)
        };
        let looks: HashSet<_> = before.iter().map(look).collect();
        assert_eq!(looks.len(), 30);
        entries.extend(runs(&of).into_iter().take(1).map(|run| Entry {
            run_id: "9999".into(),
            ..run
        }));
        assert_eq!(numbers(&entries)[..30], before);
        entries.reverse();
        let mut reversed = numbers(&entries);
        reversed.reverse();
        assert_eq!(reversed[..30], before);
    }

    #[test]
    fn runs_of_several_boards_look_different() {
        let apart = Series::apart([1, 2, 1, 1 + PAIRS, 1]);
        assert_eq!(apart, [1, 2, 1 + PAIRS, 1 + 2 * PAIRS, 1 + 3 * PAIRS]);
    }

    #[test]
    fn a_key_has_no_colour_for_a_single_provider() {
        let data = leaderboard(&[("m", &[0.1])]);
        assert_eq!(Series::new(&data, &[]).of_provider("acme"), None);
        let data = LeaderboardData {
            entries: runs(&["b", "c"]),
            ..data
        };
        let series = Series::new(&data, &[]);
        // Those that are only published come last.
        let of = |name| series.of_provider(name);
        assert_eq!([of("b"), of("c"), of("acme")], [Some(1), Some(2), Some(3)]);
    }
}
