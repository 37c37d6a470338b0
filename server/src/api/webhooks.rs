//! Describes the messages that the server sends by itself.

use swe_ci_views::notification::{Occasion, WebhookMessage};
use utoipa::ToSchema;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, ParameterBuilder, ParameterIn, PathItem, Paths,
    PathsBuilder,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Content, Ref, Required, Response};

/// The headers of Standard Webhooks, which sign a message.
const HEADERS: [(&str, &str); 3] = [
    ("webhook-id", "Of the message: the same in every try"),
    ("webhook-timestamp", "When this try began, in unix seconds"),
    (
        "webhook-signature",
        "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, with the target's secret",
    ),
];

/// An operation of the receiver for each occasion.
pub(super) fn described() -> Paths {
    let occasions = Occasion::OF_RUNS.into_iter().chain([Occasion::Test]);
    let paths = occasions.fold(PathsBuilder::new(), |paths, occasion| {
        let item = PathItem::new(HttpMethod::Post, message(occasion));
        paths.path(occasion.name(), item)
    });
    paths.build()
}

fn message(occasion: Occasion) -> Operation {
    let schema = Ref::from_schema_name(WebhookMessage::name());
    let body = RequestBodyBuilder::new()
        .content("application/json", Content::new(Some(schema)))
        .required(Some(Required::True));
    let summary = match occasion {
        Occasion::RunFinished => "A run finished or was cancelled",
        Occasion::RunBlocked => "The first evolution of a run is blocked; it can be retried",
        Occasion::RunBudget => "A run has spent its budget; no further step of it starts",
        Occasion::Test | Occasion::Code => "Somebody tests whether messages arrive",
    };
    let operation = OperationBuilder::new()
        .tag("accounts")
        .summary(Some(summary))
        .request_body(Some(body.build()))
        .response(
            "2XX",
            Response::new("Acknowledged, if it came within 10 seconds"),
        )
        .response(
            "410",
            Response::new("Not wanted any more: the server gives up"),
        )
        .response(
            "default",
            Response::new("The server tries again, seven times within 20 hours"),
        );
    HEADERS
        .into_iter()
        .fold(operation, |operation, (name, what)| {
            let text = ObjectBuilder::new().schema_type(Type::String);
            operation.parameter(
                ParameterBuilder::new()
                    .name(name)
                    .parameter_in(ParameterIn::Header)
                    .required(Required::True)
                    .description(Some(what))
                    .schema(Some(text)),
            )
        })
        .build()
}
