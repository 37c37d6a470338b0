//! The errors handlers document: groups that several share, and the parts that
//! every one of them has.
//!
//! A handler names a group, or a status and a description;
//! [`complete`] adds the body, which is the same for all errors.

use std::collections::BTreeMap;

use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response, SecurityRequirement};
use utoipa::{IntoResponses, ToSchema};

use crate::problem::{MEDIA_TYPE, ProblemBody};

/// Defines types that stand for responses in `#[utoipa::path(responses(…))]`.
/// Of a status given twice, the handler's last one counts.
macro_rules! groups {
    ($($name:ident { $($status:literal: $description:literal),+ })+) => {$(
        #[derive(Debug)]
        pub(super) enum $name {}

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$(($status.to_owned(), Response::new($description).into())),+].into()
            }
        }
    )+};
}

groups! {
    Invalid { "400": "A parameter is invalid" }
    SignedIn { "401": "The request has no valid token" }
    Submitter {
        "401": "The request has no valid token",
        "403": "The account lacks the role submitter"
    }
    Admin {
        "401": "The request has no valid token",
        "403": "The account lacks the role admin"
    }
    RunOwner {
        "401": "The request has no valid token",
        "403": "The run belongs to someone else",
        "404": "There is no such run"
    }
    NoSuchRun { "404": "There is no such run" }
    NoSuchSplit { "404": "There is no such split" }
    NoSuchTask { "404": "There is no such task" }
    NoSuchCuration { "404": "There is no such curation" }
    RunOver { "409": "The run is over" }
    NotInPreflight { "409": "The run is not waiting for a preflight, or is over" }
    NoCode { "404": "There is no such iteration, or its code is not known here" }
    NoTrajectory { "404": "There is no such step, or it called no model" }
    NoSuchTarget { "404": "You have no such target" }
    NotComparable {
        "400": "A parameter is invalid, or these runs cannot be compared",
        "404": "A run does not exist, or the runs do not share the task"
    }
}

/// Gives every error its body, every operation what the server around it answers,
/// and the token as its security scheme: those that can answer 401 need it. With it
/// others also answer of what only its account may see.
pub(super) fn complete(document: &mut OpenApi) {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "An API token from the page of your account; it begins with `sweci_`.",
        ));
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(scheme.build()));
    for (path, item) in &mut document.paths.paths {
        if let Some(read) = &mut item.get
            && path.starts_with("/api/v1/")
        {
            allow_unchanged(read);
        }
        let operations = [
            &mut item.get,
            &mut item.put,
            &mut item.post,
            &mut item.delete,
            &mut item.patch,
        ];
        for operation in operations.into_iter().flatten() {
            if operation.security.is_none() {
                let needed = operation.responses.responses.contains_key("401");
                operation.security = Some(match needed {
                    true => vec![token()],
                    false => allow_visitors(operation),
                });
            }
            limit_body(path, operation);
            complete_errors(operation);
        }
    }
}

/// Nobody who sends credentials is taken for a visitor.
fn allow_visitors(operation: &mut Operation) -> Vec<SecurityRequirement> {
    let refused = Response::new("The request has credentials, and they are no valid token");
    let responses = &mut operation.responses.responses;
    responses.insert("401".to_owned(), refused.into());
    vec![SecurityRequirement::default(), token()]
}

/// Answers in JSON and CSV have an entity tag.
fn allow_unchanged(operation: &mut Operation) {
    let responses = &mut operation.responses.responses;
    let tagged = match responses.get("200") {
        Some(RefOr::T(response)) => ["application/json", "text/csv"]
            .iter()
            .any(|kind| response.content.contains_key(*kind)),
        _ => false,
    };
    if tagged {
        let unchanged = Response::new("The answer is the one that `If-None-Match` names");
        responses.insert("304".to_owned(), unchanged.into());
    }
}

fn limit_body(path: &str, operation: &mut Operation) {
    if operation.request_body.is_some() {
        let refused = Response::new(match path {
            "/api/v1/submissions" => "The body has more than 1 GiB",
            _ => "The body has more than 1 MiB",
        });
        let responses = &mut operation.responses.responses;
        responses.insert("413".to_owned(), refused.into());
    }
}

fn token() -> SecurityRequirement {
    SecurityRequirement::new("token", [""; 0])
}

fn complete_errors(operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && status.starts_with(['4', '5'])
        {
            let schema = Ref::from_schema_name(ProblemBody::name());
            let content = Content::new(Some(schema));
            response
                .content
                .insert(MEDIA_TYPE.to_owned(), RefOr::T(content));
        }
    }
}
