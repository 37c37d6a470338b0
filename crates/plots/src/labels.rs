//! Names in a picture: at the ends of lines, and beside points.

use crate::canvas::{Anchor, Area, Canvas, Frame};
use crate::paint::Paint;
use crate::text;

const LABEL_GAP: f64 = 15.0;
/// Pixels from the data area to a name.
const NAME: f64 = 13.0;
/// Pixels from the longest name to the edge of the picture: an ellipsis is wider
/// than the letter in its place.
const EDGE: f64 = 6.0;
const HEIGHT: f64 = 14.0;

pub(crate) struct End<'a> {
    /// Where the line ends, in pixels.
    pub at: (f64, f64),
    pub name: &'a str,
    pub paint: Paint,
}

/// Names right of the data area within this width, moved apart to avoid
/// overlaps. If space is short, the first ones have priority.
pub(crate) fn ends(canvas: &Canvas<'_>, frame: &Frame, mut ends: Vec<End<'_>>, width: f64) {
    let room = (f64::from(frame.inner_height()) / LABEL_GAP) as usize + 1;
    ends.truncate(room);
    ends.sort_by(|a, b| a.at.1.total_cmp(&b.at.1));
    let heights: Vec<f64> = ends.iter().map(|end| end.at.1).collect();
    let top = f64::from(frame.margins.top);
    let bottom = top + f64::from(frame.inner_height());
    let right = f64::from(frame.size.width - frame.margins.right);
    for (end, y) in ends.iter().zip(spread(&heights, top, bottom)) {
        canvas.pixel_line(&[end.at, (right + 9.0, y)], end.paint, 1.0);
        let name = text::line(end.name, width - NAME - EDGE);
        canvas.text(&name, (right + NAME, y), Anchor::Right, Paint::Ink);
    }
}

/// Heights at least [`LABEL_GAP`] apart and within bounds, in the same order
/// and near the wanted ones (which rise).
pub(crate) fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut placed = wanted.to_vec();
    let mut least = top;
    for y in &mut placed {
        *y = y.max(least);
        least = *y + LABEL_GAP;
    }
    let mut most = bottom;
    for y in placed.iter_mut().rev() {
        *y = y.min(most);
        most = *y - LABEL_GAP;
    }
    placed
}

/// Finds space for names beside points.
pub(crate) struct Places {
    taken: Vec<Area>,
    width: f64,
    height: f64,
}

impl Places {
    /// Only the points themselves are occupied.
    pub(crate) fn around(frame: &Frame, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let around = |(x, y): (f64, f64)| Area {
            left: x - 6.0,
            top: y - 6.0,
            right: x + 6.0,
            bottom: y + 6.0,
        };
        Self {
            taken: points.into_iter().map(around).collect(),
            width: f64::from(frame.size.width),
            height: f64::from(frame.size.height - frame.margins.bottom),
        }
    }

    /// Writes a name beside its point, or not at all if there is no space: its
    /// mark has the name too.
    pub(crate) fn write(&mut self, canvas: &Canvas<'_>, name: &str, at: (f64, f64), paint: Paint) {
        let width = text::width(name);
        let (x, y) = at;
        let (left, top) = (x - width / 2.0, y - HEIGHT / 2.0);
        let tries = [
            (Anchor::Right, (x + 10.0, y), (x + 10.0, top)),
            (Anchor::Left, (x - 10.0, y), (x - 10.0 - width, top)),
            (Anchor::Above, (x, y - 9.0), (left, y - 9.0 - HEIGHT)),
            (Anchor::Below, (x, y + 9.0), (left, y + 9.0)),
        ];
        for (anchor, point, (left, top)) in tries {
            let area = Area {
                left,
                top,
                right: left + width,
                bottom: top + HEIGHT,
            };
            if self.is_free(area) {
                self.taken.push(area);
                canvas.text(name, point, anchor, paint);
                return;
            }
        }
    }

    fn is_free(&self, area: Area) -> bool {
        let inside = area.left >= 0.0
            && area.top >= 0.0
            && area.right <= self.width
            && area.bottom <= self.height;
        inside && !self.taken.iter().any(|taken| taken.meets(area))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_kept_apart() {
        let placed = spread(&[10.0, 10.0, 11.0, 100.0], 0.0, 100.0);
        assert!(placed.windows(2).all(|w| w[1] - w[0] >= LABEL_GAP - 1e-9));
        assert!(placed[3] <= 100.0);
    }
}
