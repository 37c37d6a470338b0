//! One message, part by part.

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::conversation::{Answered, Argument, Message, Part, Speaker, Text, hits};

use super::edit::{Edit, EditView};
use super::joined::{CallResult, Results};
use super::markdown::Markdown;
use super::text::{FoldedText, marked};

use crate::components::CollectAny;
use crate::components::{Tag, Time, Tone};
use crate::{format, labels};

#[component]
pub(super) fn MessageView(
    message: Message,
    /// The results of its calls.
    results: Results,
    q: StoredValue<String>,
) -> impl IntoView {
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
    let results = StoredValue::new(results);
    let parts = parts
        .into_iter()
        .map(|part| view! { <PartView part speaker results q/> });
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
            {parts.collect_any()}
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
fn PartView(
    part: Part,
    speaker: Speaker,
    results: StoredValue<Results>,
    q: StoredValue<String>,
) -> impl IntoView {
    match part {
        Part::Said { said } => match speaker {
            Speaker::System | Speaker::User => {
                view! { <div class="part"><Prompt said q/></div> }.into_any()
            }
            _ => view! { <div class="part"><Markdown content=said q/></div> }.into_any(),
        },
        Part::Reasoning { said } => view! {
            <div class="part" data-kind="reasoning">
                <p class="part-name">"Reasoning"</p>
                <Markdown content=said q/>
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
        } => {
            let result = id
                .as_ref()
                .and_then(|id| results.with_value(|all| all.get(id).cloned()));
            view! { <Call id tool arguments result q/> }.into_any()
        }
        Part::Result { .. } => {
            let result = CallResult { number: None, part };
            view! { <ResultView result below_call=false q/> }.into_any()
        }
    }
}

/// Longer prompts are folded: they are the same in most steps.
const LONGEST_PROMPT: usize = 400;

#[component]
fn Prompt(said: Text, q: StoredValue<String>) -> impl IntoView {
    if said.text.len() <= LONGEST_PROMPT {
        return view! { <Markdown content=said q/> }.into_any();
    }
    let open = q.with_value(|q| hits(&said.text, q).next().is_some());
    let first = said.text.lines().find(|line| !line.trim().is_empty());
    let first = visible(&format::clip(first.unwrap_or_default(), 100)).into_owned();
    let bytes = said.before + said.text.len() as u64 + said.after;
    let size = format!("{} characters", format::compact(bytes));
    view! {
        <details class="prompt" open=open>
            <summary>{first}" "<small class="quiet">{size}</small></summary>
            <Markdown content=said q/>
        </details>
    }
    .into_any()
}

#[component]
fn Call(
    id: Option<String>,
    tool: String,
    arguments: Vec<Argument>,
    result: Option<CallResult>,
    q: StoredValue<String>,
) -> impl IntoView {
    let none = arguments
        .is_empty()
        .then(|| view! { <p class="quiet">"Without arguments."</p> });
    let edit = Edit::of(&arguments);
    let arguments = edit.as_ref().map_or(arguments, |edit| edit.others.clone());
    let edit = edit.map(|edit| view! { <EditView edit q/> });
    let argument = |Argument { name, value }: Argument| {
        let name =
            (!name.is_empty()).then(|| view! { <p class="argument-name"><Named text=name q/></p> });
        view! { <div class="argument">{name}<FoldedText content=value q/></div> }
    };
    let arguments = arguments.into_iter().map(argument).collect_any();
    view! {
        <div class="part" data-kind="call">
            <p class="part-name">
                "Call of "<Named text=tool q/>
                {id.map(|id| view! { <CallId id/> })}
            </p>
            {edit}
            {arguments}
            {none}
            {result.map(|result| view! { <ResultView result below_call=true q/> })}
        </div>
    }
}

#[component]
fn ResultView(
    result: CallResult,
    /// There it needs no name.
    below_call: bool,
    q: StoredValue<String>,
) -> impl IntoView {
    let CallResult { number, part } = result;
    let Part::Result {
        call,
        tool,
        failed,
        said,
    } = part
    else {
        return None;
    };
    let name = (!below_call).then(|| {
        view! {
            {tool.map(|tool| view! { " of "<Named text=tool q/> })}
            {call.map(|id| view! { <CallId id/> })}
        }
    });
    let failed = failed.then(|| view! { <Tag text="failed".to_owned() tone=Tone::Bad/> });
    let link = number.map(|n| view! { <a class="message-number" href=format!("#m{n}")>{n}</a> });
    Some(view! {
        <div class="part" data-kind="result" id=number.map(|n| format!("m{n}"))>
            <p class="part-name">{link}" Result"{name}{failed}</p>
            <FoldedText content=said q/>
        </div>
    })
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
