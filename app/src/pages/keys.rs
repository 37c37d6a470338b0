//! The reader's own provider keys: their names, never their values.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::provider_key::KeyView;

use crate::components::{
    ActionButton, Confirmation, Field, Form, FormAnswer, ItemTable, PageTop, PostForm, Time,
    fetched, loaded,
};
use crate::error::AppError;

const SET: &str = "set-key";
const REMOVE: &str = "remove-key";

/// The values of `done=` and their messages.
const DONE: [(&str, &str); 2] = [
    ("set", "The key is stored encrypted and never shown again."),
    ("removed", "The key is removed."),
];

pub async fn keys() -> Result<Vec<KeyView>, AppError> {
    Ok(crate::error::engine()?.key_names().await?)
}

#[component]
pub fn KeysPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let resource = fetched(|| (), |()| keys());
    view! {
        <PageTop
            title="Keys"
            description="The keys your runs use for their providers."
            lede="Your runs name the key that pays their provider. Only your own runs can use it; it is sent to that provider and nowhere else, and no page shows it."
            missing=true
        />
        <Confirmation known=&DONE/>
        {loaded(resource, move |keys| view! { <Keys keys answer/> })}
    }
}

#[component]
fn Keys(keys: Vec<KeyView>, answer: StoredValue<FormAnswer>) -> impl IntoView {
    let form = Form::new(SET, answer);
    view! {
        <HeldBack form=Form::new(REMOVE, answer)/>
        <ItemTable
            caption="Keys your runs may use"
            columns=&["Name", "Stored", "Changed", "Last used"]
            deed="Remove"
            items=keys
            row=key_row
            none="You have none."
        />
        <section>
            <h2>"Store a key"</h2>
            <PostForm form action="/keys" button="Store the key" autocomplete="off">
                <Field
                    form
                    name="name"
                    label="Name"
                    hint="The name in configurations, such as acme. It replaces your key of the same name."
                    required=true
                />
                <Field
                    form
                    name="value"
                    label="Key"
                    kind="password"
                    hint="As the provider shows it. Give it a limit there."
                    required=true
                />
            </PostForm>
        </section>
    }
}

/// Why a key was not removed, and how to remove it anyway.
#[component]
fn HeldBack(form: Form) -> impl IntoView {
    let message = form.problem("key")?;
    let fields = vec![
        ("key", form.kept("key").unwrap_or_default()),
        ("force", "yes".to_owned()),
    ];
    Some(view! {
        <div class="note" data-tone="warn" role="alert">
            <p>{message}</p>
            <ActionButton action="/keys" deed=REMOVE fields text="Remove it anyway; their steps will fail"/>
        </div>
    })
}

fn key_row(key: KeyView) -> impl IntoView {
    let last = match key.own {
        true => {
            let fields = vec![("key", key.name.clone())];
            let label = format!("Remove {}", key.name);
            Either::Left(
                view! { <ActionButton action="/keys" deed=REMOVE fields text="Remove" label/> },
            )
        }
        false => Either::Right(view! { <span class="quiet">"The operator’s"</span> }),
    };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{key.name}</th>
            <td role="cell" data-label="Stored"><Time at=Some(key.created_at)/></td>
            <td role="cell" data-label="Changed"><Time at=Some(key.changed_at)/></td>
            <td role="cell" data-label="Last used"><Time at=key.used_at/></td>
            <td role="cell" data-label="">{last}</td>
        </tr>
    }
}
