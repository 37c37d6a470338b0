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

/// Colours of series on a page are `--plot-1` to `--plot-8`.
pub const SERIES_COLOURS: usize = 8;

/// Distinguishable with all common colour vision deficiencies, each at least
/// 3:1 on white.
const ON_PAPER: [&str; SERIES_COLOURS] = [
    "#0b6e5f", "#c2571a", "#3f5fb5", "#a23b72", "#7a6a00", "#0f7fa8", "#7b4fb0", "#5d5a55",
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
    /// Its colour, and after eight of them a dash pattern too.
    Line,
    /// Its colour alone.
    Solid,
    /// A line in grey, behind others.
    Faint,
    /// A mark in grey.
    Grey,
}

/// Each with the colour that it has instead of the run's own.
const LOOKS: [(Look, Option<Paint>); 4] = [
    (Look::Line, None),
    (Look::Solid, None),
    (Look::Faint, Some(Paint::Axis)),
    (Look::Grey, Some(Paint::Goal)),
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
/// The first byte of every stand-in.
const STAND_IN: u8 = 0x5E;
const PLAIN_KIND: u8 = 0xC0;
/// The kinds of a look: this many times 256 numbers are told apart.
const RUN_KIND: u8 = 0xC1;
const KINDS: u8 = 12;

impl Paint {
    /// The number that represents it while plotters draws.
    pub(crate) fn stand_in(self) -> RGBColor {
        match self {
            Self::Run(number, look) => {
                let place = LOOKS.iter().position(|(of, _)| *of == look);
                let first = RUN_KIND + place.unwrap_or(0) as u8 * KINDS;
                let kind = first + (number / 256 % usize::from(KINDS)) as u8;
                RGBColor(STAND_IN, kind, (number % 256) as u8)
            }
            plain => RGBColor(STAND_IN, PLAIN_KIND, plain.place() as u8),
        }
    }

    fn place(self) -> usize {
        let place = PLAIN.iter().position(|(paint, ..)| *paint == self);
        place.unwrap_or(0)
    }

    fn from_stand_in(kind: u8, index: u8) -> Option<Self> {
        match kind {
            PLAIN_KIND => PLAIN.get(usize::from(index)).map(|(paint, ..)| *paint),
            _ => {
                let kind = kind.checked_sub(RUN_KIND)?;
                let (look, _) = LOOKS.get(usize::from(kind / KINDS))?;
                let number = usize::from(kind % KINDS) * 256 + usize::from(index);
                Some(Self::Run(number, *look))
            }
        }
    }

    fn colour(self, theme: Theme) -> String {
        if let Self::Run(number, look) = self {
            if let Some((_, Some(grey))) = LOOKS.iter().find(|(of, _)| *of == look) {
                return grey.colour(theme);
            }
            let colour = number % SERIES_COLOURS;
            return match theme {
                Theme::Page => format!("var(--plot-{})", colour + 1),
                Theme::Paper => ON_PAPER[colour].to_owned(),
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
            Self::Run(number, Look::Line) => match number / SERIES_COLOURS % 3 {
                0 => return None,
                1 => &[7, 4],
                _ => &[2, 4],
            },
            _ => return None,
        };
        let scaled: Vec<String> = lengths.iter().map(|l| (l * scale).to_string()).collect();
        Some(scaled.join(" "))
    }
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
        let paint = stand_in_bytes(value).and_then(|(k, i)| Paint::from_stand_in(k, i));
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
        if let (Paint::Run(number, _), Theme::Page) = (paint, theme) {
            painted.push_str(&format!(" data-line=\"{number}\""));
        }
        rest = &found[10..];
    }
    painted.push_str(rest);
    painted
}

/// Kind and index of a stand-in written as six hexadecimal digits.
fn stand_in_bytes(hex: &str) -> Option<(u8, u8)> {
    let byte = |range| u8::from_str_radix(hex.get(range)?, 16).ok();
    (byte(0..2)? == STAND_IN).then_some(())?;
    Some((byte(2..4)?, byte(4..6)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_become_paints() {
        let RGBColor(r, g, b) = Paint::Run(9, Look::Line).stand_in();
        let svg = format!("<path stroke=\"#{r:02X}{g:02X}{b:02X}\" fill=\"#00FF00\"/>");
        assert_eq!(
            put_paints(&svg, Theme::Page, 4),
            "<path stroke=\"var(--plot-2)\" stroke-dasharray=\"28 16\" data-line=\"9\" fill=\"#00FF00\"/>"
        );
        let paper = put_paints(&svg, Theme::Paper, 4);
        assert!(paper.contains("stroke=\"#c2571a\"") && !paper.contains("data-line"));
    }

    #[test]
    fn text_that_looks_like_a_stand_in_is_left_alone() {
        let svg = "<text>#5EC001 =&quot;#5EC001&quot;</text><x a=\"#\"/>";
        assert_eq!(put_paints(svg, Theme::Page, 4), svg);
    }

    #[test]
    fn every_paint_has_its_own_stand_in() {
        for (paint, ..) in PLAIN {
            let RGBColor(_, kind, index) = paint.stand_in();
            assert_eq!(Paint::from_stand_in(kind, index), Some(paint));
        }
        for (look, _) in LOOKS {
            for number in [0, 7, 255, 256, 3_071] {
                let paint = Paint::Run(number, look);
                let RGBColor(_, kind, index) = paint.stand_in();
                assert_eq!(Paint::from_stand_in(kind, index), Some(paint));
            }
        }
    }
}
