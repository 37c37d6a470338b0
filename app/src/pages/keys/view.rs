//! Provider keys and the form that stores one.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::key::KeyView;

use crate::components::{Field, ListTable, Time};
use crate::form_answer::FormAnswer;

const SET: &str = "set-key";
const REMOVE: &str = "remove-key";

/// The list of keys, and a form to store one.
#[component]
pub fn Keys(keys: Vec<KeyView>, answer: FormAnswer) -> impl IntoView {
    let problem = |field: &str| answer.problem(SET, field);
    view! {
        <HeldBack answer=answer.clone()/>
        <KeyList keys/>
        <section>
            <h2>"Store a key"</h2>
            <form class="form" method="post" action="/keys" autocomplete="off">
                <input type="hidden" name="deed" value=SET/>
                <Field
                    name="name"
                    label="Name"
                    value=answer.kept(SET, "name")
                    hint="The name in configurations, such as acme. It replaces your key of the same name."
                    problem=problem("name")
                    required=true
                />
                <Field
                    name="value"
                    label="Key"
                    kind="password"
                    hint="As the provider shows it. Give it a limit there."
                    problem=problem("value")
                    required=true
                />
                <button class="button" type="submit">"Store the key"</button>
            </form>
        </section>
    }
}

/// Why a key was not removed, and how to remove it anyway.
#[component]
fn HeldBack(answer: FormAnswer) -> impl IntoView {
    let message = answer.problem(REMOVE, "key")?;
    let key = answer.kept(REMOVE, "key");
    Some(view! {
        <div class="note" data-tone="warn" role="alert">
            <p>{message}</p>
            <form method="post" action="/keys">
                <input type="hidden" name="deed" value=REMOVE/>
                <input type="hidden" name="key" value=key/>
                <input type="hidden" name="force" value="yes"/>
                <button class="button" type="submit">"Remove it anyway; their steps will fail"</button>
            </form>
        </div>
    })
}

#[component]
fn KeyList(keys: Vec<KeyView>) -> impl IntoView {
    if keys.is_empty() {
        return Either::Left(view! { <p>"You have none."</p> });
    }
    let rows = keys.into_iter().map(|key| view! { <KeyRow key_view=key/> });
    Either::Right(view! {
        <ListTable caption="Keys your runs may use" columns=&["Name", "Stored", "Changed", "Last used"] deed="Remove">{rows.collect_view()}</ListTable>
    })
}

#[component]
fn KeyRow(key_view: KeyView) -> impl IntoView {
    let KeyView {
        name,
        own,
        created_at,
        changed_at,
        used_at,
    } = key_view;
    let last = match own {
        true => Either::Left(view! {
            <form method="post" action="/keys">
                <input type="hidden" name="deed" value=REMOVE/>
                <input type="hidden" name="key" value=name.clone()/>
                <button class="button" type="submit" aria-label=format!("Remove {name}")>"Remove"</button>
            </form>
        }),
        false => Either::Right(view! { <span class="quiet">"The operator’s"</span> }),
    };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{name}</th>
            <td role="cell" data-label="Stored"><Time at=Some(created_at)/></td>
            <td role="cell" data-label="Changed"><Time at=Some(changed_at)/></td>
            <td role="cell" data-label="Last used"><Time at=used_at/></td>
            <td role="cell" data-label="">{last}</td>
        </tr>
    }
}
