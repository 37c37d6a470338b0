//! A curation, running or ended.

mod data;
mod view;

use std::time::Duration;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use self::data::curation;
use self::view::Curation;
use crate::components::loaded;
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;

/// How often the page polls a running curation.
const LOOK: Duration = Duration::from_secs(3);

#[component]
pub fn CurationPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|p| p.get("id").unwrap_or_default()));
    // Increases as long as the curation runs.
    let looks = RwSignal::new(0_u32);
    let resource = fetched(move || (id.get(), looks.get()), |(id, _)| curation(id));
    Effect::new(move |_| {
        let moves = resource.with(|found| match found {
            Some(Ok(found)) => !found.summary.state.is_over(),
            _ => false,
        });
        if moves {
            set_timeout(move || _ = looks.try_update(|looks| *looks += 1), LOOK);
        }
    });
    loaded(
        resource,
        move |detail| view! { <Curation detail answer=answer.clone()/> },
    )
}
