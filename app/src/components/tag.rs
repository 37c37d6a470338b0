use leptos::prelude::*;

/// The look of a tag. Its word says the same: colour alone is not enough.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Accent,
    Good,
    Bad,
    Warn,
    Live,
    /// Produced elsewhere.
    Elsewhere,
}

impl Tone {
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Accent => "accent",
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warn => "warn",
            Self::Live => "live",
            Self::Elsewhere => "elsewhere",
        }
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
