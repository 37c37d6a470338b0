use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_core::account::AccountRole;
use swe_ci_core::notification::Occasion;
use swe_ci_engine::{Engine, Error};

use super::sent::{Again, Sent};
use crate::api::Problem;
use crate::auth::As;
use crate::serve::App;

/// What the forms of the page do.
#[derive(Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum Deed {
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

/// A box is sent where it is ticked.
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

impl Deed {
    /// The form it was sent by, and the field that says what is wrong.
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

    /// What was typed, to be there again.
    fn kept(&self) -> Vec<(&'static str, &str)> {
        let (field, text, ticked) = match self {
            Self::AddWebhook { url, ticked } => ("url", url, ticked),
            Self::AddMailbox { address, ticked } => ("address", address, ticked),
            _ => return Vec::new(),
        };
        let ticked = ticked.events().into_iter();
        let ticked = ticked.map(|event| (event.name(), "on"));
        // That boxes were sent at all: a new form has all of them ticked.
        let sent = [(field, text.as_str()), ("events", "sent")];
        sent.into_iter().chain(ticked).collect()
    }
}

/// What came of a deed.
enum Outcome {
    /// As the page calls it in its address.
    Done(&'static str),
    /// A webhook, which signs with this.
    Added(SecretString),
}

pub(super) async fn change(
    State(app): State<App>,
    As(engine): As,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Submitter)?;
    let Sent { fields, request } = Sent::<Deed>::read(request).await?;
    let (form, field) = fields.form();
    let mut again = Again::new(app, request, form);
    for (name, text) in fields.kept() {
        again = again.keeping(name, text);
    }
    match carry_out(&engine, fields).await {
        Ok(Outcome::Done(what)) => {
            Ok(Redirect::to(&format!("/notifications?done={what}")).into_response())
        }
        Ok(Outcome::Added(secret)) => Ok(again.made(&secret).await),
        Err(error) => Ok(again.refused(field, error).await),
    }
}

async fn carry_out(engine: &Engine, deed: Deed) -> Result<Outcome, Error> {
    let done = match deed {
        Deed::AddWebhook { url, ticked } => {
            let (_, secret) = engine.add_webhook(&url, &ticked.events()).await?;
            return Ok(Outcome::Added(secret));
        }
        Deed::AddMailbox { address, ticked } => {
            engine.add_mailbox(&address, &ticked.events()).await?;
            "code"
        }
        Deed::Confirm { target, code } => {
            engine.confirm_mailbox(&target, &code).await?;
            "confirmed"
        }
        Deed::Test { target } => {
            engine.test_target(&target).await?;
            "sent"
        }
        Deed::Remove { target } => {
            engine.remove_target(&target).await?;
            "removed"
        }
    };
    Ok(Outcome::Done(done))
}
