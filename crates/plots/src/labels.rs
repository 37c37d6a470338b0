//! Names in a picture: at the ends of lines, and beside points.

use crate::canvas::{Anchor, Area, Canvas, Frame};
use crate::paint::Paint;
use crate::text;

pub(crate) const LABEL_GAP: f64 = 15.0;
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
    /// Names cross lines only where there is no other space.
    lines: Vec<Area>,
    width: f64,
    height: f64,
}

impl Places {
    /// Around these points, and beside these level and upright lines; in pixels.
    pub(crate) fn around(
        frame: &Frame,
        points: impl IntoIterator<Item = (f64, f64)>,
        lines: impl IntoIterator<Item = [(f64, f64); 2]>,
    ) -> Self {
        let along = |[from, to]: [(f64, f64); 2]| Area {
            left: from.0.min(to.0) - 1.0,
            top: from.1.min(to.1) - 1.0,
            right: from.0.max(to.0) + 1.0,
            bottom: from.1.max(to.1) + 1.0,
        };
        let around = |(x, y): (f64, f64)| Area {
            left: x - 6.0,
            top: y - 6.0,
            right: x + 6.0,
            bottom: y + 6.0,
        };
        Self {
            taken: points.into_iter().map(around).collect(),
            lines: lines.into_iter().map(along).collect(),
            width: f64::from(frame.size.width),
            height: f64::from(frame.size.height - frame.margins.bottom),
        }
    }

    /// Takes a place beside a point for a name, if there is space.
    fn take(&mut self, name: &str, at: (f64, f64)) -> Option<Place> {
        let places = places(text::width(name), at);
        let is_free = |place: &Place| self.is_free(place.area);
        let is_clear = |place: &Place| is_free(place) && !self.crosses_line(place.area);
        let clear = places.iter().position(is_clear);
        let chosen = clear.or_else(|| places[..BESIDE].iter().position(is_free));
        let place = places.into_iter().nth(chosen?)?;
        self.taken.push(place.area);
        Some(place)
    }

    /// Places names beside their points. Those without space have a letter in their
    /// place: `key` is called with the index of the name and the letter.
    pub(crate) fn names(
        mut self,
        names: &[(&str, (f64, f64))],
        mut key: impl FnMut(usize, char),
    ) -> Vec<Written> {
        let mut written: Vec<Written> = Vec::new();
        let mut without = Vec::new();
        for (index, (name, at)) in names.iter().enumerate() {
            match self.take(name, *at) {
                Some(place) => written.push(place.written((*name).to_owned(), index)),
                None => without.push(index),
            }
        }
        for (index, letter) in without.into_iter().zip(('a'..='z').chain('A'..='Z')) {
            let (_, at) = names[index];
            let text = letter.to_string();
            // In a crowd, a letter over another mark is better than none.
            let [first, ..] = places(text::width(&text), at);
            let place = self.take(&text, at).unwrap_or(first);
            written.push(place.written(text, index));
            key(index, letter);
        }
        written
    }

    fn crosses_line(&self, area: Area) -> bool {
        self.lines.iter().any(|line| line.meets(area))
    }

    fn is_free(&self, area: Area) -> bool {
        let inside = area.left >= 0.0
            && area.top >= 0.0
            && area.right <= self.width
            && area.bottom <= self.height;
        inside && !self.taken.iter().any(|taken| taken.meets(area))
    }
}

/// A name, or a letter that stands for it, in its place.
pub(crate) struct Written {
    /// Which of the names.
    pub index: usize,
    text: String,
    anchor: Anchor,
    at: (f64, f64),
}

impl Written {
    pub(crate) fn draw(&self, canvas: &Canvas<'_>, paint: Paint) {
        canvas.text(&self.text, self.at, self.anchor, paint);
    }
}

/// Where a name may stand.
struct Place {
    anchor: Anchor,
    at: (f64, f64),
    area: Area,
}

impl Place {
    fn written(self, text: String, index: usize) -> Written {
        Written {
            index,
            text,
            anchor: self.anchor,
            at: self.at,
        }
    }
}

/// The first places: right, left, above and below of the point.
const BESIDE: usize = 4;

/// Places of a name of this width around a point: beside it, and in the corners
/// between its lines.
fn places(width: f64, (x, y): (f64, f64)) -> [Place; 8] {
    let place = |anchor, x, y| {
        let (left, top) = match anchor {
            Anchor::Right => (x, y - HEIGHT / 2.0),
            Anchor::Left => (x - width, y - HEIGHT / 2.0),
            Anchor::Above => (x - width / 2.0, y - HEIGHT),
            Anchor::Below => (x - width / 2.0, y),
        };
        Place {
            anchor,
            at: (x, y),
            area: Area {
                left,
                top,
                right: left + width,
                bottom: top + HEIGHT,
            },
        }
    };
    [
        place(Anchor::Right, x + 10.0, y),
        place(Anchor::Left, x - 10.0, y),
        place(Anchor::Above, x, y - 9.0),
        place(Anchor::Below, x, y + 9.0),
        place(Anchor::Right, x + 8.0, y - 10.0),
        place(Anchor::Right, x + 8.0, y + 10.0),
        place(Anchor::Left, x - 8.0, y - 10.0),
        place(Anchor::Left, x - 8.0, y + 10.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        Frame {
            size: crate::Size {
                width: 200,
                height: 100,
            },
            margins: crate::canvas::Margins::new(0, 0, 0, 0),
            x: 0.0..=1.0,
            y: 0.0..=1.0,
        }
    }

    #[test]
    fn names_stand_in_the_corners_between_lines() {
        let at = (100.0, 50.0);
        let lines = [
            [(20.0, 50.0), (180.0, 50.0)],
            [(100.0, 10.0), (100.0, 90.0)],
        ];
        let frame = frame();
        let names = Places::around(&frame, [at], lines);
        let clear = |place: &Place| names.is_free(place.area) && !names.crosses_line(place.area);
        let clear = places(60.0, at).map(|place| clear(&place));
        assert_eq!(clear, [false, false, false, false, true, true, true, true]);
    }

    #[test]
    fn a_name_without_space_has_a_letter() {
        let frame = frame();
        let points = [(100.0, 50.0), (100.0, 50.0), (20.0, 50.0)];
        let names = [
            "short",
            "a name that is much too long for a small picture",
            "left",
        ];
        let names: Vec<(&str, (f64, f64))> = names.into_iter().zip(points).collect();
        let mut key = Vec::new();
        let places = Places::around(&frame, points, []);
        let written = places.names(&names, |index, letter| key.push((index, letter)));
        assert_eq!((written.len(), key), (3, vec![(1, 'a')]));
    }

    #[test]
    fn labels_are_kept_apart() {
        let placed = spread(&[10.0, 10.0, 11.0, 100.0], 0.0, 100.0);
        assert!(placed.windows(2).all(|w| w[1] - w[0] >= LABEL_GAP - 1e-9));
        assert!(placed[3] <= 100.0);
    }
}
