//! Colours. plotters writes colours as numbers, but figures need CSS variables
//! on a page (so that one picture serves light and dark) and concrete colours
//! on paper. So each paint has a number that represents it while drawing and is
//! replaced afterwards.

use plotters::style::RGBColor;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Inside a page: colours are CSS variables of the style sheet.
    Page,
    /// Standalone (download, print): concrete colours on white.
    Paper,
}

/// Colours of series on a page are `--plot-1` to `--plot-8`; the first is the
/// human baseline's.
pub const SERIES_COLOURS: usize = 8;
/// The colours, and as many shapes, of providers.
const OF_PROVIDERS: usize = SERIES_COLOURS - 1;
/// The pairs of colour and shape: the human baseline's and those of providers.
pub(crate) const PAIRS: usize = 1 + OF_PROVIDERS * OF_PROVIDERS;
/// The dashes of the runs of one pair, in turn.
pub(crate) const DASHES: [&[u32]; 5] = [&[], &[7, 4], &[2, 4], &[9, 3, 2, 3], &[9, 3, 2, 3, 2, 3]];

/// Distinguishable with all common colour vision deficiencies, each at least
/// 3:1 on white.
const ON_PAPER: [&str; SERIES_COLOURS] = [
    "#0b6e5f", "#b6841a", "#1c8bfd", "#091c7d", "#600234", "#e757aa", "#8333a7", "#b61c15",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Ink,
    Muted,
    Grid,
    Axis,
    Surface,
    Bad,
    /// The line of a goal, dashed.
    Goal,
    /// The line that follows a control.
    Cursor,
    /// A run, by its number in the picture.
    Run(usize, Look),
}

/// How a run is drawn. On a page every element of it says its number
/// (`data-line`), so that the page can pick it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Its colour, and from the second run of a provider on dashes too.
    Line,
    /// Its colour alone.
    Solid,
    /// A line in grey, behind others.
    Faint,
    /// A mark in grey.
    Grey,
    /// Its colour alone, for what is of no run.
    Key,
}

/// Each with the colour that it has instead of the run's own.
const LOOKS: [(Look, Option<Paint>); 5] = [
    (Look::Line, None),
    (Look::Solid, None),
    (Look::Faint, Some(Paint::Axis)),
    (Look::Grey, Some(Paint::Goal)),
    (Look::Key, None),
];

/// All paints but those of runs, with their CSS variables and their colours on
/// paper.
const PLAIN: [(Paint, &str, &str); 8] = [
    (Paint::Ink, "--ink", "#1c1b19"),
    (Paint::Muted, "--ink-2", "#5f5b54"),
    (Paint::Grid, "--plot-grid", "#eceae5"),
    (Paint::Axis, "--plot-axis", "#c9c5bd"),
    (Paint::Surface, "--surface", "#ffffff"),
    (Paint::Bad, "--bad", "#b3402f"),
    (Paint::Goal, "--plot-goal", "#857f75"),
    (Paint::Cursor, "--accent", "#0b6e5f"),
];
/// The first byte of the stand-ins that are not of runs; those of each look have
/// one of the following. The others are a number.
const PLAIN_KIND: u8 = 0x5A;
const RUN_KIND: u8 = 0x5B;

/// The colour of a run with this number, from 0. The first providers have a
/// colour and a shape each; further ones combine them anew.
pub(crate) fn colour(number: usize) -> usize {
    let of_provider = |pair: usize| 1 + pair % OF_PROVIDERS;
    (number % PAIRS).checked_sub(1).map_or(0, of_provider)
}

/// The shape of its marker, from 0.
pub(crate) fn shape(number: usize) -> usize {
    let of_provider = |pair: usize| 1 + (pair + pair / OF_PROVIDERS) % OF_PROVIDERS;
    (number % PAIRS).checked_sub(1).map_or(0, of_provider)
}

/// Which of the runs of its pair it is, from 0.
pub(crate) fn nth(number: usize) -> usize {
    number / PAIRS
}

impl Paint {
    /// The number that represents it while plotters draws.
    pub(crate) fn stand_in(self) -> RGBColor {
        match self {
            Self::Run(number, look) => {
                let place = LOOKS.iter().position(|(of, _)| *of == look);
                let [high, low] = (number as u16).to_be_bytes();
                RGBColor(RUN_KIND + place.unwrap_or(0) as u8, high, low)
            }
            plain => RGBColor(PLAIN_KIND, 0, plain.place() as u8),
        }
    }

    fn place(self) -> usize {
        let place = PLAIN.iter().position(|(paint, ..)| *paint == self);
        place.unwrap_or(0)
    }

    fn from_stand_in(RGBColor(kind, high, low): RGBColor) -> Option<Self> {
        let number = usize::from(u16::from_be_bytes([high, low]));
        match kind {
            PLAIN_KIND => PLAIN.get(number).map(|(paint, ..)| *paint),
            _ => {
                let (look, _) = LOOKS.get(usize::from(kind.checked_sub(RUN_KIND)?))?;
                Some(Self::Run(number, *look))
            }
        }
    }

    fn colour(self, theme: Theme) -> String {
        if let Self::Run(number, look) = self {
            if let Some((_, Some(grey))) = LOOKS.iter().find(|(of, _)| *of == look) {
                return grey.colour(theme);
            }
            return match theme {
                Theme::Page => of_page(number),
                Theme::Paper => ON_PAPER[colour(number)].to_owned(),
            };
        }
        let (_, variable, on_paper) = PLAIN[self.place()];
        match theme {
            Theme::Page => format!("var({variable})"),
            Theme::Paper => on_paper.to_owned(),
        }
    }

    /// Dashes of its strokes, in picture units.
    fn dashes(self, scale: u32) -> Option<String> {
        let lengths: &[u32] = match self {
            Self::Goal => &[5, 4],
            Self::Cursor => &[2, 3],
            Self::Run(number, Look::Line) => DASHES[nth(number) % DASHES.len()],
            _ => &[],
        };
        if lengths.is_empty() {
            return None;
        }
        let scaled: Vec<String> = lengths.iter().map(|l| (l * scale).to_string()).collect();
        Some(scaled.join(" "))
    }
}

fn of_page(number: usize) -> String {
    format!("var(--plot-{})", colour(number) + 1)
}

/// Replaces the stand-ins with the paints.
///
/// Only whole attribute values are considered. Text cannot contain one:
/// plotters escapes quotation marks in text.
pub(crate) fn put_paints(svg: &str, theme: Theme, scale: u32) -> String {
    let mut painted = String::with_capacity(svg.len() * 5 / 4);
    let mut rest = svg;
    while let Some(at) = rest.find("=\"#") {
        let (before, found) = rest.split_at(at);
        painted.push_str(before);
        let value = found.get(3..9).unwrap_or_default();
        let paint = rgb(value).and_then(Paint::from_stand_in);
        let Some(paint) = paint else {
            painted.push_str(&found[..3]);
            rest = &found[3..];
            continue;
        };
        painted.push_str(&format!("=\"{}\"", paint.colour(theme)));
        if before.ends_with("stroke")
            && let Some(dashes) = paint.dashes(scale)
        {
            painted.push_str(&format!(" stroke-dasharray=\"{dashes}\""));
        }
        if let (Paint::Run(number, look), Theme::Page) = (paint, theme)
            && look != Look::Key
        {
            painted.push_str(&format!(" data-line=\"{number}\""));
            if matches!(look, Look::Faint | Look::Grey) {
                // The page gives it to a grey line that is picked out.
                painted.push_str(&format!(" color=\"{}\"", of_page(number)));
            }
        }
        rest = &found[10..];
    }
    painted.push_str(rest);
    painted
}

/// A colour written as six hexadecimal digits.
fn rgb(hex: &str) -> Option<RGBColor> {
    let byte = |range| u8::from_str_radix(hex.get(range)?, 16).ok();
    Some(RGBColor(byte(0..2)?, byte(2..4)?, byte(4..6)?))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn stand_ins_become_paints() {
        let second_of_the_first = PAIRS + 1;
        let RGBColor(r, g, b) = Paint::Run(second_of_the_first, Look::Line).stand_in();
        let svg = format!("<path stroke=\"#{r:02X}{g:02X}{b:02X}\" fill=\"#00FF00\"/>");
        assert_eq!(
            put_paints(&svg, Theme::Page, 4),
            "<path stroke=\"var(--plot-2)\" stroke-dasharray=\"28 16\" data-line=\"51\" fill=\"#00FF00\"/>"
        );
        let paper = put_paints(&svg, Theme::Paper, 4);
        let stroke = format!("stroke=\"{}\"", ON_PAPER[1]);
        assert!(paper.contains(&stroke) && !paper.contains("data-line"));
    }

    #[test]
    fn text_that_looks_like_a_stand_in_is_left_alone() {
        let svg = "<text>#5B0001 =&quot;#5B0001&quot;</text><x a=\"#\"/>";
        assert_eq!(put_paints(svg, Theme::Page, 4), svg);
    }

    #[test]
    fn every_paint_has_its_own_stand_in() {
        for (paint, ..) in PLAIN {
            assert_eq!(Paint::from_stand_in(paint.stand_in()), Some(paint));
        }
        for (look, _) in LOOKS {
            for number in [0, 7, 255, 256, 65_535] {
                let paint = Paint::Run(number, look);
                assert_eq!(Paint::from_stand_in(paint.stand_in()), Some(paint));
            }
        }
    }

    /// A provider beyond the seventh shares its colour with one and its shape with
    /// another.
    #[test]
    fn every_pair_of_colour_and_shape_is_another() {
        let pairs: HashSet<(usize, usize)> = (0..PAIRS).map(|n| (colour(n), shape(n))).collect();
        assert_eq!(pairs.len(), PAIRS);
        assert_eq!((colour(0), shape(0)), (0, 0));
        assert_eq!([1, 7, 8].map(colour), [1, 7, 1]);
        assert_eq!([1, 7, 8].map(shape), [1, 7, 2]);
        assert_eq!([0, PAIRS - 1, PAIRS].map(nth), [0, 0, 1]);
    }
}
