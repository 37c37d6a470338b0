//! One message, part by part.

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::conversation::{Answered, Argument, Message, Part, Speaker, Text, hits};

use crate::components::{Tag, Time, Tone};
use crate::{format, labels};

#[component]
pub(super) fn MessageView(message: Message, q: StoredValue<String>) -> impl IntoView {
    let (number, speaker) = (message.number, message.speaker);
    let (answered, parts) = (message.answered, message.parts);
    let id = format!("m{number}");
    let link = format!("#{id}");
    let from = match (speaker, &answered) {
        (Speaker::Assistant, None) => "assistant, as the request repeats it",
        (speaker, _) => speaker.name(),
    };
    let nothing = parts
        .is_empty()
        .then(|| view! { <p class="quiet">"The message is empty."</p> });
    let parts = parts.into_iter().map(|part| view! { <PartView part q/> });
    view! {
        <article class="message" id=id data-speaker=speaker.name()>
            <header class="message-head">
                <h3>
                    <a class="message-number" href=link>{number}</a>
                    " "
                    {from}
                </h3>
                <span class="quiet"><Time at=Some(message.at)/></span>
                {answered.map(|answered| view! { <p class="quiet message-facts">{facts(&answered)}</p> })}
            </header>
            {parts.collect_view()}
            {nothing}
        </article>
    }
}

/// "exchange 3 · 12 s · 1234 in · 56 out · stopped: length".
fn facts(answered: &Answered) -> String {
    let labelled = |what: &str, word: &Option<String>| {
        let word = word.as_deref().map(|word| format::clip(word, 60));
        word.map(|word| format!("{what}{}", visible(&word)))
    };
    labels::joined([
        Some(format!("exchange {}", format::thousands(answered.exchange))),
        labelled("", &answered.model),
        Some(format::seconds(f64::from(answered.seconds))),
        answered.usage.map(labels::tokens),
        format::retries(u64::from(answered.retries)),
        labelled("stopped: ", &answered.stopped),
    ])
}

#[component]
fn PartView(part: Part, q: StoredValue<String>) -> impl IntoView {
    match part {
        Part::Said { said } => {
            view! { <div class="part"><FoldedText content=said q/></div> }.into_any()
        }
        Part::Reasoning { said } => view! {
            <div class="part" data-kind="reasoning">
                <p class="part-name">"Reasoning"</p>
                <FoldedText content=said q/>
            </div>
        }
        .into_any(),
        Part::Note { said } => view! {
            <div class="part note" data-tone="warn"><FoldedText content=said q/></div>
        }
        .into_any(),
        Part::Call {
            id,
            tool,
            arguments,
        } => view! { <Call id tool arguments q/> }.into_any(),
        Part::Result {
            call,
            tool,
            failed,
            said,
        } => {
            let failed = failed.then(|| view! { <Tag text="failed".to_owned() tone=Tone::Bad/> });
            view! {
                <div class="part" data-kind="result">
                    <p class="part-name">
                        "Result"
                        {tool.map(|tool| view! { " of "<Named text=tool q/> })}
                        {failed}
                        {call.map(|id| view! { <CallId id/> })}
                    </p>
                    <FoldedText content=said q/>
                </div>
            }
            .into_any()
        }
    }
}

#[component]
fn Call(
    id: Option<String>,
    tool: String,
    arguments: Vec<Argument>,
    q: StoredValue<String>,
) -> impl IntoView {
    let none = arguments
        .is_empty()
        .then(|| view! { <p class="quiet">"Without arguments."</p> });
    let argument = |Argument { name, value }: Argument| {
        let name =
            (!name.is_empty()).then(|| view! { <p class="argument-name"><Named text=name q/></p> });
        view! { <div class="argument">{name}<FoldedText content=value q/></div> }
    };
    let arguments = arguments.into_iter().map(argument).collect_view();
    view! {
        <div class="part" data-kind="call">
            <p class="part-name">
                "Call of "<Named text=tool q/>
                {id.map(|id| view! { <CallId id/> })}
            </p>
            {arguments}
            {none}
        </div>
    }
}

/// A name that a model or harness chose.
#[component]
fn Named(text: String, q: StoredValue<String>) -> impl IntoView {
    let text = visible(&format::clip(&text, 200)).into_owned();
    view! { <code>{marked(&text, q)}</code> }
}

#[component]
fn CallId(id: String) -> impl IntoView {
    let id = visible(&format::clip(&id, 60)).into_owned();
    view! { <small class="quiet">{id}</small> }
}

/// Longer texts are folded after this many lines or bytes.
const SHOWN_LINES: usize = 40;
const SHOWN_BYTES: usize = 6_000;

/// A text, as much of it as the page has.
#[component]
pub(super) fn FoldedText(content: Text, q: StoredValue<String>) -> impl IntoView {
    let text = visible(&content.text).into_owned();
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
fn left_out(bytes: u64, place: &'static str) -> Option<impl IntoView> {
    (bytes > 0).then(|| {
        let kilobytes = format::thousands(bytes.div_ceil(1_000));
        view! { <p class="quiet">{format!("{kilobytes} kB {place} this are in the recording.")}</p> }
    })
}

fn more(folded: &str) -> String {
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
    pieces.into_iter().map(view).collect_view()
}

/// The text in pieces, each a hit or not.
fn pieces(text: &str, q: &str) -> Vec<(bool, String)> {
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
    fn how_an_answer_came_to_be() {
        let mut answered = Answered {
            exchange: 3,
            seconds: 12,
            ..Answered::default()
        };
        assert_eq!(facts(&answered), "exchange 3 · 12 s");
        answered.model = Some("glm\u{1b}".into());
        answered.stopped = Some("length".into());
        answered.retries = 2;
        assert_eq!(
            facts(&answered),
            "exchange 3 · glm␛ · 12 s · 2 retries · stopped: length"
        );
    }

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
