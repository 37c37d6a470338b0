//! The page of an invitation link, which creates an account.

mod data;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use self::data::invitation;
use self::view::Acceptance;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;

#[component]
pub fn InvitationPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let params = use_params_map();
    let secret = Memo::new(move |_| params.with(|p| p.get("secret").unwrap_or_default()));
    let resource = fetched(move || secret.get(), invitation);
    view! {
        <PageHead title="Invitation" description="Create an account on this site." missing=true/>
        {loaded(resource, move |invitation| {
            let secret = secret.get_untracked();
            view! { <Acceptance invitation secret answer=answer.clone()/> }
        })}
    }
}
