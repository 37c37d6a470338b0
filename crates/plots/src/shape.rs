//! Marker shapes: both shape and colour identify a series.

/// The corners of a marker around a point, or none for a circle.
pub(crate) fn corners(shape: usize, (x, y): (i32, i32), radius: i32) -> Option<Vec<(i32, i32)>> {
    let around = |points: &[(f64, f64)]| {
        let place = |(dx, dy): &(f64, f64)| {
            let r = f64::from(radius);
            (x + (dx * r).round() as i32, y + (dy * r).round() as i32)
        };
        Some(points.iter().map(place).collect())
    };
    match shape % 6 {
        0 => None,
        1 => around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => around(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => around(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        4 => around(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        _ => around(&[
            (0.0, -1.15),
            (1.1, -0.35),
            (0.7, 0.95),
            (-0.7, 0.95),
            (-1.1, -0.35),
        ]),
    }
}
