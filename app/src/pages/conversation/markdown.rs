//! Markdown of models and prompts. It becomes text with a few plain elements:
//! what somebody wrote as HTML, links and pictures stays text.

use std::ops::Range;

use leptos::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use swe_ci_core::text::visible;
use swe_ci_views::conversation::{Text, hits};

use super::text::{SHOWN_BYTES, SHOWN_LINES, left_out, more, pieces};
use crate::format;

/// A text, as much of it as the page has; long ones are folded between blocks.
#[component]
pub(super) fn Markdown(content: Text, q: StoredValue<String>) -> impl IntoView {
    let text = visible(&content.text).into_owned();
    let (shown, folded) = text.split_at(end_of_shown(&text));
    let html = |text: &str| q.with_value(|q| html(text, q));
    let folded = (!folded.trim().is_empty()).then(|| {
        let open = q.with_value(|q| hits(folded, q).next().is_some());
        view! {
            <details class="said-more" open=open>
                <summary>{more(folded)}</summary>
                <div class="said-rich" inner_html=html(folded)></div>
            </details>
        }
    });
    view! {
        {left_out(content.before, "before")}
        <div class="said-rich" inner_html=html(shown)></div>
        {folded}
        {left_out(content.after, "after")}
    }
}

/// Where the part ends that is not folded: after the block with which it has
/// grown long.
fn end_of_shown(text: &str) -> usize {
    let is_long = |end: usize| end > SHOWN_BYTES || text[..end].lines().count() > SHOWN_LINES;
    let end = blocks(text)
        .map(|block| block.end)
        .find(|end| is_long(*end));
    let end = end.unwrap_or(text.len());
    match text[end..].lines().count() {
        ..3 => text.len(),
        _ => end,
    }
}

/// Paragraphs, lists, code blocks: the outermost elements, by their bytes.
fn blocks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut depth = 0_u32;
    let events = Parser::new(text).into_offset_iter();
    events.filter_map(move |(event, range)| {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        let ends = matches!(event, Event::End(_) | Event::Rule);
        (ends && depth == 0).then_some(range)
    })
}

fn html(text: &str, q: &str) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    for event in Parser::new(text) {
        write(&mut html, event, q);
    }
    html
}

fn write(html: &mut String, event: Event<'_>, q: &str) {
    match event {
        Event::Start(tag) => open(html, tag),
        Event::End(tag) => close(html, tag),
        Event::Code(text) => {
            html.push_str("<code>");
            write_text(html, &text, q);
            html.push_str("</code>");
        }
        Event::SoftBreak => html.push('\n'),
        Event::HardBreak => html.push_str("<br>"),
        Event::Rule => html.push_str("<hr>"),
        Event::Text(text)
        | Event::Html(text)
        | Event::InlineHtml(text)
        | Event::InlineMath(text)
        | Event::DisplayMath(text)
        | Event::FootnoteReference(text) => write_text(html, &text, q),
        Event::TaskListMarker(done) => html.push_str(if done { "☑ " } else { "☐ " }),
    }
}

fn write_text(html: &mut String, text: &str, q: &str) {
    for (is_hit, piece) in pieces(text, q) {
        let piece = format::escape(&piece);
        match is_hit {
            true => html.extend(["<mark>", &piece, "</mark>"]),
            false => html.push_str(&piece),
        }
    }
}

/// Headings are no headings of the page.
fn open(html: &mut String, tag: Tag<'_>) {
    let written = match tag {
        Tag::Paragraph | Tag::HtmlBlock => "<p>",
        Tag::Heading { .. } => "<p class=\"said-heading\">",
        Tag::BlockQuote(_) => "<blockquote>",
        Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => "<pre><code>",
        Tag::List(None) => "<ul>",
        Tag::List(Some(1)) => "<ol>",
        Tag::List(Some(first)) => {
            html.push_str(&format!("<ol start=\"{first}\">"));
            return;
        }
        Tag::Item => "<li>",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<strong>",
        // The address stays beside the words.
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
            html.extend(["<span title=\"", &format::escape(&dest_url), "\">"]);
            return;
        }
        _ => "",
    };
    html.push_str(written);
}

fn close(html: &mut String, tag: TagEnd) {
    html.push_str(match tag {
        TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::Heading(_) => "</p>",
        TagEnd::BlockQuote(_) => "</blockquote>",
        TagEnd::CodeBlock => "</code></pre>",
        TagEnd::List(false) => "</ul>",
        TagEnd::List(true) => "</ol>",
        TagEnd::Item => "</li>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        TagEnd::Link | TagEnd::Image => "</span>",
        _ => "",
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        let check = |text: &str, q: &str, expect: &str| assert_eq!(html(text, q), expect);
        check(
            "# Plan\n\nFirst *this*,\nthen **that**.\n\n1. `a < b`\n2. two\n",
            "",
            "<p class=\"said-heading\">Plan</p><p>First <em>this</em>,\nthen <strong>that</strong>.</p>\
             <ol><li><code>a &lt; b</code></li><li>two</li></ol>",
        );
        check(
            "```python\nx = \"1\"\n```\n",
            "",
            "<pre><code>x = &quot;1&quot;\n</code></pre>",
        );
        check("An egg", "egg", "<p>An <mark>egg</mark></p>");
    }

    #[test]
    fn nothing_foreign_becomes_markup() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[a](javascript:alert(1)) ![b](https://evil.example.org/x.png)",
            "[a](<\"onmouseover=alert(1)>)",
            "<https://evil.example.org>",
        ] {
            let html = html(text, "");
            let tags: Vec<&str> = html.split('<').skip(1).collect();
            for tag in tags {
                let plain = ["p>", "/p>", "/span>"]
                    .iter()
                    .any(|known| tag.starts_with(known));
                let titled = tag.strip_prefix("span title=\"").is_some_and(|rest| {
                    rest.split_once('"')
                        .is_some_and(|(_, after)| after.starts_with('>'))
                });
                assert!(plain || titled, "{html}");
            }
        }
    }

    #[test]
    fn long_texts_are_folded_between_blocks() {
        let short = "a\n\n".repeat(10);
        let code = format!("```\n{}```\n", "x\n".repeat(60));
        for whole in ["", &short, &code, &format!("{code}end\n")] {
            assert_eq!(end_of_shown(whole), whole.len(), "{whole}");
        }
        let long = format!("{code}{short}");
        let (shown, folded) = long.split_at(end_of_shown(&long));
        assert_eq!(
            (shown.trim_end(), folded.trim()),
            (code.trim_end(), short.trim())
        );
    }
}
