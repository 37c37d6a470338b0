use leptos::prelude::*;

/// A progress bar.
#[component]
pub fn Meter(
    #[prop(into)] value: Signal<u32>,
    #[prop(into)] most: Signal<u32>,
    /// Its accessible label.
    #[prop(into)]
    label: String,
    /// `good`: ended well; `live`: in progress; otherwise neutral.
    #[prop(optional, into)]
    tone: Signal<&'static str>,
) -> impl IntoView {
    let width = move || percent(value.get(), most.get());
    let words = move || format!("{} of {}", value.get(), most.get());
    view! {
        <span
            class="meter"
            role="progressbar"
            aria-label=label
            aria-valuemin="0"
            aria-valuemax=move || most.get().to_string()
            aria-valuenow=move || value.get().to_string()
            aria-valuetext=words
            data-tone=move || tone.get()
        >
            <svg width="100%" height="10" aria-hidden="true" focusable="false">
                <rect class="meter-track" y="2" width="100%" height="6" rx="3"/>
                <rect class="meter-fill" y="2" width=width height="6" rx="3"/>
            </svg>
        </span>
    }
}

fn percent(value: u32, most: u32) -> String {
    let share = f64::from(value.min(most)) / f64::from(most.max(1));
    format!("{:.1}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_share_of_nothing_is_nothing() {
        assert_eq!(percent(1, 4), "25.0%");
        assert_eq!(percent(9, 4), "100.0%");
        assert_eq!(percent(0, 0), "0.0%");
    }
}
