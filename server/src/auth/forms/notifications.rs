//! The forms of the page of notification targets.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::AccountRole;
use swe_ci_views::notification::Occasion;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::problem::Problem;

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
        let boxes = [&self.finished, &self.blocked, &self.budget];
        let boxes = Occasion::OF_RUNS.into_iter().zip(boxes);
        let ticked = boxes.filter(|(_, sent)| sent.is_some());
        ticked.map(|(event, _)| event).collect()
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

pub(super) async fn change(form: SubmittedForm) -> Result<Response, Problem> {
    let (engine, action, page) = form.read::<FormAction>(AccountRole::Submitter).await?;
    let (form, field) = action.form();
    let values = action.values().into_iter();
    let page = values.fold(page.of_form(form), |page, (name, text)| {
        page.with_value(name, text)
    });
    let done = carry_out(&engine, action).await;
    Ok(page.respond(done.map_err(at_field(field))).await)
}

async fn carry_out(engine: &Engine, action: FormAction) -> Result<Outcome, Error> {
    let done = match action {
        FormAction::AddWebhook { url, ticked } => {
            let (_, secret) = engine.add_webhook(&url, &ticked.events()).await?;
            return Ok(Outcome::Secret(secret));
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
    Ok(Outcome::Open(format!("/notifications?done={done}")))
}
