use axum::Form;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::Response;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use swe_ci_app::{AppError, FieldProblem, FormAnswer};
use swe_ci_core::submission::Estimate;
use swe_ci_engine::Error;

use crate::api::Problem;
use crate::serve::{App, answer};

/// A form as it was sent, and the request it came with.
#[derive(Debug)]
pub(super) struct Sent<T> {
    pub fields: T,
    pub request: Request,
}

impl<T: DeserializeOwned> Sent<T> {
    /// # Errors
    /// A problem for what no page of ours sends.
    pub(super) async fn read(request: Request) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let kept = Request::from_parts(parts.clone(), Body::empty());
        let form = Form::from_request(Request::from_parts(parts, body), &()).await;
        let Form(fields) = form.map_err(|e| Problem::unreadable(e.to_string()))?;
        Ok(Self {
            fields,
            request: kept,
        })
    }
}

impl Sent<Vec<(String, String)>> {
    /// Also of a form that files may come with; a file is its text.
    ///
    /// # Errors
    /// As [`Sent::read`].
    pub(super) async fn read_with_files(request: Request) -> Result<Self, Problem> {
        let kind = request.headers().get(CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/form-data")) {
            return Self::read(request).await;
        }
        let (parts, body) = request.into_parts();
        let kept = Request::from_parts(parts.clone(), Body::empty());
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
            request: kept,
        })
    }
}

/// The page a form was sent from, made in answer.
#[derive(Debug)]
pub(super) struct Again {
    app: App,
    request: Request,
    answer: FormAnswer,
}

impl Again {
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

    /// The request the form came with.
    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    /// With what was typed into a field; never of a secret.
    pub(super) fn keeping(mut self, field: &str, text: &str) -> Self {
        let kept = &mut self.answer.kept;
        kept.push((field.to_owned(), text.to_owned()));
        self
    }

    /// With what is wrong at a field, or at those of a configuration.
    pub(super) async fn refused(mut self, field: &str, error: Error) -> Response {
        let retry_after = match &error {
            Error::TooMany { retry_after } => Some(retry_after.as_secs().max(1)),
            _ => None,
        };
        let problems = match &error {
            Error::Rejected(problems) => problems.as_slice(),
            _ => &[],
        };
        let problems = problems.iter().map(|bad| FieldProblem {
            field: bad.field.clone(),
            message: bad.problem.clone(),
        });
        self.answer.problems = problems.collect();
        let AppError { kind, message } = error.into();
        if self.answer.problems.is_empty() {
            self.answer.problems.push(FieldProblem {
                field: field.to_owned(),
                message,
            });
        }
        let mut response = answer(self.app, self.request, kind.status(), self.answer).await;
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }

    /// With what was typed elsewhere, in the fields.
    pub(super) async fn filled(self) -> Response {
        answer(self.app, self.request, 200, self.answer).await
    }

    /// With what the run that was typed would come to.
    pub(super) async fn estimated(mut self, estimate: Estimate) -> Response {
        self.answer.estimate = Some(estimate);
        self.filled().await
    }

    /// With a secret that was made, to be shown this once.
    pub(super) async fn made(mut self, secret: &SecretString) -> Response {
        self.answer.kept.clear();
        self.answer.made = Some(secret.expose_secret().to_owned());
        answer(self.app, self.request, 200, self.answer).await
    }
}
