//! The audit log, newest first.

mod data;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::audit;
use self::view::AuditLog;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;
use crate::query::named;

#[component]
pub fn AuditPage() -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| query.with(|q| (named(q, "subject"), named(q, "after"))));
    let resource = fetched(
        move || asked.get(),
        |(subject, after)| audit(subject, after),
    );
    let subject = move || asked.get().0;
    view! {
        <PageHead title="Audit log" description="The audit log of this site." missing=true/>
        <div class="hero">
            <h1>"Audit log"</h1>
            <p class="lede">"Every sign-in and every change by an account or the command line. Entries are never deleted."</p>
        </div>
        {loaded(resource, move |page| view! { <AuditLog page subject=untrack(subject)/> })}
    }
}
