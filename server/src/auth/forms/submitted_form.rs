//! Submitted forms, and the pages rendered in response to them.

use std::convert::Infallible;

use axum::Form;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use swe_ci_app::{AppError, FormAnswer};
use swe_ci_core::run::BadConfig;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::AccountRole;
use swe_ci_views::credentials;
use swe_ci_views::submission::{Estimate, ExperimentEstimate};

use crate::app::App;
use crate::extract::actor;
use crate::pages::render_form_answer;
use crate::problem::Problem;
use crate::shown_once;

/// An error, and the field of the form that shows it.
#[derive(Debug)]
pub(super) struct FieldError {
    pub field: &'static str,
    pub error: Error,
}

pub(super) fn at_field(field: &'static str) -> impl Fn(Error) -> FieldError {
    move |error| FieldError { field, error }
}

/// Checks a new password that was typed twice.
pub(super) fn check_new_password(
    field: &'static str,
    password: &SecretString,
    again: &SecretString,
    name: &str,
) -> Result<(), FieldError> {
    let wrong = |says: &str| Error::Invalid(says.to_owned());
    let (password, again) = (password.expose_secret(), again.expose_secret());
    credentials::check_password(password, name).map_err(|says| at_field(field)(wrong(says)))?;
    match password == again {
        true => Ok(()),
        false => Err(at_field("again")(wrong(
            "the passwords differ; type both again",
        ))),
    }
}

/// The result of a form's action.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The address to open.
    Open(String),
    /// A new secret, which the page shows once after a redirect.
    Secret(SecretString),
}

/// A form whose body has not been read yet.
#[derive(Debug)]
pub(super) struct SubmittedForm {
    pub app: App,
    /// Bound to the sender.
    pub engine: Engine,
    pub request: Request,
}

impl FromRequest<App> for SubmittedForm {
    type Rejection = Infallible;

    async fn from_request(request: Request, app: &App) -> Result<Self, Infallible> {
        Ok(Self {
            app: app.clone(),
            engine: app.engine.acting_for(actor(request.extensions())),
            request,
        })
    }
}

impl SubmittedForm {
    /// The engine of the sender, the fields of the form, and its page.
    ///
    /// # Errors
    /// For a sender without the role, and as [`FormPage::read`].
    pub(super) async fn read<T: DeserializeOwned>(
        self,
        role: AccountRole,
    ) -> Result<(Engine, T, FormPage), Problem> {
        self.engine.require(role)?;
        let (fields, page) = FormPage::read(self.app, self.request).await?;
        Ok((self.engine, fields, page))
    }
}

/// The page that sent a form, rendered in response to it.
#[derive(Debug)]
pub(super) struct FormPage {
    app: App,
    /// Without the body.
    request: Request,
    answer: FormAnswer,
}

impl FormPage {
    /// The fields of a submitted form, and its page.
    ///
    /// # Errors
    /// A problem for a body that no page of ours sends.
    pub(super) async fn read<T: DeserializeOwned>(
        app: App,
        request: Request,
    ) -> Result<(T, Self), Problem> {
        let (page, request) = Self::split(app, request);
        let Form(fields) = Form::from_request(request, &())
            .await
            .map_err(|e| Problem::unreadable(e.to_string()))?;
        Ok((fields, page))
    }

    /// Also reads a form that may contain files; a file becomes its text.
    ///
    /// # Errors
    /// As [`FormPage::read`].
    pub(super) async fn read_with_files(
        app: App,
        request: Request,
    ) -> Result<(Vec<(String, String)>, Self), Problem> {
        let kind = request.headers().get(CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/form-data")) {
            return Self::read(app, request).await;
        }
        let (page, request) = Self::split(app, request);
        let unreadable = |why: &dyn std::fmt::Display| Problem::unreadable(why.to_string());
        let form = Multipart::from_request(request, &()).await;
        let mut form = form.map_err(|e| unreadable(&e))?;
        let mut fields = Vec::new();
        while let Some(field) = form.next_field().await.map_err(|e| unreadable(&e))? {
            let name = field.name().unwrap_or_default().to_owned();
            let text = field.text().await.map_err(|e| unreadable(&e))?;
            fields.push((name, text));
        }
        Ok((fields, page))
    }

    fn split(app: App, request: Request) -> (Self, Request) {
        let (parts, body) = request.into_parts();
        let page = Self {
            app,
            request: Request::from_parts(parts.clone(), Body::empty()),
            answer: FormAnswer::default(),
        };
        (page, Request::from_parts(parts, body))
    }

    /// Names the form of the page that was sent.
    pub(super) fn of_form(mut self, form: &str) -> Self {
        form.clone_into(&mut self.answer.form);
        self
    }

    /// The request that submitted the form.
    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    /// Keeps a typed value; never use it for a secret.
    pub(super) fn with_value(mut self, field: &str, text: &str) -> Self {
        let kept = &mut self.answer.kept;
        kept.push((field.to_owned(), text.to_owned()));
        self
    }

    /// Responds to the form. Where its action failed, renders the page with the
    /// error at its field, or at the fields of a configuration.
    pub(super) async fn respond(mut self, done: Result<Outcome, FieldError>) -> Response {
        let FieldError { field, error } = match done {
            Ok(Outcome::Open(address)) => return Redirect::to(&address).into_response(),
            Ok(Outcome::Secret(secret)) => {
                let secure = self.app.is_secure();
                let path = self.request.uri().path();
                return shown_once::redirect(path, &self.answer.form, &secret, secure);
            }
            Err(error) => error,
        };
        let retry_after = match &error {
            Error::TooMany { retry_after } => Some(retry_after.as_secs().max(1)),
            _ => None,
        };
        self.answer.problems = match &error {
            Error::Rejected(problems) => problems.clone(),
            _ => Vec::new(),
        };
        let AppError { kind, message } = error.into();
        if self.answer.problems.is_empty() {
            self.answer.problems.push(BadConfig::new(field, message));
        }
        let rendered = render_form_answer(self.app, self.request, kind.status(), self.answer);
        let mut response = rendered.await;
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }

    /// Renders the page with the kept values in its fields.
    pub(super) async fn render(self) -> Response {
        render_form_answer(self.app, self.request, 200, self.answer).await
    }

    /// Renders the page with the models of the provider.
    pub(super) async fn with_models(mut self, models: Vec<String>) -> Response {
        self.answer.models = models;
        self.render().await
    }

    /// Renders the page with an estimate of the experiment.
    pub(super) async fn with_planned(mut self, planned: ExperimentEstimate) -> Response {
        self.answer.planned = Some(planned);
        self.render().await
    }

    /// Renders the page with an estimate of the run.
    pub(super) async fn with_estimate(mut self, estimate: Estimate) -> Response {
        self.answer.estimate = Some(estimate);
        self.render().await
    }
}
