//! Submitted forms, and the pages rendered in response to them.

use axum::Form;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::Response;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use swe_ci_app::{AppError, FormAnswer};
use swe_ci_core::run::BadConfig;
use swe_ci_engine::Error;
use swe_ci_views::submission::Estimate;

use crate::app::App;
use crate::pages::render_form_answer;
use crate::problem::Problem;

/// A submitted form, and its request without the body.
#[derive(Debug)]
pub(super) struct SubmittedForm<T> {
    pub fields: T,
    pub request: Request,
}

impl<T: DeserializeOwned> SubmittedForm<T> {
    /// # Errors
    /// A problem for a body that no page of ours sends.
    pub(super) async fn read(request: Request) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let without_body = Request::from_parts(parts.clone(), Body::empty());
        let form = Form::from_request(Request::from_parts(parts, body), &()).await;
        let Form(fields) = form.map_err(|e| Problem::unreadable(e.to_string()))?;
        Ok(Self {
            fields,
            request: without_body,
        })
    }
}

impl SubmittedForm<Vec<(String, String)>> {
    /// Also reads a form that may contain files; a file becomes its text.
    ///
    /// # Errors
    /// As [`SubmittedForm::read`].
    pub(super) async fn read_with_files(request: Request) -> Result<Self, Problem> {
        let kind = request.headers().get(CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/form-data")) {
            return Self::read(request).await;
        }
        let (parts, body) = request.into_parts();
        let without_body = Request::from_parts(parts.clone(), Body::empty());
        let unreadable = |why: &dyn std::fmt::Display| Problem::unreadable(why.to_string());
        let form = Multipart::from_request(Request::from_parts(parts, body), &()).await;
        let mut form = form.map_err(|e| unreadable(&e))?;
        let mut fields = Vec::new();
        while let Some(field) = form.next_field().await.map_err(|e| unreadable(&e))? {
            let name = field.name().unwrap_or_default().to_owned();
            let text = field.text().await.map_err(|e| unreadable(&e))?;
            fields.push((name, text));
        }
        Ok(Self {
            fields,
            request: without_body,
        })
    }
}

/// The page that sent a form, rendered in response to it.
#[derive(Debug)]
pub(super) struct FormPage {
    app: App,
    request: Request,
    answer: FormAnswer,
}

impl FormPage {
    pub(super) fn new(app: App, request: Request, form: &str) -> Self {
        let answer = FormAnswer {
            form: form.to_owned(),
            ..FormAnswer::default()
        };
        Self {
            app,
            request,
            answer,
        }
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

    /// Renders the page with an error at a field, or at the fields of a
    /// configuration.
    pub(super) async fn with_error(mut self, field: &str, error: Error) -> Response {
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
        let mut response =
            render_form_answer(self.app, self.request, kind.status(), self.answer).await;
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }

    /// Renders the page with the kept values in its fields.
    pub(super) async fn render(self) -> Response {
        render_form_answer(self.app, self.request, 200, self.answer).await
    }

    /// Renders the page with an estimate of the run.
    pub(super) async fn with_estimate(mut self, estimate: Estimate) -> Response {
        self.answer.estimate = Some(estimate);
        self.render().await
    }

    /// Renders the page with a new secret, which it shows only once.
    pub(super) async fn with_secret(mut self, secret: &SecretString) -> Response {
        self.answer.kept.clear();
        self.answer.made = Some(secret.expose_secret().to_owned());
        render_form_answer(self.app, self.request, 200, self.answer).await
    }
}
