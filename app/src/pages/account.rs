//! The reader's own account: API tokens, password, and links to other sites.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::account::{AccountRole, FirstSteps, LinkedIdentity, TokenView, WaysIn};

use crate::components::{
    ActionButton, Confirmation, Field, Form, FormAnswer, ItemTable, NewPassword, PageTop, PostForm,
    Problem, ProviderButtons, Refusal, ScopeSelect, ShownOnce, Tag, Time, Tone, fetched, loaded,
};
use crate::context::{Reader, SignInProviders};
use crate::error::AppError;
use crate::labels;

/// The values of `done=` and their messages.
const DONE: [(&str, &str); 5] = [
    (
        "password",
        "Your password is changed. All your other sessions are signed out.",
    ),
    (
        "password-set",
        "You have a password now. All your other sessions are signed out.",
    ),
    ("linked", "Linked: you can now sign in with it."),
    ("unlinked", "Unlinked: it can no longer be used to sign in."),
    ("token", "The token is revoked and no longer works."),
];

pub async fn tokens() -> Result<Vec<TokenView>, AppError> {
    Ok(crate::error::engine()?.tokens().await?)
}

pub async fn own_ways_in() -> Result<WaysIn, AppError> {
    Ok(crate::error::engine()?.ways_in().await?)
}

async fn first_steps() -> Result<FirstSteps, AppError> {
    Ok(crate::error::engine()?.first_steps().await?)
}

#[component]
pub fn AccountPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let Some(who) = Reader::at_hand().identity().cloned() else {
        let error = AppError::sign_in("This page is about your account.");
        return Either::Left(view! { <Problem error page=true/> });
    };
    let token_list = fetched(|| (), |()| tokens());
    let ways = fetched(|| (), |()| own_ways_in());
    let submits = who.role >= AccountRole::Submitter;
    let steps = submits.then(|| fetched(|| (), |()| first_steps()));
    let form = Form::new("make-token", answer);
    let name = who.name.clone();
    Either::Right(view! {
        <PageTop
            title="Account"
            description="Your password, and tokens of the API."
            missing=true
            heading=who.name
            lede=labels::role_may(who.role)
        />
        <Confirmation known=&DONE/>
        {steps.map(|steps| loaded(steps, |steps| view! { <Steps steps/> }))}
        <section>
            <h2>"API tokens"</h2>
            <p class="quiet">
                "A program that sends one as "<code>"Authorization: Bearer sweci_…"</code>
                " acts with your permissions, up to the role of the token."
            </p>
            {loaded(token_list, move |tokens| view! { <Tokens tokens owner=who.role form/> })}
        </section>
        {loaded(ways, move |ways| view! { <Ways ways name=name.clone() answer/> })}
    })
}

/// The way to a first result, until an account has gone it.
#[component]
fn Steps(steps: FirstSteps) -> impl IntoView {
    let step = |done: bool, href: &'static str, name: &'static str, why: &'static str| {
        let mark = done.then(|| view! { <Tag text="done" tone=Tone::Good/> });
        view! { <li><a href=href>{name}</a>" "{mark}<p class="quiet">{why}</p></li> }
    };
    let FirstSteps {
        key,
        run,
        notifications,
    } = steps;
    let all = key && run && notifications;
    (!all).then(|| {
        view! {
            <section aria-labelledby="steps-title">
                <h2 id="steps-title">"First steps"</h2>
                <ol class="first-steps">
                    {step(key, "/keys", "Add a key", "Agents reach their model with your provider's key. It is stored encrypted, and no container sees it.")}
                    {step(run, "/runs/new", "New run", "Choose a model, a harness and tasks. A preflight tries them before the run begins.")}
                    {step(notifications, "/notifications", "Notifications", "A webhook or a mail tells you when a run ends or is blocked.")}
                </ol>
            </section>
        }
    })
}

/// The list of tokens, and a form to create one.
#[component]
pub fn Tokens(
    tokens: Vec<TokenView>,
    /// The role of their owner.
    owner: AccountRole,
    form: Form,
) -> impl IntoView {
    view! {
        <ShownOnce form label="Your new token"/>
        <ItemTable
            caption="Your API tokens"
            columns=&["Name", "Scope", "Created", "Last used", "Expires"]
            deed="Revoke"
            items=tokens
            row=token_row
            none="You have none."
        />
        <PostForm form action="/account" button="Create a token">
            <Field
                form
                name="name"
                label="Name of a new token"
                hint="Its purpose, so that you know which one to revoke."
                required=true
            />
            <ScopeSelect form name="scope" label="It permits at most" owner/>
            <Field form name="days" label="Valid for days" kind="number" value="90" hint="1 to 365." required=true/>
        </PostForm>
    }
}

fn token_row(token: TokenView) -> impl IntoView {
    let label = format!("Revoke {}", token.name);
    let fields = vec![("token", token.token_id)];
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{token.name}</th>
            <td role="cell" data-label="Scope">{token.scope.name()}</td>
            <td role="cell" data-label="Created"><Time at=Some(token.created_at)/></td>
            <td role="cell" data-label="Last used"><Time at=token.used_at/></td>
            <td role="cell" data-label="Expires"><Time at=Some(token.expires_at)/></td>
            <td role="cell" data-label="">
                <ActionButton action="/account" deed="revoke-token" fields text="Revoke" label/>
            </td>
        </tr>
    }
}

const UNLINK: &str = "unlink";

#[component]
fn Ways(ways: WaysIn, name: String, answer: StoredValue<FormAnswer>) -> impl IntoView {
    let providers = SignInProviders::at_hand();
    let shown = !providers.0.is_empty() || !ways.identities.is_empty();
    let elsewhere = shown.then(|| {
        let why = Form::new(UNLINK, answer).problem("identity");
        view! { <Elsewhere identities=ways.identities providers why/> }
    });
    view! {
        {elsewhere}
        <section>
            <h2>"Password"</h2>
            <PasswordForm name has_password=ways.has_password answer/>
        </section>
    }
}

/// Changes the password, or sets a first one.
#[component]
fn PasswordForm(
    name: String,
    has_password: bool,
    answer: StoredValue<FormAnswer>,
) -> impl IntoView {
    let (form, label, again, button) = match has_password {
        true => (
            "change-password",
            "A new one",
            "The new one again",
            "Change the password",
        ),
        false => (
            "set-password",
            "A password",
            "The password again",
            "Set the password",
        ),
    };
    let form = Form::new(form, answer);
    let none = (!has_password).then(|| {
        view! { <p class="quiet">"You have none. With a password you can also sign in with your name."</p> }
    });
    let old = has_password.then(|| {
        view! { <Field form name="old" label="Your password" kind="password" autocomplete="current-password" required=true/> }
    });
    view! {
        {none}
        <PostForm form action="/account" button>
            // For the reader's password manager.
            <input type="text" autocomplete="username" value=name readonly=true hidden=true/>
            {old}
            <NewPassword form label again/>
        </PostForm>
    }
}

/// The linked identities at other sites, and how to link one.
#[component]
fn Elsewhere(
    identities: Vec<LinkedIdentity>,
    providers: SignInProviders,
    why: Option<String>,
) -> impl IntoView {
    let known = providers.clone();
    let row = move |identity: LinkedIdentity| {
        let name = known.named(&identity.provider).map_or_else(
            || format!("{} (not offered any more)", identity.provider),
            |provider| provider.name.clone(),
        );
        identity_row(name, identity)
    };
    view! {
        <section>
            <h2>"Other sites to sign in by"</h2>
            <Refusal why/>
            <ItemTable
                caption="Other sites that are linked"
                columns=&["Site", "You are", "Linked", "Last used"]
                deed="Unlink"
                items=identities
                row
                none="None is linked."
            />
            <ProviderButtons providers=providers.0 words="Link" along=vec![("deed", "link".to_owned())]/>
        </section>
    }
}

/// `name` is the provider's.
fn identity_row(name: String, identity: LinkedIdentity) -> impl IntoView {
    let label = format!("Unlink {} at {name}", identity.shown_as);
    let fields = vec![
        ("provider", identity.provider),
        ("subject", identity.subject),
    ];
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{name}</th>
            <td role="cell" data-label="You are">{identity.shown_as}</td>
            <td role="cell" data-label="Linked"><Time at=Some(identity.linked_at)/></td>
            <td role="cell" data-label="Last used"><Time at=identity.last_used/></td>
            <td role="cell" data-label="">
                <ActionButton action="/account" deed=UNLINK fields text="Unlink" label/>
            </td>
        </tr>
    }
}
