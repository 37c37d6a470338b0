//! The form that submits a run.

use axum::Json;
use axum::response::{IntoResponse, Response};
use secrecy::SecretString;
use serde::Serialize;
use swe_ci_app::estimate_in_html;
use swe_ci_core::run::BadConfig;
use swe_ci_engine::{Engine, Error, experiments, run_configuration};
use swe_ci_views::account::{AccountRole, Visibility};
use swe_ci_views::submission::{NEW_KEY, NEW_KEY_NAME, RunForm, Submission};

use super::submitted_form::{FieldError, FormPage, Outcome, SubmittedForm, at_field};
use crate::problem::Problem;

/// The submitted fields: buttons and secrets, separate from what the page shows again.
#[derive(Debug, Default)]
struct SubmittedRun {
    /// The pressed button.
    action: String,
    /// To be stored with the run.
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
                NEW_KEY => run.new_key = text.into(),
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
    fn visibility(&self) -> Visibility {
        Visibility::from_name(self.form.text("visibility")).unwrap_or_default()
    }

    fn is_ticked(&self, name: &str) -> bool {
        !self.form.text(name).is_empty()
    }
}

/// The answer to a form that is being filled in.
#[derive(Serialize)]
struct Checked {
    problems: Vec<BadConfig>,
    /// The estimate as a part of the page.
    estimate: String,
}

/// Queues the run, estimates it, checks its fields, lists the provider's models, or
/// fills the form from a text.
pub(super) async fn submit(form: SubmittedForm) -> Result<Response, Problem> {
    let engine = form.engine;
    engine.require(AccountRole::Submitter)?;
    let (fields, page) = FormPage::read_with_files(form.app, form.request).await?;
    let run: SubmittedRun = fields.into_iter().collect();
    let page = page.of_form("run");
    if run.action == "check" {
        return Ok(check(&engine, &run).await?.into_response());
    }
    if run.action == "read" {
        return Ok(read(page, &run.toml).await);
    }
    if let "estimate-all" | "submit-all" = run.action.as_str() {
        return Ok(experiment(&engine, page, &run).await);
    }
    let page = with_value(page, &run.form);
    let done = match run.action.as_str() {
        "preview" => match engine.preview(&run.form).await {
            Ok(estimate) => return Ok(page.with_estimate(estimate).await),
            Err(refused) => Err(at_field("model")(refused)),
        },
        "models" => match engine.models_of(&run.form, &run.new_key).await {
            Ok(models) => return Ok(page.with_models(models).await),
            Err(refused) => Err(at_field("endpoint.model")(refused)),
        },
        _ => {
            let queued = queue(&engine, &run).await;
            queued.map(|id| Outcome::Open(format!("/runs/{id}")))
        }
    };
    Ok(page.respond(done).await)
}

async fn check(engine: &Engine, run: &SubmittedRun) -> Result<Json<Checked>, Problem> {
    let (problems, estimate) = match engine.preview(&run.form).await {
        Ok(estimate) => (Vec::new(), Some(estimate)),
        Err(Error::Rejected(problems)) => (problems, None),
        Err(error) => return Err(error.into()),
    };
    let estimate = estimate_in_html(estimate);
    Ok(Json(Checked { problems, estimate }))
}

async fn queue(engine: &Engine, run: &SubmittedRun) -> Result<String, FieldError> {
    let refused = at_field("model");
    let config = engine.read_form(&run.form, run.visibility(), &run.new_key);
    let config = config.await;
    let config = config.map_err(&refused)?;
    if run.form.adds_key() {
        let name = run.form.text(NEW_KEY_NAME);
        let set = engine.set_key(name, &run.new_key).await;
        set.map_err(at_field(NEW_KEY))?;
    }
    let submission = Submission {
        config,
        visibility: run.visibility(),
        preflight: !run.is_ticked("skip-preflight"),
        forget_keys: run.is_ticked("forget-keys"),
    };
    engine.queue(submission).await.map_err(refused)
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

/// Estimates or queues all runs that a text stands for.
async fn experiment(engine: &Engine, page: FormPage, run: &SubmittedRun) -> Response {
    let refused = at_field("toml");
    let page = page.with_value("toml", &run.toml);
    let configs = experiments::from_toml(&run.toml);
    let configs = configs.map_err(|why| refused(Error::Invalid(why)));
    let done = match configs {
        Ok(configs) if run.action == "estimate-all" => {
            match engine.estimate_experiment(configs).await {
                Ok(planned) => return page.with_planned(planned).await,
                Err(error) => Err(refused(error)),
            }
        }
        Ok(configs) => {
            let submission = |config| Submission {
                config,
                visibility: Visibility::default(),
                preflight: true,
                forget_keys: false,
            };
            let submissions = configs.into_iter().map(submission).collect();
            let queued = engine.queue_experiment(submissions).await;
            let opened = |_| Outcome::Open("/runs".to_owned());
            queued.map(opened).map_err(refused)
        }
        Err(error) => Err(error),
    };
    page.respond(done).await
}

fn with_value(page: FormPage, form: &RunForm) -> FormPage {
    form.fields()
        .fold(page, |page, (name, text)| page.with_value(name, text))
}
