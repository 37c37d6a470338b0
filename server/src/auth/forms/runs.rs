//! The form that submits a run.

use axum::Json;
use axum::response::{IntoResponse, Response};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::agent::Endpoint;
use swe_ci_core::run::{HarnessConfig, RunConfig};
use swe_ci_engine::{Engine, Error, run_configuration};
use swe_ci_views::account::{AccountRole, Visibility};
use swe_ci_views::submission::{Estimate, RunForm, Submission};

use super::submitted_form::{FieldError, FormPage, Outcome, SubmittedForm, at_field};
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
    /// The configuration. Its endpoints speak what their harness speaks, so that
    /// nobody has to know it.
    async fn config(&self, engine: &Engine) -> Result<RunConfig, FieldError> {
        let config = self.form.config();
        let mut config = config.map_err(|problems| at_field("model")(Error::Rejected(problems)))?;
        let known = engine.harnesses().await.map_err(at_field("model"))?;
        let speak = |harness: &HarnessConfig, endpoint: &mut Option<Endpoint>| {
            let known = known.iter().find(|known| known.name == harness.name());
            let protocol = known.and_then(|known| known.protocol);
            if let (Some(endpoint), Some(protocol)) = (endpoint, protocol) {
                endpoint.protocol = protocol;
            }
        };
        speak(&config.harness, &mut config.endpoint);
        if let Some(programmer) = &mut config.programmer {
            speak(&programmer.harness, &mut programmer.endpoint);
        }
        Ok(config)
    }
}

/// Queues the run, estimates it, checks its fields, or fills the form from a text.
pub(super) async fn submit(form: SubmittedForm) -> Result<Response, Problem> {
    let engine = form.engine;
    engine.require(AccountRole::Submitter)?;
    let (fields, page) = FormPage::read_with_files(form.app, form.request).await?;
    let run: SubmittedRun = fields.into_iter().collect();
    let page = page.of_form("run");
    if run.action == "check" {
        let problems = run.form.config().err().unwrap_or_default();
        return Ok(Json(problems).into_response());
    }
    if run.action == "read" {
        return Ok(read(page, &run.toml).await);
    }
    let page = with_value(page, &run.form)
        .with_value("visibility", &run.visibility)
        .with_value("skip-preflight", &run.skip_preflight)
        .with_value("forget-keys", &run.forget_keys);
    let done = if run.action == "preview" {
        match preview(&engine, &run).await {
            Ok(estimate) => return Ok(page.with_estimate(estimate).await),
            Err(refused) => Err(refused),
        }
    } else {
        let queued = queue(&engine, &run).await;
        queued.map(|id| Outcome::Open(format!("/runs/{id}")))
    };
    Ok(page.respond(done).await)
}

async fn preview(engine: &Engine, run: &SubmittedRun) -> Result<Estimate, FieldError> {
    let mut config = run.config(engine).await?;
    // A key typed beside it is stored with the run; the estimate needs none.
    if !run.new_key.expose_secret().is_empty()
        && let Some(endpoint) = &mut config.endpoint
    {
        endpoint.key = None;
    }
    engine.preview(config).await.map_err(at_field("model"))
}

async fn queue(engine: &Engine, run: &SubmittedRun) -> Result<String, FieldError> {
    let visibility = Visibility::from_name(&run.visibility).unwrap_or_default();
    let config = run.config(engine).await?;
    if !run.new_key.expose_secret().is_empty() {
        let name = run.form.text("endpoint.key");
        let set = engine.set_key(name, &run.new_key).await;
        set.map_err(at_field("new-key"))?;
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
    match run_configuration::from_toml(toml) {
        Ok(config) => {
            let page = with_value(page, &RunForm::of_config(&config));
            page.render().await
        }
        Err(why) => {
            let error = at_field("toml")(Error::Invalid(why));
            page.with_value("toml", toml).respond(Err(error)).await
        }
    }
}

fn with_value(page: FormPage, form: &RunForm) -> FormPage {
    form.fields()
        .fold(page, |page, (name, text)| page.with_value(name, text))
}
