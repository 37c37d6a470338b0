//! Texts of a message: folded when they are long, with search hits marked.

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::conversation::{Text, hits};

use crate::components::CollectAny;
use crate::format;

/// Longer texts are folded after this many lines or bytes.
pub(super) const SHOWN_LINES: usize = 40;
pub(super) const SHOWN_BYTES: usize = 6_000;

/// A text, as much of it as the page has.
#[component]
pub(super) fn FoldedText(content: Text, q: StoredValue<String>) -> impl IntoView {
    let text = visible(content.text.trim_end()).into_owned();
    let (shown, folded) = folded(&text);
    let folded = (!folded.is_empty()).then(|| {
        let open = q.with_value(|q| hits(folded, q).next().is_some());
        let more = more(folded);
        let rest = marked(folded, q);
        view! {
            <details class="said-more" open=open>
                <summary>{more}</summary>
                <div class="said">{rest}</div>
            </details>
        }
    });
    view! {
        {left_out(content.before, "before")}
        <div class="said">{marked(shown, q)}</div>
        {folded}
        {left_out(content.after, "after")}
    }
}

/// "12 kB before this are in the recording."
pub(super) fn left_out(bytes: u64, place: &'static str) -> Option<impl IntoView> {
    (bytes > 0).then(|| {
        let kilobytes = format::thousands(bytes.div_ceil(1_000));
        view! { <p class="quiet">{format!("{kilobytes} kB {place} this are in the recording.")}</p> }
    })
}

pub(super) fn more(folded: &str) -> String {
    match folded.lines().count() {
        1 => "The rest of it".to_owned(),
        lines => format::count(lines, "more line"),
    }
}

/// The visible and the folded part, split between lines if possible.
fn folded(text: &str) -> (&str, &str) {
    let lines = text.split_inclusive('\n').take(SHOWN_LINES);
    let mut end = lines.map(str::len).sum();
    if end > SHOWN_BYTES {
        end = text.floor_char_boundary(SHOWN_BYTES);
        end = text[..end].rfind('\n').map_or(end, |at| at + 1);
    }
    let (shown, rest) = text.split_at(end);
    // One or two lines are not worth folding.
    match rest.lines().count() {
        ..3 if rest.len() < 500 => (text, ""),
        _ => (shown.trim_end_matches('\n'), rest),
    }
}

/// The text with search hits marked.
pub(super) fn marked(text: &str, q: StoredValue<String>) -> impl IntoView + use<> {
    let pieces = q.with_value(|q| pieces(text, q));
    let view = |(is_hit, piece): (bool, String)| match is_hit {
        true => view! { <mark>{piece}</mark> }.into_any(),
        false => piece.into_any(),
    };
    pieces.into_iter().map(view).collect_any()
}

/// The text in pieces, each a hit or not.
pub(super) fn pieces(text: &str, q: &str) -> Vec<(bool, String)> {
    let mut pieces = Vec::new();
    let mut end = 0;
    for hit in hits(text, q) {
        pieces.push((false, text[end..hit.start].to_owned()));
        pieces.push((true, text[hit.clone()].to_owned()));
        end = hit.end;
    }
    pieces.push((false, text[end..].to_owned()));
    pieces.retain(|(_, piece)| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_folded_between_lines() {
        let check = |text: &str, shown: usize, rest: usize| {
            let (first, more) = folded(text);
            assert_eq!((first.len(), more.len()), (shown, rest));
        };
        check("", 0, 0);
        check(&"x\n".repeat(40), 80, 0);
        check(&"x\n".repeat(42), 84, 0);
        check(&"x\n".repeat(50), 79, 20);
        check(&"y".repeat(7_000), 6_000, 1_000);
        check(
            &format!("{}\n{}", "y".repeat(5_000), "z".repeat(9_000)),
            5_000,
            9_000,
        );
        check(&"é".repeat(4_000), 6_000, 2_000);
    }

    #[test]
    fn what_was_looked_for_is_apart() {
        let check = |text: &str, q: &str, expect: &[(bool, &str)]| {
            let seen = pieces(text, q);
            let seen: Vec<_> = seen
                .iter()
                .map(|(hit, text)| (*hit, text.as_str()))
                .collect();
            assert_eq!(seen, expect);
        };
        check("an egg", "", &[(false, "an egg")]);
        check(
            "An egg, an",
            "AN",
            &[(true, "An"), (false, " egg, "), (true, "an")],
        );
        check("<b>", "b", &[(false, "<"), (true, "b"), (false, ">")]);
        check("", "x", &[]);
    }
}
