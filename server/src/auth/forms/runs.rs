//! The form that submits a run.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::run::RunConfig;
use swe_ci_engine::{Engine, Error, configuration};
use swe_ci_views::account::{AccountRole, Visibility};
use swe_ci_views::submission::{Estimate, RunForm, Submission};

use super::field_error::{FieldError, at_field};
use super::submitted_form::{FormPage, SubmittedForm};
use crate::actor::ActorEngine;
use crate::app::App;
use crate::problem::Problem;

/// The submitted fields: buttons and secrets, separate from the configuration.
#[derive(Debug, Default)]
struct SubmittedRun {
    /// The pressed button.
    action: String,
    visibility: String,
    /// Ticked to begin without a preflight.
    skip_preflight: String,
    /// Ticked to remove the keys when the run is over.
    forget_keys: String,
    /// To be stored under the name in the endpoint.
    new_key: SecretString,
    toml: String,
    form: RunForm,
}

impl FromIterator<(String, String)> for SubmittedRun {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(fields: T) -> Self {
        let mut run = Self::default();
        for (name, text) in fields {
            match name.as_str() {
                "deed" => run.action = text,
                "visibility" => run.visibility = text,
                "skip-preflight" => run.skip_preflight = text,
                "forget-keys" => run.forget_keys = text,
                "new-key" => run.new_key = text.into(),
                // A chosen file takes precedence.
                "toml" | "toml-file" if text.trim().is_empty() => {}
                "toml-file" => run.toml = text,
                "toml" if run.toml.is_empty() => run.toml = text,
                "toml" => {}
                _ => run.form.set(&name, text),
            }
        }
        run
    }
}

impl SubmittedRun {
    fn config(&self) -> Result<RunConfig, FieldError> {
        let config = self.form.config();
        config.map_err(|problems| at_field("model")(Error::Rejected(problems)))
    }
}

/// Queues the run, estimates it, or fills the form from a text.
pub(super) async fn submit(
    State(app): State<App>,
    ActorEngine(engine): ActorEngine,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Submitter)?;
    let SubmittedForm { fields, request } = SubmittedForm::read_with_files(request).await?;
    let run: SubmittedRun = fields.into_iter().collect();
    let page = FormPage::new(app, request, "run");
    if run.action == "read" {
        return Ok(read(page, &run.toml).await);
    }
    let page = with_value(page, &run.form)
        .with_value("visibility", &run.visibility)
        .with_value("skip-preflight", &run.skip_preflight)
        .with_value("forget-keys", &run.forget_keys);
    let refused = if run.action == "preview" {
        match preview(&engine, &run).await {
            Ok(estimate) => return Ok(page.with_estimate(estimate).await),
            Err(refused) => refused,
        }
    } else {
        match queue(&engine, &run).await {
            Ok(id) => return Ok(Redirect::to(&format!("/runs/{id}")).into_response()),
            Err(refused) => refused,
        }
    };
    Ok(page.with_error(refused.field, refused.error).await)
}

async fn preview(engine: &Engine, run: &SubmittedRun) -> Result<Estimate, FieldError> {
    let config = run.config()?;
    engine.preview(config).await.map_err(at_field("model"))
}

async fn queue(engine: &Engine, run: &SubmittedRun) -> Result<String, FieldError> {
    let visibility = Visibility::from_name(&run.visibility).unwrap_or(Visibility::Private);
    let config = run.config()?;
    if !run.new_key.expose_secret().is_empty() {
        let name = run.form.text("endpoint.key");
        engine
            .set_key(name, &run.new_key)
            .await
            .map_err(at_field("new-key"))?;
    }
    let submission = Submission {
        config,
        visibility,
        preflight: run.skip_preflight.is_empty(),
        forget_keys: !run.forget_keys.is_empty(),
    };
    engine.queue(submission).await.map_err(at_field("model"))
}

async fn read(page: FormPage, toml: &str) -> Response {
    match configuration::from_toml(toml) {
        Ok(config) => {
            with_value(page, &RunForm::of_config(&config))
                .render()
                .await
        }
        Err(why) => {
            let page = page.with_value("toml", toml);
            page.with_error("toml", Error::Invalid(why)).await
        }
    }
}

fn with_value(page: FormPage, form: &RunForm) -> FormPage {
    form.fields()
        .fold(page, |page, (name, text)| page.with_value(name, text))
}
