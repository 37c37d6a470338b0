//! The markers of runs: shapes and fillings.

use crate::paint;

/// The inside of a marker's outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filling {
    None,
    Full,
    Dot,
}

impl Filling {
    /// Of a run with this number: it tells those of one colour and shape apart.
    pub(crate) fn of(number: usize) -> Self {
        match paint::nth(number) % 3 {
            0 => Self::None,
            1 => Self::Full,
            _ => Self::Dot,
        }
    }
}

/// A marker around 0 as the data of a `<path>`.
pub(crate) fn outline(shape: usize, radius: i32) -> String {
    match corners(shape, (0, 0), radius) {
        None => {
            let (across, r) = (2 * radius, radius);
            format!("M-{r} 0a{r} {r} 0 1 1 {across} 0a{r} {r} 0 1 1-{across} 0z")
        }
        Some(corners) => {
            let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{x} {y}")).collect();
            format!("M{}z", corners.join("L"))
        }
    }
}

/// The corners of a marker around a point, or none for a circle: both shape and
/// colour identify a series.
pub(crate) fn corners(shape: usize, (x, y): (i32, i32), radius: i32) -> Option<Vec<(i32, i32)>> {
    let around = |points: &[(f64, f64)]| {
        let place = |(dx, dy): &(f64, f64)| {
            let r = f64::from(radius);
            (x + (dx * r).round() as i32, y + (dy * r).round() as i32)
        };
        Some(points.iter().map(place).collect())
    };
    match shape % 8 {
        0 => None,
        1 => around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => around(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => around(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        4 => around(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        5 => around(&[
            (0.0, -1.15),
            (1.1, -0.35),
            (0.7, 0.95),
            (-0.7, 0.95),
            (-1.1, -0.35),
        ]),
        // A plus, and a star with four tips.
        6 => around(&[
            (-0.45, -1.2),
            (0.45, -1.2),
            (0.45, -0.45),
            (1.2, -0.45),
            (1.2, 0.45),
            (0.45, 0.45),
            (0.45, 1.2),
            (-0.45, 1.2),
            (-0.45, 0.45),
            (-1.2, 0.45),
            (-1.2, -0.45),
            (-0.45, -0.45),
        ]),
        _ => around(&[
            (0.0, -1.5),
            (0.45, -0.45),
            (1.5, 0.0),
            (0.45, 0.45),
            (0.0, 1.5),
            (-0.45, 0.45),
            (-1.5, 0.0),
            (-0.45, -0.45),
        ]),
    }
}
