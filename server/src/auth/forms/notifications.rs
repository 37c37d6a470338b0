//! The forms of the page of notification targets.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::AccountRole;
use swe_ci_views::notification::Occasion;

use super::submitted_form::{FormPage, SubmittedForm};
use crate::actor::ActorEngine;
use crate::app::App;
use crate::problem::Problem;

/// The actions of the page's forms.
#[derive(Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    AddWebhook {
        url: String,
        #[serde(flatten)]
        ticked: Ticked,
    },
    AddMailbox {
        address: String,
        #[serde(flatten)]
        ticked: Ticked,
    },
    Confirm {
        target: String,
        code: String,
    },
    Test {
        target: String,
    },
    Remove {
        target: String,
    },
}

/// A browser sends a checkbox only if it is ticked.
#[derive(Deserialize)]
struct Ticked {
    #[serde(rename = "run.finished")]
    finished: Option<String>,
    #[serde(rename = "run.blocked")]
    blocked: Option<String>,
    #[serde(rename = "run.budget")]
    budget: Option<String>,
}

impl Ticked {
    fn events(&self) -> Vec<Occasion> {
        let Self {
            finished,
            blocked,
            budget,
        } = self;
        let boxes = [finished, blocked, budget];
        let boxes = Occasion::OF_RUNS.into_iter().zip(boxes);
        boxes
            .filter(|(_, sent)| sent.is_some())
            .map(|(event, _)| event)
            .collect()
    }
}

impl FormAction {
    /// The form that sent it, and the field that shows the error.
    fn form(&self) -> (&'static str, &'static str) {
        let none = |ticked: &Ticked| ticked.events().is_empty();
        match self {
            Self::AddWebhook { ticked, .. } if none(ticked) => ("add-webhook", "events"),
            Self::AddWebhook { .. } => ("add-webhook", "url"),
            Self::AddMailbox { ticked, .. } if none(ticked) => ("add-mailbox", "events"),
            Self::AddMailbox { .. } => ("add-mailbox", "address"),
            Self::Confirm { .. } => ("confirm", "code"),
            Self::Test { .. } => ("test", "target"),
            Self::Remove { .. } => ("remove", "target"),
        }
    }

    /// The typed values, to show them again.
    fn values(&self) -> Vec<(&'static str, &str)> {
        let (field, text, ticked) = match self {
            Self::AddWebhook { url, ticked } => ("url", url, ticked),
            Self::AddMailbox { address, ticked } => ("address", address, ticked),
            _ => return Vec::new(),
        };
        let ticked = ticked.events().into_iter();
        let ticked = ticked.map(|event| (event.name(), "on"));
        // Marks that the form was sent: in a new form all boxes are ticked.
        let sent = [(field, text.as_str()), ("events", "sent")];
        sent.into_iter().chain(ticked).collect()
    }
}

/// The result of an action.
enum Outcome {
    /// The action's name in the page's address.
    Done(&'static str),
    /// A new webhook, and the key that signs its messages.
    Added(SecretString),
}

pub(super) async fn change(
    State(app): State<App>,
    ActorEngine(engine): ActorEngine,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Submitter)?;
    let SubmittedForm { fields, request } = SubmittedForm::<FormAction>::read(request).await?;
    let (form, field) = fields.form();
    let mut page = FormPage::new(app, request, form);
    for (name, text) in fields.values() {
        page = page.with_value(name, text);
    }
    match carry_out(&engine, fields).await {
        Ok(Outcome::Done(what)) => {
            Ok(Redirect::to(&format!("/notifications?done={what}")).into_response())
        }
        Ok(Outcome::Added(secret)) => Ok(page.with_secret(&secret).await),
        Err(error) => Ok(page.with_error(field, error).await),
    }
}

async fn carry_out(engine: &Engine, action: FormAction) -> Result<Outcome, Error> {
    let done = match action {
        FormAction::AddWebhook { url, ticked } => {
            let (_, secret) = engine.add_webhook(&url, &ticked.events()).await?;
            return Ok(Outcome::Added(secret));
        }
        FormAction::AddMailbox { address, ticked } => {
            engine.add_mailbox(&address, &ticked.events()).await?;
            "code"
        }
        FormAction::Confirm { target, code } => {
            engine.confirm_mailbox(&target, &code).await?;
            "confirmed"
        }
        FormAction::Test { target } => {
            engine.test_target(&target).await?;
            "sent"
        }
        FormAction::Remove { target } => {
            engine.remove_target(&target).await?;
            "removed"
        }
    };
    Ok(Outcome::Done(done))
}
