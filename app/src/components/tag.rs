use leptos::prelude::*;

use crate::format;

swe_ci_core::plain_named! {
    /// The look of a tag. Its word says the same: colour alone is not enough.
    #[derive(Default)]
    pub enum Tone {
        #[default]
        Plain = "plain",
        Accent = "accent",
        Good = "good",
        Bad = "bad",
        Warn = "warn",
        Live = "live",
        /// Produced elsewhere.
        Elsewhere = "elsewhere",
    }
}

#[component]
pub fn Tag(
    #[prop(into)] text: Signal<String>,
    #[prop(optional, into)] tone: Signal<Tone>,
    /// Its meaning, as a tooltip.
    #[prop(optional, into)]
    hint: Option<String>,
) -> impl IntoView {
    view! {
        <span class="tag" data-tone=move || tone.get().name() title=hint>
            {move || text.get()}
        </span>
    }
}

/// How something ended: a mark, and words.
#[component]
pub fn Ended(#[prop(into)] text: String, tone: Tone) -> impl IntoView {
    let mark = match tone {
        Tone::Good => Some("✓ "),
        Tone::Bad => Some("✕ "),
        Tone::Warn => Some("! "),
        Tone::Plain | Tone::Accent | Tone::Live | Tone::Elsewhere => None,
    };
    let mark = mark.map(|mark| view! { <span aria-hidden="true">{mark}</span> });
    view! { <span class="ended" data-tone=tone.name()>{mark}{text}</span> }
}

/// A moment, to the minute, in UTC: the same text from server and browser.
#[component]
pub fn Time(
    /// RFC 3339; a dash when there is none.
    #[prop(into)]
    at: Option<String>,
) -> impl IntoView {
    match at {
        Some(at) => {
            let text = format::minute(&at);
            view! { <time datetime=at>{text}</time> }.into_any()
        }
        None => view! { <span class="none">"–"</span> }.into_any(),
    }
}
