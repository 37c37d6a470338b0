//! The history of each test of T over an evolution: one row of cells per
//! test, and filters to pick some out of thousands.

use crate::outcomes::Outcomes;
use crate::report::Outcome;

/// A test on one version of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Tested {
        outcome: Outcome,
        /// It passed on the last scored code and no longer does.
        lost: bool,
    },
    /// The code did not run, so the outcome of a single test is unknown.
    Collapsed,
}

/// One test, on the base and after each iteration (`None` where the code
/// collapsed). A test is lost against the last scored code.
pub fn cells<'a>(
    base: &'a Outcomes,
    iterations: &'a [Option<Outcomes>],
    test: usize,
) -> impl Iterator<Item = Cell> + 'a {
    let mut before = base.at(test);
    let first = Cell::Tested {
        outcome: before,
        lost: false,
    };
    let later = iterations.iter().map(move |outcomes| {
        let Some(outcomes) = outcomes else {
            return Cell::Collapsed;
        };
        let outcome = outcomes.at(test);
        let lost = before == Outcome::Passed && outcome != Outcome::Passed;
        before = outcome;
        Cell::Tested { outcome, lost }
    });
    std::iter::once(first).chain(later)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestHistory {
    /// The first iteration, from 1, that lost it. A collapse does not count
    /// here: it loses every test at once and says nothing about a single one.
    pub first_lost: Option<u32>,
    /// It passed on the base or on some iteration's code.
    pub passed: bool,
    /// It did not pass on the base, and did later.
    pub gained: bool,
    /// How often it changed between passing and not passing.
    pub changes: u32,
    /// It both passed and did not pass on identical code: proof that its
    /// outcome does not depend on the code alone.
    pub wavered: bool,
}

impl TestHistory {
    pub fn from_cells(cells: impl Iterator<Item = Cell>) -> Self {
        let mut history = Self::default();
        let mut before = None;
        for (iteration, cell) in (0..).zip(cells) {
            let Cell::Tested { outcome, lost } = cell else {
                continue;
            };
            let passes = outcome == Outcome::Passed;
            history.first_lost = history.first_lost.or(lost.then_some(iteration));
            history.gained |= passes && before.is_some() && !history.passed;
            history.passed |= passes;
            history.changes += u32::from(before.is_some_and(|before| before != passes));
            before = Some(passes);
        }
        history
    }

    /// Whether it changed more often than one break and its repair explain.
    /// Each version of the code is tested once, so this is only a suspicion:
    /// the code may have caused every change.
    pub fn looks_flaky(self) -> bool {
        self.changes > 2
    }
}

/// The histories of all tests, in the order of T. For each iteration,
/// `same_code` names an earlier one (from 1) that was scored with identical
/// code, if there is one.
pub fn test_histories(
    base: &Outcomes,
    iterations: &[Option<Outcomes>],
    same_code: &[Option<u32>],
) -> Vec<TestHistory> {
    let twins = twins(iterations, same_code);
    let history = |test| TestHistory {
        wavered: twins
            .iter()
            .any(|(a, b)| (a.at(test) == Outcome::Passed) != (b.at(test) == Outcome::Passed)),
        ..TestHistory::from_cells(cells(base, iterations, test))
    };
    (0..base.letters().len()).map(history).collect()
}

/// Pairs of outcomes on identical code.
fn twins<'a>(
    iterations: &'a [Option<Outcomes>],
    same_code: &[Option<u32>],
) -> Vec<(&'a Outcomes, &'a Outcomes)> {
    let twin = |(later, earlier): (&'a Option<Outcomes>, &Option<u32>)| {
        let position = earlier.and_then(|n| n.checked_sub(1))? as usize;
        Some((iterations.get(position)?.as_ref()?, later.as_ref()?))
    };
    iterations.iter().zip(same_code).filter_map(twin).collect()
}

crate::named! {
    #[derive(Default)]
    pub enum Wanted {
        /// It did not pass all the time.
        #[default]
        Changed = "changed",
        Regressed = "regressed",
        NeverPassed = "never",
        Gained = "gained",
        /// Proven or suspected: [`TestHistory::wavered`], [`TestHistory::looks_flaky`].
        Flaky = "flaky",
        All = "all",
    }
}

// As URLs write them.
impl Wanted {
    pub fn wants(self, history: TestHistory) -> bool {
        match self {
            Self::Changed => history.changes > 0 || !history.passed,
            Self::Regressed => history.first_lost.is_some(),
            Self::NeverPassed => !history.passed,
            Self::Gained => history.gained,
            Self::Flaky => history.wavered || history.looks_flaky(),
            Self::All => true,
        }
    }
}

/// Positions of the wanted tests whose node ids contain the text, ignoring
/// case; in the order of the suite, but those that were lost come first, by the
/// iteration that lost them, where the wanted tests are about that.
pub fn choose(
    node_ids: &[String],
    histories: &[TestHistory],
    wanted: Wanted,
    text: &str,
) -> Vec<usize> {
    let text = text.trim().to_lowercase();
    let pairs = node_ids.iter().zip(histories).enumerate();
    let mut chosen: Vec<usize> = pairs
        .filter(|(_, (_, history))| wanted.wants(**history))
        .filter(|(_, (id, _))| text.is_empty() || id.to_lowercase().contains(&text))
        .map(|(position, _)| position)
        .collect();
    if matches!(wanted, Wanted::Changed | Wanted::Regressed) {
        chosen.sort_by_key(|test| histories[*test].first_lost.unwrap_or(u32::MAX));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of letters, `None` for a collapse.
    fn columns(iterations: &[&str]) -> Vec<Option<Outcomes>> {
        let column = |letters: &&str| {
            (*letters != "collapsed").then(|| Outcomes::from_letters((*letters).into()))
        };
        iterations.iter().map(column).collect()
    }

    #[test]
    fn history_of_one_test() {
        // Its letters, `!` for a collapse: regressed, passed, gained, changes.
        let check = |letters: &str, expect: (bool, bool, bool, u32)| {
            let base = Outcomes::from_letters(letters[..1].into());
            let later: Vec<&str> = letters[1..]
                .split("")
                .filter(|l| !l.is_empty())
                .map(|l| if l == "!" { "collapsed" } else { l })
                .collect();
            let history = TestHistory::from_cells(cells(&base, &columns(&later), 0));
            let actual = (
                history.first_lost.is_some(),
                history.passed,
                history.gained,
                history.changes,
            );
            assert_eq!(actual, expect, "{letters}");
            assert_eq!(history.looks_flaky(), expect.3 > 2, "{letters}");
        };
        check("p", (false, true, false, 0));
        check("f", (false, false, false, 0));
        check("ppp", (false, true, false, 0));
        check("ffe-s", (false, false, false, 0));
        check("ffp", (false, true, true, 1));
        check("pf", (true, true, false, 1));
        // Broken and repaired: not gained, because the base passed it.
        check("pfp", (true, true, false, 2));
        check("fpf", (true, true, true, 2));
        check("fpfp", (true, true, true, 3));
        // A skipped test does not pass either.
        check("ps", (true, true, false, 1));
        // A collapse is skipped; the last scored code counts.
        check("p!p", (false, true, false, 0));
        check("p!f", (true, true, false, 1));
        check("f!!p", (false, true, true, 1));
    }

    #[test]
    fn a_row_of_cells() {
        let base = Outcomes::from_letters("pf".into());
        let later = columns(&["fp", "collapsed", "pe"]);
        let tested = |outcome, lost| Cell::Tested { outcome, lost };
        let row = |test| cells(&base, &later, test).collect::<Vec<_>>();
        assert_eq!(
            row(0),
            [
                tested(Outcome::Passed, false),
                tested(Outcome::Failed, true),
                Cell::Collapsed,
                tested(Outcome::Passed, false)
            ]
        );
        assert_eq!(row(1)[3], tested(Outcome::Error, true));
        // A position beyond the end is a missing test, not a panic.
        assert_eq!(row(2)[0], tested(Outcome::Missing, false));
    }

    #[test]
    fn choosing() {
        let ids = ["a.py::Lost", "a.py::never", "b.py::gained", "b.py::stays"];
        let ids = ids.map(str::to_owned);
        let base = Outcomes::from_letters("pf-p".into());
        let histories = test_histories(&base, &columns(&["ffpp"]), &[None]);
        let check = |wanted, text, expect: &[usize]| {
            assert_eq!(
                choose(&ids, &histories, wanted, text),
                expect,
                "{wanted:?} {text}"
            );
        };
        check(Wanted::All, "", &[0, 1, 2, 3]);
        check(Wanted::Regressed, "", &[0]);
        check(Wanted::NeverPassed, "", &[1]);
        check(Wanted::Gained, "", &[2]);
        check(Wanted::All, " B.PY ", &[2, 3]);
        check(Wanted::All, "lost", &[0]);
        check(Wanted::Gained, "lost", &[]);
    }

    #[test]
    fn the_first_losses_come_first() {
        let ids = ["a", "b", "c", "d"].map(str::to_owned);
        let base = Outcomes::from_letters("fppp".into());
        let histories = test_histories(&base, &columns(&["fpfp", "collapsed", "ffpp"]), &[]);
        let lost: Vec<Option<u32>> = histories.iter().map(|h| h.first_lost).collect();
        assert_eq!(lost, [None, Some(3), Some(1), None]);
        let chosen = |wanted| choose(&ids, &histories, wanted, "");
        assert_eq!(chosen(Wanted::Changed), [2, 1, 0]);
        assert_eq!(chosen(Wanted::Regressed), [2, 1]);
        assert_eq!(chosen(Wanted::All), [0, 1, 2, 3]);
    }

    #[test]
    fn identical_code_proves_flakiness() {
        // Per test: whether it wavered, and whether the filter selects it.
        let check = |base: &str, later: &[&str], same: &[Option<u32>], expect: &[(bool, bool)]| {
            let base = Outcomes::from_letters(base.into());
            let histories = test_histories(&base, &columns(later), same);
            let actual = histories
                .iter()
                .map(|h| (h.wavered, Wanted::Flaky.wants(*h)));
            assert_eq!(actual.collect::<Vec<_>>(), expect, "{later:?} {same:?}");
        };
        let (yes, no, maybe) = ((true, true), (false, false), (false, true));
        check("pf", &["pf", "fp"], &[None, Some(1)], &[yes, yes]);
        // Different code explains a difference.
        check("pf", &["pf", "fp"], &[None, None], &[no, no]);
        // Failing in another way is still failing.
        check("f", &["f", "e"], &[None, Some(1)], &[no]);
        // A collapse tells nothing, and invalid references are ignored.
        check("p", &["collapsed", "p"], &[None, Some(1)], &[no]);
        check("p", &["f", "p"], &[Some(0), Some(9)], &[no]);
        check("p", &["f"], &[], &[no]);
        // Many changes, each on different code: only a suspicion.
        check("p", &["f", "p", "f"], &[None; 3], &[maybe]);
    }

    #[test]
    fn names_there_and_back() {
        for wanted in Wanted::ALL {
            assert_eq!(Wanted::from_name(wanted.name()), Some(wanted));
        }
        assert_eq!(Wanted::from_name("REGRESSED"), None);
    }
}
