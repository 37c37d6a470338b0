//! The audit log, newest first.

use leptos::prelude::*;
use swe_ci_views::account::AuditEntry;
use swe_ci_views::view::Page;

use crate::components::{ItemTable, NextPage, PageTop, Time, fetched, loaded};
use crate::error::AppError;
use crate::query::{Query, named, of_query};

pub async fn audit(
    subject: Option<String>,
    after: Option<String>,
) -> Result<Page<AuditEntry>, AppError> {
    let page = swe_ci_engine::PageRequest {
        limit: Some(100),
        after,
    };
    let engine = crate::error::engine()?;
    Ok(engine.audit(&page, subject.as_deref()).await?)
}

#[component]
pub fn AuditPage() -> impl IntoView {
    let asked = of_query(|query| (named(query, "subject"), named(query, "after")));
    let resource = fetched(
        move || asked.get(),
        |(subject, after)| audit(subject, after),
    );
    let subject = move || asked.get().0;
    view! {
        <PageTop
            title="Audit log"
            description="The audit log of this site."
            lede="Every sign-in and every change by an account or the command line. Entries are never deleted."
            missing=true
        />
        {loaded(resource, move |page| view! { <AuditLog page subject=untrack(subject)/> })}
    }
}

#[component]
fn AuditLog(page: Page<AuditEntry>, subject: Option<String>) -> impl IntoView {
    let next = page
        .next
        .map(|after| href(subject.as_deref(), Some(&after)));
    view! {
        <SubjectForm subject/>
        <ItemTable
            caption="Entries, newest first"
            columns=&["When", "Account", "Action", "Subject", "Details"]
            class="audit"
            items=page.items
            row=entry_row
            none="No entries."
        />
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

fn entry_row(entry: AuditEntry) -> impl IntoView {
    let same = href(Some(&entry.subject), None);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><Time at=Some(entry.at)/></th>
            <td role="cell" data-label="Who">{entry.actor}</td>
            <td role="cell" data-label="Did what">{in_words(&entry.action)}</td>
            <td role="cell" data-label="To what"><a href=same>{entry.subject}</a></td>
            <td role="cell" data-label="More">{entry.detail}</td>
        </tr>
    }
}

fn href(subject: Option<&str>, after: Option<&str>) -> String {
    Query::default()
        .with("subject", subject)
        .with("after", after)
        .at("/audit")
}

/// "account.make" → "created account".
fn in_words(action: &str) -> String {
    let (noun, deed) = action.split_once('.').unwrap_or(("", action));
    let (verb, object) = deed.split_once('_').unwrap_or((deed, noun));
    let did = match verb {
        _ if deed == "sign_in_failed" => return "failed to sign in".to_owned(),
        "at" => return format!("limited {noun} at once"),
        "budget" | "preflight" => format!("set the {verb} of"),
        "make" => "created".to_owned(),
        "set" | "reset" => verb.to_owned(),
        "withdraw" => "withdrew".to_owned(),
        "submit" => "submitted".to_owned(),
        "cancel" => "cancelled".to_owned(),
        "retry" | "verify" => format!("{}ied", verb.trim_end_matches('y')),
        _ if verb.ends_with('e') => format!("{verb}d"),
        _ => format!("{verb}ed"),
    };
    format!("{did} {}", object.replace('_', " "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn actions_in_words() {
        let check = |action, expect: &str| assert_eq!(super::in_words(action), expect);
        check("account.make", "created account");
        check("account.sign_in", "signed in");
        check("account.sign_in_failed", "failed to sign in");
        check("account.set_role", "set role");
        check("run.budget", "set the budget of run");
        check("run.verify", "verified run");
        check("run.unmark", "unmarked run");
        check("key.rotate", "rotated key");
    }
}
