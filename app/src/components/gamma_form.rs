use leptos::prelude::*;
use swe_ci_core::metrics::Gamma;

use crate::format;
use crate::query::{GAMMA_LEAST, GAMMA_MOST};

/// Loads the same page for another γ.
#[component]
pub fn GammaForm(
    /// The address of the page.
    action: &'static str,
    gamma: Signal<Gamma>,
    /// The other parameters of the address.
    others: Signal<Vec<(&'static str, String)>>,
) -> impl IntoView {
    let others = move || {
        let field = |(name, value)| view! { <input type="hidden" name=name value=value/> };
        others.get().into_iter().map(field).collect_view()
    };
    view! {
        <form class="gamma gamma-plain" method="get" action=action>
            {others}
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
