//! The forms of the page of notification targets.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;
use swe_ci_views::notification::Occasion;

use super::submitted_form::{FormPage, Outcome, SubmittedForm, at_field};
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

pub(super) async fn change(form: SubmittedForm) -> Result<Response, Problem> {
    let (engine, action, page) = form.read(AccountRole::Submitter).await?;
    let opened = |done: &str| Outcome::Open(format!("/notifications?done={done}"));
    let (page, field, done) = match action {
        FormAction::AddWebhook { url, ticked } => {
            let events = ticked.events();
            let (page, field) = with_typed(page.of_form("add-webhook"), "url", &url, &events);
            let added = engine.add_webhook(&url, &events).await;
            let secret = added.map(|(_, secret)| secret);
            (page, field, secret.map(Outcome::Secret))
        }
        FormAction::AddMailbox { address, ticked } => {
            let events = ticked.events();
            let page = page.of_form("add-mailbox");
            let (page, field) = with_typed(page, "address", &address, &events);
            let added = engine.add_mailbox(&address, &events).await;
            (page, field, added.map(|_| opened("code")))
        }
        FormAction::Confirm { target, code } => {
            let confirmed = engine.confirm_mailbox(&target, &code).await;
            let page = page.of_form("confirm");
            (page, "code", confirmed.map(|()| opened("confirmed")))
        }
        FormAction::Test { target } => {
            let sent = engine.test_target(&target).await;
            let page = page.of_form("test");
            (page, "target", sent.map(|()| opened("sent")))
        }
        FormAction::Remove { target } => {
            let removed = engine.remove_target(&target).await;
            let page = page.of_form("remove");
            (page, "target", removed.map(|()| opened("removed")))
        }
    };
    Ok(page.respond(done.map_err(at_field(field))).await)
}

/// The page with what was typed to add a target, and the field that shows the
/// error.
fn with_typed(
    page: FormPage,
    field: &'static str,
    text: &str,
    events: &[Occasion],
) -> (FormPage, &'static str) {
    // Marks that the form was sent: in a new form all boxes are ticked.
    let page = page.with_value(field, text).with_value("events", "sent");
    let ticked = events.iter();
    let page = ticked.fold(page, |page, event| page.with_value(event.name(), "on"));
    (page, if events.is_empty() { "events" } else { field })
}
