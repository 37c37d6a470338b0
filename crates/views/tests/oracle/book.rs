//! The paper's formulas as printed. Nothing here calls the tested code.

use std::collections::HashSet;

/// One evolution counted by hand, at most N iterations of it.
#[derive(Debug, Clone)]
pub struct Counted {
    pub base: u32,
    pub target: u32,
    /// n(c1), n(c2), …; 0 where the code collapsed.
    pub passing: Vec<u32>,
    /// For each iteration, the number of tests it broke, and the number that
    /// passed on the last scored code.
    pub broke: Vec<(u32, u32)>,
    pub zero_regression: bool,
    pub solved: bool,
}

impl Counted {
    /// The reference convention: only counts, clipped to the target.
    pub fn by_count(base: u32, gap: u32, counts: &[Option<u32>], n: usize) -> Self {
        let target = base + gap;
        let counts = &counts[..n.min(counts.len())];
        let clipped: Vec<Option<u32>> = counts.iter().map(|c| c.map(|c| c.min(target))).collect();
        let passing: Vec<u32> = clipped.iter().map(|c| c.unwrap_or(0)).collect();
        let sequence: Vec<u32> = [base].into_iter().chain(passing.iter().copied()).collect();
        let broke = (0..passing.len())
            .map(|i| {
                let before = clipped[..i].iter().rev().find_map(|c| *c).unwrap_or(base);
                (before.saturating_sub(passing[i]), before)
            })
            .collect();
        Self {
            base,
            target,
            broke,
            zero_regression: sequence.windows(2).all(|pair| pair[1] >= pair[0]),
            solved: sequence.iter().max() == Some(&target),
            passing,
        }
    }

    /// The paper's convention: sets of tests, all of them tests of T.
    pub fn by_test(base: &str, iterations: &[Option<String>], n: usize) -> Self {
        let iterations = &iterations[..n.min(iterations.len())];
        let sets: Vec<Option<HashSet<usize>>> = iterations
            .iter()
            .map(|i| i.as_deref().map(passing))
            .collect();
        let now = |i: usize| sets[i].clone().unwrap_or_default();
        let broke: Vec<(u32, u32)> = (0..sets.len())
            .map(|i| {
                let before = last_scored(base, &sets[..i]);
                (size(&before - &now(i)), size(before))
            })
            .collect();
        let last = sets.last().map_or(passing(base), |_| now(sets.len() - 1));
        Self {
            base: size(passing(base)),
            target: u32::try_from(base.len()).unwrap(),
            passing: (0..sets.len()).map(|i| size(now(i))).collect(),
            zero_regression: broke.iter().all(|(lost, _)| *lost == 0),
            broke,
            solved: last.len() == base.len(),
        }
    }

    pub fn turns(&self) -> f64 {
        self.passing.len() as f64
    }

    /// Equation 2. The paper would divide by zero when there is nothing to
    /// gain; code at the base then has not changed.
    pub fn changes(&self) -> Vec<f64> {
        let (base, target) = (f64::from(self.base), f64::from(self.target));
        let change = |n: &u32| {
            let n = f64::from(*n);
            if n == base {
                0.0
            } else if n > base {
                (n - base) / (target - base)
            } else {
                (n - base) / base
            }
        };
        self.passing.iter().map(change).collect()
    }

    /// Equation 3 over a sequence padded to N by hand.
    pub fn evoscore(&self, gamma: f64, n: usize) -> f64 {
        let mut a = self.changes();
        while a.len() < n {
            a.push(a.last().copied().unwrap_or(0.0));
        }
        let (mut top, mut bottom) = (0.0, 0.0);
        for (i, a) in (1..).zip(a) {
            top += gamma.powi(i) * a;
            bottom += gamma.powi(i);
        }
        top / bottom
    }

    /// max(a_1..a_i) of the existing iterations.
    fn best(&self, i: usize) -> f64 {
        let a = self.changes();
        let so_far = &a[..i.min(a.len())];
        so_far.iter().copied().reduce(f64::max).unwrap_or(0.0)
    }
}

/// Positions of the tests that pass.
pub fn passing(letters: &str) -> HashSet<usize> {
    let marked = letters.chars().enumerate();
    marked
        .filter(|(_, l)| *l == 'p')
        .map(|(at, _)| at)
        .collect()
}

fn last_scored(base: &str, sets: &[Option<HashSet<usize>>]) -> HashSet<usize> {
    let scored = sets.iter().rev().flatten().next();
    scored.cloned().unwrap_or_else(|| passing(base))
}

fn size(set: impl IntoIterator) -> u32 {
    u32::try_from(set.into_iter().count()).unwrap()
}

/// For each iteration that broke something, the number of iterations until
/// all of that passes again.
pub fn recoveries(base: &str, iterations: &[Option<String>]) -> Vec<(u32, Option<u32>)> {
    let sets: Vec<Option<HashSet<usize>>> = iterations
        .iter()
        .map(|i| i.as_deref().map(passing))
        .collect();
    let mut result = Vec::new();
    for i in 0..sets.len() {
        let now = sets[i].clone().unwrap_or_default();
        let lost = &last_scored(base, &sets[..i]) - &now;
        let repaired = |j: &usize| sets[*j].as_ref().is_some_and(|set| lost.is_subset(set));
        if !lost.is_empty() {
            let after = (i + 1..sets.len()).find(repaired).map(|j| size(i..j));
            result.push((size(0..=i), after));
        }
    }
    result
}

/// The mean of a value over a run: over the samples of each task first.
pub fn average(tasks: &[Vec<Counted>], value: impl Fn(&Counted) -> f64) -> f64 {
    let each = tasks
        .iter()
        .map(|samples| mean(samples.iter().map(&value)).unwrap());
    mean(each).unwrap()
}

pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The values of Figures 7 and 12 at one iteration.
#[derive(Debug)]
pub struct At {
    pub active: u32,
    pub rate: Option<f64>,
    pub magnitude: Option<f64>,
    pub best: f64,
}

/// Iteration `i`, from 1.
pub fn at(tasks: &[Vec<Counted>], i: usize) -> At {
    let here: Vec<Vec<(u32, u32)>> = tasks
        .iter()
        .map(|samples| {
            samples
                .iter()
                .filter_map(|s| s.broke.get(i - 1).copied())
                .collect()
        })
        .filter(|here: &Vec<(u32, u32)>| !here.is_empty())
        .collect();
    let rate = |task: &Vec<(u32, u32)>| {
        mean(
            task.iter()
                .map(|(lost, _)| if *lost > 0 { 1.0 } else { 0.0 }),
        )
    };
    let magnitude = |task: &Vec<(u32, u32)>| {
        let regressing = task.iter().filter(|(lost, _)| *lost > 0);
        mean(regressing.map(|(lost, of)| f64::from(*lost) / f64::from(*of)))
    };
    At {
        active: u32::try_from(here.len()).unwrap(),
        rate: mean(here.iter().filter_map(rate)),
        magnitude: mean(here.iter().filter_map(magnitude)),
        best: average(tasks, |s| s.best(i)),
    }
}

/// Pearson's r as the mean product of standard scores. A spread within
/// rounding counts as no variance.
pub fn pearson(points: &[(f64, f64)]) -> Option<f64> {
    let standard = |values: Vec<f64>| -> Option<Vec<f64>> {
        let centre = mean(values.iter().copied())?;
        let spread = mean(values.iter().map(|v| (v - centre).powf(2.0)))?.sqrt();
        (spread > 1e-9).then(|| values.iter().map(|v| (v - centre) / spread).collect())
    };
    if points.len() < 3 {
        return None;
    }
    let x = standard(points.iter().map(|p| p.0).collect())?;
    let y = standard(points.iter().map(|p| p.1).collect())?;
    mean(x.iter().zip(&y).map(|(x, y)| x * y))
}
