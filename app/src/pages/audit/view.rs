//! The entries of the audit log.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::account::AuditEntry;
use swe_ci_views::view::Page;

use crate::components::{ListTable, NextPage, Time};
use crate::query::Query;

#[component]
pub fn AuditLog(page: Page<AuditEntry>, subject: Option<String>) -> impl IntoView {
    let next = page
        .next
        .map(|after| href(subject.as_deref(), Some(&after)));
    view! {
        <SubjectForm subject/>
        <Entries entries=page.items/>
        <NextPage href=next/>
    }
}

/// Filters by one subject.
#[component]
fn SubjectForm(subject: Option<String>) -> impl IntoView {
    let all = subject
        .is_some()
        .then(|| view! { <a class="controls-link" href="/audit">"Show all"</a> });
    view! {
        <form class="controls controls-plain" method="get" action="/audit">
            <label class="field">
                "Subject"
                <input type="search" name="subject" value=subject placeholder="account, run, key, …" autocomplete="off"/>
            </label>
            <button class="button" type="submit">"Show"</button>
            {all}
        </form>
    }
}

#[component]
fn Entries(entries: Vec<AuditEntry>) -> impl IntoView {
    if entries.is_empty() {
        return Either::Left(view! { <p>"No entries."</p> });
    }
    let rows = entries.into_iter().map(|entry| view! { <Entry entry/> });
    Either::Right(view! {
        <ListTable caption="Entries, newest first" columns=&["When", "Account", "Action", "Subject", "Details"] class="audit">{rows.collect_view()}</ListTable>
    })
}

#[component]
fn Entry(entry: AuditEntry) -> impl IntoView {
    let same = href(Some(&entry.subject), None);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><Time at=Some(entry.at)/></th>
            <td role="cell" data-label="Who">{entry.actor}</td>
            <td role="cell" data-label="Did what"><code>{entry.action}</code></td>
            <td role="cell" data-label="To what"><a href=same>{entry.subject}</a></td>
            <td role="cell" data-label="More">{entry.detail}</td>
        </tr>
    }
}

fn href(subject: Option<&str>, after: Option<&str>) -> String {
    let mut query = Query::default();
    query.add("subject", subject);
    query.add("after", after);
    format!("/audit{}", query.0)
}
