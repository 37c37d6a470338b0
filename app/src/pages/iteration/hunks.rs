//! The changed lines of a file. A sign before each line shows added and removed
//! lines, underlining marks changes within a line, and both have text for
//! screen readers: colour is never the only sign.

use leptos::either::{Either, EitherOf4};
use leptos::prelude::*;
use swe_ci_core::diff::{Hunk, Line, Pair, Piece, Sign, Token};

use crate::components::CollectAny;
use crate::format;

/// Unified. Adjacent lines of one kind share an element, so that a long diff is
/// not ten thousand of them.
#[component]
pub(super) fn Unified(hunks: Vec<Hunk>, label: String) -> impl IntoView {
    let hunk = |hunk: Hunk| {
        let numbers = |of: fn(&Line) -> Option<u32>| {
            let number = |line: &Line| of(line).map_or(String::new(), |n| n.to_string());
            let numbers: Vec<String> = hunk.lines.iter().map(number).collect();
            view! { <span class="diff-numbers" aria-hidden="true">{numbers.join("\n")}</span> }
        };
        let (old, new) = (numbers(|line| line.old), numbers(|line| line.new));
        let kinds = hunk.lines.chunk_by(|a, b| a.sign == b.sign);
        let lines = kinds.map(|lines| of_a_kind(lines[0].sign, in_a_row(lines)));
        let lines = lines.collect_any();
        view! {
            <Head head=hunk.head.clone()/>
            <div class="diff-hunk">{old}{new}<span class="diff-lines">{lines}</span></div>
        }
    };
    let hunks = hunks.into_iter().map(hunk).collect_any();
    view! { <div class="diff" tabindex="0" role="region" aria-label=label>{hunks}</div> }
}

/// Before on the left, after on the right.
#[component]
pub(super) fn SideBySide(hunks: Vec<Hunk>, label: String) -> impl IntoView {
    let hunk = |hunk: Hunk| {
        let rows = hunk.pairs().into_iter().map(row).collect_any();
        let head = hunk.head.clone();
        view! {
            <tbody>
                <tr><th colspan="4" scope="rowgroup"><Head head/></th></tr>
                {rows}
            </tbody>
        }
    };
    let hunks = hunks.into_iter().map(hunk).collect_any();
    view! {
        <div class="diff" tabindex="0" role="region" aria-label=label>
            <table class="diff-split">
                <colgroup>
                    <col class="diff-number"/>
                    <col/>
                    <col class="diff-number"/>
                    <col/>
                </colgroup>
                <thead class="visually-hidden">
                    <tr>
                        <th scope="col">"Line before"</th>
                        <th scope="col">"Before"</th>
                        <th scope="col">"Line after"</th>
                        <th scope="col">"After"</th>
                    </tr>
                </thead>
                {hunks}
            </table>
        </div>
    }
}

fn row((before, after): Pair<'_>) -> impl IntoView + use<> {
    view! { <tr>{half(before, |line| line.old)}{half(after, |line| line.new)}</tr> }
}

/// One side of a row: the number and the line.
fn half(line: Option<&Line>, number: fn(&Line) -> Option<u32>) -> impl IntoView + use<> {
    match line {
        Some(line) => Either::Left(view! {
            <td class="diff-number">{number(line)}</td>
            <td class="diff-half">{of_a_kind(line.sign, in_a_row(std::slice::from_ref(line)))}</td>
        }),
        None => Either::Right(view! { <td class="diff-number"></td><td class="diff-none"></td> }),
    }
}

/// `@@ -1,3 +1,4 @@`, and in words.
#[component]
fn Head(head: String) -> impl IntoView {
    view! {
        <span class="diff-head">
            <span class="visually-hidden">"Changed lines "</span>
            {head}
        </span>
    }
}

fn of_a_kind(sign: Sign, pieces: Vec<Piece>) -> AnyView {
    let piece = |piece: Piece| match (piece.marked, piece.token.map(class)) {
        (true, Some(class)) => EitherOf4::A(view! { <mark class=class>{piece.text}</mark> }),
        (true, None) => EitherOf4::B(view! { <mark>{piece.text}</mark> }),
        (false, Some(class)) => EitherOf4::C(view! { <span class=class>{piece.text}</span> }),
        (false, None) => EitherOf4::D(piece.text),
    };
    let text = pieces.into_iter().map(piece).collect_any();
    let hidden = |what: &'static str| view! { <span class="visually-hidden">{what}</span> };
    match sign {
        Sign::Added => view! { <ins>{hidden("Added: ")}{text}</ins> }.into_any(),
        Sign::Removed => view! { <del>{hidden("Removed: ")}{text}</del> }.into_any(),
        Sign::Same => view! { <span>{text}</span> }.into_any(),
    }
}

/// The CSS class for a token's colour.
fn class(token: Token) -> &'static str {
    match token {
        Token::Keyword => "t-keyword",
        Token::String => "t-string",
        Token::Comment => "t-comment",
        Token::Constant => "t-constant",
        Token::Function => "t-function",
        Token::Type => "t-type",
    }
}

/// Lines with their signs as one text, in as few pieces as possible.
fn in_a_row(lines: &[Line]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut push = |text: &str, marked: bool, token: Option<Token>| match pieces.last_mut() {
        Some(last) if (last.marked, last.token) == (marked, token) => last.text.push_str(text),
        _ => pieces.push(Piece {
            text: text.to_owned(),
            marked,
            token,
        }),
    };
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            push("\n", false, None);
        }
        push(sign(line.sign), false, None);
        for piece in &line.pieces {
            push(&piece.text, piece.marked, piece.token);
        }
        if line.more > 0 {
            let more = format::count(line.more, "more character");
            push(&format!(" […and {more}]"), false, None);
        }
        if line.unended {
            push(" [no newline at the end of the file]", false, None);
        }
    }
    pieces
}

fn sign(sign: Sign) -> &'static str {
    match sign {
        Sign::Added => "+",
        Sign::Removed => "-",
        Sign::Same => " ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::diff::hunks;

    #[test]
    fn lines_of_a_kind_in_as_few_pieces_as_it_takes() {
        let text = "@@ -1,3 +1,3 @@\n a\n-b 1\n-c\n+b 2\n\\ No newline at end of file\n";
        let at = text.find("b 1").unwrap() as u32 + 2;
        let found = hunks(text, &[(at, at + 1)], &[]);
        let lines = &found[0].lines;
        let told = |lines: &[Line]| -> Vec<(String, bool)> {
            let pieces = in_a_row(lines).into_iter();
            pieces.map(|piece| (piece.text, piece.marked)).collect()
        };
        let piece = |text: &str, marked| (text.to_owned(), marked);
        assert_eq!(told(&lines[..1]), [piece(" a", false)]);
        assert_eq!(
            told(&lines[1..3]),
            [piece("-b ", false), piece("1", true), piece("\n-c", false)]
        );
        assert_eq!(
            told(&lines[3..]),
            [piece("+b 2 [no newline at the end of the file]", false)]
        );
    }

    const CODE: &str = "@@ -1,2 +1,2 @@\n # a\n-x = \"<script>\"\n+x = \"<script>&\"\n";

    /// The markup of code with a coloured comment and two coloured strings, of
    /// which the end of the second is new; without hydration markers.
    fn markup(split: bool) -> String {
        let range = |word: &str| {
            let at = CODE.find(word).unwrap();
            (at as u32, (at + word.len()) as u32)
        };
        let coloured = |(word, token)| {
            let (from, to) = range(word);
            swe_ci_core::diff::Coloured { from, to, token }
        };
        let tokens = [
            ("# a", Token::Comment),
            ("\"<script>\"", Token::String),
            ("\"<script>&\"", Token::String),
        ];
        let found = hunks(CODE, &[range("&")], &tokens.map(coloured));
        let owner = Owner::new();
        let html = owner.with(|| match split {
            true => view! { <SideBySide hunks=found label="a".to_owned()/> }.to_html(),
            false => view! { <Unified hunks=found label="a".to_owned()/> }.to_html(),
        });
        html.replace("<!>", "")
    }

    #[test]
    fn code_is_coloured_and_only_text() {
        let (same, went, came) = (
            "<span> <span class=\"t-comment\"># a</span></span>",
            "-x = <span class=\"t-string\">\"&lt;script&gt;\"</span></del>",
            "+x = <span class=\"t-string\">\"&lt;script&gt;</span>\
             <mark class=\"t-string\">&amp;</mark><span class=\"t-string\">\"</span></ins>",
        );
        for split in [false, true] {
            let html = markup(split);
            for expect in [same, went, came] {
                assert!(html.contains(expect), "{expect}\n{html}");
            }
            assert!(!html.contains("<script"), "{html}");
        }
    }
}
