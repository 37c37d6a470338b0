use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::account::{AccountRole, Visibility};
use swe_ci_core::run::RunConfig;
use swe_ci_core::submission::{Estimate, RunForm, Submission};
use swe_ci_engine::{Engine, Error, configuration};

use super::sent::{Again, Sent};
use super::wrong::{At, at};
use crate::api::Problem;
use crate::auth::As;
use crate::serve::App;

/// What was sent, told apart: the buttons and secrets from the configuration.
#[derive(Debug, Default)]
struct Order {
    /// Which button was pressed.
    deed: String,
    visibility: String,
    /// Ticked where it is to begin without having been tried.
    skip_preflight: String,
    /// Ticked where its keys are to be removed when it is over.
    forget_keys: String,
    /// To be stored under the name that the endpoint gives.
    new_key: SecretString,
    toml: String,
    form: RunForm,
}

impl FromIterator<(String, String)> for Order {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(fields: T) -> Self {
        let mut order = Self::default();
        for (name, text) in fields {
            match name.as_str() {
                "deed" => order.deed = text,
                "visibility" => order.visibility = text,
                "skip-preflight" => order.skip_preflight = text,
                "forget-keys" => order.forget_keys = text,
                "new-key" => order.new_key = text.into(),
                // A file that was chosen is what is meant.
                "toml" | "toml-file" if text.trim().is_empty() => {}
                "toml-file" => order.toml = text,
                "toml" if order.toml.is_empty() => order.toml = text,
                "toml" => {}
                _ => order.form.set(&name, text),
            }
        }
        order
    }
}

impl Order {
    fn config(&self) -> Result<RunConfig, At> {
        let config = self.form.config();
        config.map_err(|problems| at("model")(Error::Rejected(problems)))
    }
}

/// Queues the run, says what it would come to, or fills the form from a text.
pub(super) async fn submit(
    State(app): State<App>,
    As(engine): As,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Submitter)?;
    let Sent { fields, request } = Sent::read_with_files(request).await?;
    let order: Order = fields.into_iter().collect();
    let again = Again::new(app, request, "run");
    if order.deed == "read" {
        return Ok(read(again, &order.toml).await);
    }
    let again = keeping(again, &order.form)
        .keeping("visibility", &order.visibility)
        .keeping("skip-preflight", &order.skip_preflight)
        .keeping("forget-keys", &order.forget_keys);
    let refused = if order.deed == "preview" {
        match preview(&engine, &order).await {
            Ok(estimate) => return Ok(again.estimated(estimate).await),
            Err(refused) => refused,
        }
    } else {
        match queue(&engine, &order).await {
            Ok(id) => return Ok(Redirect::to(&format!("/runs/{id}")).into_response()),
            Err(refused) => refused,
        }
    };
    Ok(again.refused(refused.field, refused.error).await)
}

async fn preview(engine: &Engine, order: &Order) -> Result<Estimate, At> {
    let config = order.config()?;
    engine.preview(config).await.map_err(at("model"))
}

async fn queue(engine: &Engine, order: &Order) -> Result<String, At> {
    let visibility = Visibility::from_name(&order.visibility).unwrap_or(Visibility::Private);
    let config = order.config()?;
    if !order.new_key.expose_secret().is_empty() {
        let name = order.form.text("endpoint.key");
        engine
            .set_key(name, &order.new_key)
            .await
            .map_err(at("new-key"))?;
    }
    let submission = Submission {
        config,
        visibility,
        preflight: order.skip_preflight.is_empty(),
        forget_keys: !order.forget_keys.is_empty(),
    };
    engine.queue(submission).await.map_err(at("model"))
}

async fn read(again: Again, toml: &str) -> Response {
    match configuration::from_toml(toml) {
        Ok(config) => keeping(again, &RunForm::of_config(&config)).filled().await,
        Err(why) => {
            let again = again.keeping("toml", toml);
            again.refused("toml", Error::Invalid(why)).await
        }
    }
}

fn keeping(again: Again, form: &RunForm) -> Again {
    form.fields()
        .fold(again, |again, (name, text)| again.keeping(name, text))
}
