//! Rank correlation of two numbers of evolutions.

use super::{Interval, Resamples};

/// Pairs of numbers, each of a repository.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankedPoints {
    points: Vec<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    repository: usize,
    x: f64,
    y: f64,
}

impl RankedPoints {
    /// Adds a pair of a repository. Numbers that are not finite have no rank, and
    /// are left out.
    pub fn add(&mut self, repository: usize, x: f64, y: f64) {
        if x.is_finite() && y.is_finite() {
            self.points.push(Point { repository, x, y });
        }
    }

    pub fn len(&self) -> usize {
        self.points.len()
    }

    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Spearman's rank correlation, -1 to 1: Pearson's correlation of the ranks,
    /// where equal numbers share the mean of theirs. `None` when all numbers of one
    /// side are equal.
    pub fn correlation(&self) -> Option<f64> {
        let last = self.points.iter().map(|point| point.repository).max()?;
        self.orders()
            .correlation(&self.points, &vec![1.0; last + 1])
    }

    /// The 95 % interval of the correlation. `None` with fewer than two
    /// repositories: one says nothing about their variance.
    pub fn interval(&self, resamples: &Resamples) -> Option<Interval> {
        let first = self.points.first()?.repository;
        if self.points.iter().all(|point| point.repository == first) {
            return None;
        }
        let orders = self.orders();
        resamples.interval_of(|drawn| orders.correlation(&self.points, drawn))
    }

    fn orders(&self) -> Orders {
        Orders {
            by_x: order(&self.points, |point| point.x),
            by_y: order(&self.points, |point| point.y),
        }
    }
}

/// The indices of points in ascending order, in groups of equal numbers.
type Order = Vec<Vec<usize>>;

struct Orders {
    by_x: Order,
    by_y: Order,
}

fn order(points: &[Point], number: impl Fn(&Point) -> f64) -> Order {
    let mut indices: Vec<usize> = (0..points.len()).collect();
    indices.sort_by(|a, b| number(&points[*a]).total_cmp(&number(&points[*b])));
    // In ascending order, no number is greater than the next.
    let equal = |a: &usize, b: &usize| number(&points[*a]) >= number(&points[*b]);
    indices.chunk_by(equal).map(<[usize]>::to_vec).collect()
}

impl Orders {
    /// With each point as often as its repository was drawn.
    fn correlation(&self, points: &[Point], drawn: &[f64]) -> Option<f64> {
        let weight = |index: usize| drawn[points[index].repository];
        let ranks = |order: &Order| {
            let (mut ranks, mut below) = (vec![0.0; points.len()], 0.0);
            for group in order {
                let size: f64 = group.iter().map(|index| weight(*index)).sum();
                for index in group {
                    ranks[*index] = below + size / 2.0;
                }
                below += size;
            }
            ranks
        };
        let (x, y) = (ranks(&self.by_x), ranks(&self.by_y));
        // The mean of all ranks is half their number, however they are shared.
        let middle = (0..points.len()).map(weight).sum::<f64>() / 2.0;
        let (mut both, mut of_x, mut of_y) = (0.0, 0.0, 0.0);
        for index in 0..points.len() {
            let (x, y) = (x[index] - middle, y[index] - middle);
            both += weight(index) * x * y;
            of_x += weight(index) * x * x;
            of_y += weight(index) * y * y;
        }
        let scale = (of_x * of_y).sqrt();
        (scale > 0.0).then(|| (both / scale).clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uncertainty::SEED;

    fn points(all: &[(usize, f64, f64)]) -> RankedPoints {
        let mut points = RankedPoints::default();
        for (repository, x, y) in all {
            points.add(*repository, *x, *y);
        }
        points
    }

    fn check(all: &[(f64, f64)], expect: Option<f64>) {
        let all: Vec<_> = all.iter().map(|(x, y)| (0, *x, *y)).collect();
        let found = points(&all).correlation();
        match (found, expect) {
            (Some(found), Some(expect)) => {
                assert!((found - expect).abs() < 1e-12, "{found} and {expect}");
            }
            _ => assert_eq!(found, expect),
        }
    }

    /// Without ties it is 1 − 6 Σ d² / (n (n² − 1)): here d² adds up to 2, n is 4.
    /// With ties, ranks 1.5, 1.5, 3 against 1, 2, 3: 1.5 / √(1.5 · 2).
    #[test]
    fn by_hand() {
        check(
            &[(1.0, 10.0), (2.0, 20.0), (30.0, 45.0), (4.0, 40.0)],
            Some(1.0),
        );
        check(&[(1.0, 1.0), (2.0, 2.0), (3.0, 4.0), (4.0, 3.0)], Some(0.8));
        check(&[(1.0, 5.0), (2.0, 4.0), (3.0, -9.0)], Some(-1.0));
        check(
            &[(1.0, 1.0), (1.0, 2.0), (3.0, 3.0)],
            Some(1.5 / (1.5f64 * 2.0).sqrt()),
        );
        check(&[(1.0, 1.0), (1.0, 2.0)], None);
        check(&[(f64::NAN, 1.0), (1.0, 2.0), (2.0, f64::INFINITY)], None);
        check(&[], None);
    }

    /// Drawing a repository twice is having its points twice.
    #[test]
    fn weights_repeat_points() {
        let (a, b, c) = ((0, 1.0, 3.0), (1, 2.0, 1.0), (1, 3.0, 2.0));
        let once = points(&[a, b, c]);
        let repeated = points(&[a, b, c, b, c]).correlation().unwrap();
        let weighted = once
            .orders()
            .correlation(&once.points, &[1.0, 2.0])
            .unwrap();
        assert!(
            (repeated - weighted).abs() < 1e-12,
            "{repeated} and {weighted}"
        );
    }

    #[test]
    fn intervals_are_of_repositories() {
        let resamples = Resamples::new(3, 400, SEED);
        let rising: Vec<_> = (0..9).map(|n| (n % 3, n as f64, n as f64)).collect();
        let interval = points(&rising).interval(&resamples).unwrap();
        assert!((interval.low - 1.0).abs() < 1e-12 && (interval.high - 1.0).abs() < 1e-12);
        let mixed = points(&[
            (0, 1.0, 1.0),
            (0, 2.0, 2.0),
            (1, 3.0, 2.5),
            (1, 4.0, 0.0),
            (2, 2.5, 3.0),
            (2, 5.0, 1.0),
        ]);
        let interval = mixed.interval(&resamples).unwrap();
        let whole = mixed.correlation().unwrap();
        assert!(
            interval.low < whole && whole < interval.high,
            "{interval:?} {whole}"
        );
        assert_eq!(mixed.interval(&resamples), Some(interval));
        let one: Vec<_> = (0..9).map(|n| (1, n as f64, n as f64)).collect();
        assert_eq!(points(&one).interval(&resamples), None);
    }
}
