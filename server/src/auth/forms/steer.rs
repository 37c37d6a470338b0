use std::str::FromStr;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use swe_ci_core::account::AccountRole;
use swe_ci_core::agent::Budget;
use swe_ci_core::run::BadConfig;
use swe_ci_core::steering::Change;
use swe_ci_engine::{Engine, Error};

use super::sent::{Again, Sent};
use crate::api::{Path, Problem};
use crate::auth::As;
use crate::serve::App;

/// What the forms of a run's page do.
#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum Deed {
    Pause,
    Resume,
    Retry,
    Preflight,
    Begin,
    Cancel,
    Change(Limits),
    Publish,
    Withdraw { reason: String },
    MarkVerified,
    Unmark,
}

/// The limits as they were typed. Nothing in the first is no limit, nothing in
/// the others is no change.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Limits {
    at_once: String,
    #[serde(rename = "budget.usd")]
    usd: String,
    #[serde(rename = "budget.tokens")]
    tokens: String,
    #[serde(rename = "budget.requests")]
    requests: String,
    #[serde(rename = "budget.seconds")]
    seconds: String,
}

/// Steers the run whose page it was sent from.
pub(super) async fn steer(
    State(app): State<App>,
    As(engine): As,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Submitter)?;
    let Sent { fields, request } = Sent::<Deed>::read(request).await?;
    match carry_out(&engine, &id, &fields).await {
        Ok(()) => Ok(Redirect::to(&format!("/runs/{id}")).into_response()),
        Err(error) => Ok(refused(app, request, fields, error).await),
    }
}

async fn carry_out(engine: &Engine, id: &str, deed: &Deed) -> Result<(), Error> {
    match deed {
        Deed::Pause => engine.pause(id).await,
        Deed::Resume => engine.resume(id).await,
        Deed::Retry => engine.retry_blocked(id).await.map(|_| ()),
        Deed::Preflight => engine.preflight_again(id).await,
        Deed::Begin => engine.begin_anyway(id).await,
        Deed::Cancel => engine.cancel(id).await,
        Deed::Change(limits) => {
            let change = limits.change().map_err(|bad| Error::Rejected(vec![bad]))?;
            engine.change(id, change).await
        }
        Deed::Publish => engine.publish(id).await,
        Deed::Withdraw { reason } => engine.unpublish(id, reason).await,
        Deed::MarkVerified => engine.mark_verified(id).await,
        Deed::Unmark => engine.unmark(id).await,
    }
}

/// The page again: with what is wrong at the field it is about, or above all
/// forms.
async fn refused(app: App, request: Request, deed: Deed, error: Error) -> Response {
    let (form, field, typed) = match (&deed, &error) {
        (Deed::Change(limits), Error::Rejected(_)) => ("change", "deed", limits.fields().to_vec()),
        (Deed::Withdraw { reason }, Error::Invalid(_)) => {
            ("withdraw", "reason", vec![("reason", reason.as_str())])
        }
        _ => ("steer", "deed", Vec::new()),
    };
    let again = typed
        .into_iter()
        .fold(Again::new(app, request, form), |again, (field, text)| {
            again.keeping(field, text)
        });
    again.refused(field, error).await
}

impl Limits {
    fn fields(&self) -> [(&'static str, &str); 5] {
        [
            ("at_once", &self.at_once),
            ("budget.usd", &self.usd),
            ("budget.tokens", &self.tokens),
            ("budget.requests", &self.requests),
            ("budget.seconds", &self.seconds),
        ]
    }

    fn change(&self) -> Result<Change, BadConfig> {
        Ok(Change {
            at_once: Some(number("at_once", &self.at_once)?),
            budget: Some(Budget {
                usd: number("budget.usd", &self.usd)?,
                tokens: number("budget.tokens", &self.tokens)?,
                requests: number("budget.requests", &self.requests)?,
                seconds: number("budget.seconds", &self.seconds)?,
            }),
        })
    }
}

/// A number as it was typed; none where nothing was.
fn number<N: FromStr>(field: &'static str, typed: &str) -> Result<Option<N>, BadConfig> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let read = typed.parse().map_err(|_| {
        let shown: String = typed.chars().take(40).collect();
        BadConfig::new(field, format!("`{shown}` is no number it can be"))
    });
    read.map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_as_they_are_typed() {
        let check = |at_once: &str, usd: &str, expect: Result<(Option<u32>, Option<f64>), &str>| {
            let typed = Limits {
                at_once: at_once.into(),
                usd: usd.into(),
                ..Limits::default()
            };
            let expect = expect.map(|(at_once, usd)| Change {
                at_once: Some(at_once),
                budget: Some(Budget {
                    usd,
                    ..Budget::default()
                }),
            });
            let found = typed.change();
            let field = found.as_ref().err().map(|bad| bad.field.to_string());
            assert_eq!(field.as_deref(), expect.err(), "{typed:?}");
            assert_eq!(found.ok(), expect.ok());
        };
        check("", "", Ok((None, None)));
        check(" 3 ", "12.5", Ok((Some(3), Some(12.5))));
        check("three", "", Err("at_once"));
        check("-1", "", Err("at_once"));
        check("", "a lot", Err("budget.usd"));
    }
}
