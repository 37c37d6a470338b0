//! The forms that steer a run and review its findings, on its page.

use std::str::FromStr;

use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use swe_ci_core::agent::Budget;
use swe_ci_core::finding::Decision;
use swe_ci_core::run::BadConfig;
use swe_ci_core::step::Ending;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::AccountRole;
use swe_ci_views::finding::FindingId;
use swe_ci_views::steering::Change;

use super::submitted_form::{FormPage, SubmittedForm, at_field};
use crate::extract::Path;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Pause,
    Resume,
    Retry,
    Preflight,
    Begin,
    Cancel,
    Change(Limits),
    Publish,
    Withdraw {
        reason: String,
    },
    Delete {
        name: String,
    },
    Verify {
        sample: String,
    },
    MarkVerified,
    Unmark,
    Regrade,
    Clear,
    Review {
        finding: String,
        decision: Decision,
        reason: String,
    },
}

/// The limits as typed. An empty first field means no limit; an empty other
/// field means no change.
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

/// Applies the action to the run whose page sent the form.
pub(super) async fn steer(
    Path(id): Path<String>,
    form: SubmittedForm,
) -> Result<Response, Problem> {
    let (engine, action, page) = form.read::<FormAction>(AccountRole::Submitter).await?;
    match carry_out(&engine, &id, &action).await {
        Ok(shown) => Ok(Redirect::to(&shown).into_response()),
        Err(error) => Ok(refused(page, &action, error).await),
    }
}

/// Returns the page to show then: a regrade leads to the new run.
async fn carry_out(engine: &Engine, id: &str, action: &FormAction) -> Result<String, Error> {
    match action {
        FormAction::Pause => engine.pause(id).await,
        FormAction::Resume => engine.resume(id).await,
        FormAction::Retry => engine.retry_blocked(id).await.map(|_| ()),
        FormAction::Preflight => engine.preflight_again(id).await,
        FormAction::Begin => engine.begin_anyway(id).await,
        FormAction::Cancel => engine.cancel(id).await,
        FormAction::Change(limits) => {
            let change = limits.change().map_err(|bad| Error::Rejected(vec![bad]))?;
            engine.change(id, change).await
        }
        FormAction::Publish => engine.publish(id).await,
        FormAction::Withdraw { reason } => engine.unpublish(id, reason).await,
        FormAction::Verify { sample } => {
            let most = number("sample", sample).and_then(|most| match most {
                Some(0) => Err(BadConfig::new(
                    "sample",
                    "write a number from 1, or nothing",
                )),
                most => Ok(most),
            });
            let most = most.map_err(|bad| Error::Rejected(vec![bad]))?;
            engine.start_verification(id, most).await
        }
        FormAction::MarkVerified => engine.mark_verified(id).await,
        FormAction::Unmark => engine.unmark(id).await,
        FormAction::Clear => engine.clear(id, &[Ending::AgentGaveUp]).await.map(|_| ()),
        FormAction::Regrade => {
            let new = engine.regrade(id).await?;
            return Ok(format!("/runs/{new}"));
        }
        FormAction::Delete { name } => {
            engine.delete_run(id, name).await?;
            return Ok("/runs".to_owned());
        }
        FormAction::Review {
            finding,
            decision,
            reason,
        } => {
            let finding = finding.parse::<FindingId>();
            let finding = finding.map_err(|e| Error::Invalid(e.to_string()))?;
            engine.review_finding(id, &finding, *decision, reason).await
        }
    }?;
    Ok(format!("/runs/{id}"))
}

/// Renders the page again, with the error at its field, or above all forms.
async fn refused(page: FormPage, action: &FormAction, error: Error) -> Response {
    let (form, field, typed) = match (action, &error) {
        (FormAction::Change(limits), Error::Rejected(_)) => {
            ("change", "deed", limits.fields().to_vec())
        }
        (FormAction::Verify { sample }, Error::Rejected(_)) => {
            ("verify", "sample", vec![("sample", sample.as_str())])
        }
        (FormAction::Withdraw { reason }, Error::Invalid(_)) => {
            ("withdraw", "reason", vec![("reason", reason.as_str())])
        }
        (FormAction::Delete { name }, Error::Invalid(_) | Error::Conflict(_)) => {
            ("delete", "name", vec![("name", name.as_str())])
        }
        (
            FormAction::Review {
                finding, reason, ..
            },
            Error::Invalid(_),
        ) => {
            let typed = [("finding", finding), ("reason", reason)];
            let typed = typed.map(|(field, text)| (field, text.as_str()));
            ("review", "reason", typed.to_vec())
        }
        _ => ("steer", "deed", Vec::new()),
    };
    let page = typed
        .into_iter()
        .fold(page.of_form(form), |page, (field, text)| {
            page.with_value(field, text)
        });
    page.respond(Err(at_field(field)(error))).await
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

/// A typed number; `None` for an empty field.
fn number<N: FromStr>(field: &'static str, typed: &str) -> Result<Option<N>, BadConfig> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let read = typed.parse().map_err(|_| {
        let shown: String = typed.chars().take(40).collect();
        BadConfig::new(field, format!("`{shown}` is not a valid number here"))
    });
    read.map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_as_typed() {
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
