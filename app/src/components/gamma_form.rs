use leptos::prelude::*;
use swe_ci_core::metrics::Gamma;

use super::HiddenFields;
use crate::format;
use crate::query::{GAMMA_LEAST, GAMMA_MOST};

/// Loads the same page for another γ.
#[component]
pub fn GammaForm(
    action: &'static str,
    gamma: Signal<Gamma>,
    others: Signal<Vec<(&'static str, String)>>,
) -> impl IntoView {
    view! {
        <form class="gamma gamma-plain" method="get" action=action>
            {move || view! { <HiddenFields fields=others.get()/> }}
            <label for="gamma">"γ"</label>
            <input
                id="gamma"
                name="gamma"
                type="number"
                min=GAMMA_LEAST.to_string()
                max=GAMMA_MOST.to_string()
                step="0.01"
                value=move || format::gamma(gamma.get())
            />
            <button class="button">"Apply"</button>
        </form>
    }
}
