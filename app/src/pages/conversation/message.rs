//! One message, part by part.

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::conversation::{Answered, Argument, Message, Part, Speaker};

use super::text::FoldedText;
use crate::components::{Tag, Time, Tone};
use crate::format;
use crate::words;

#[component]
pub(super) fn MessageView(message: Message, q: StoredValue<String>) -> impl IntoView {
    let Message {
        number,
        speaker,
        at,
        answered,
        parts,
        ..
    } = message;
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
                <span class="quiet"><Time at=Some(at)/></span>
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
    words::joined([
        Some(format!("exchange {}", format::thousands(answered.exchange))),
        labelled("", &answered.model),
        Some(format::seconds(f64::from(answered.seconds))),
        answered.usage.map(words::tokens),
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
    view! { <code>{super::text::marked(&text, q)}</code> }
}

#[component]
fn CallId(id: String) -> impl IntoView {
    let id = visible(&format::clip(&id, 60)).into_owned();
    view! { <small class="quiet">{id}</small> }
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
}
