//! All the ways in which a provider of chat completions fails, for tests of whose
//! fault a failure is and for the fault storm.

use super::script::Fault;

/// The faults by the names that docs/outcomes.md gives them. An answer in place of the
/// script's reports no usage.
pub const FAULTS: [(&str, Fault); 40] = [
    ("301", Fault::status(301)),
    ("400", Fault::status(400)),
    ("401", Fault::status(401)),
    ("402", Fault::status(402)),
    ("403", Fault::status(403)),
    ("404", Fault::status(404)),
    ("409", Fault::status(409)),
    ("410", Fault::status(410)),
    ("413", Fault::status(413)),
    ("422", Fault::status(422)),
    ("424", Fault::status(424)),
    ("425", Fault::status(425)),
    ("451", Fault::status(451)),
    ("498", Fault::status(498)),
    ("408", Fault::status(408)),
    ("429", Fault::status(429)),
    ("500", Fault::status(500)),
    ("501", Fault::status(501)),
    ("502", Fault::status(502)),
    ("503", Fault::status(503)),
    ("504", Fault::status(504)),
    ("529", Fault::status(529)),
    (
        "`Retry-After`",
        Fault::Status {
            code: 429,
            retry_after: Some(1),
        },
    ),
    ("no connection", Fault::Drop),
    ("silence", Fault::Stall),
    ("comments", Fault::Comments),
    ("nothing", whole("")),
    (
        "HTML",
        Fault::Body("text/html", "<html>502 Bad gateway</html>"),
    ),
    ("`{}`", whole("{}")),
    ("no choices", whole(r#"{"choices": []}"#)),
    ("null choices", whole(r#"{"choices": null}"#)),
    (
        "no message",
        whole(r#"{"choices": [{"index": 0, "message": null, "finish_reason": "stop"}]}"#),
    ),
    (
        "an empty text",
        Fault::Body(
            EVENTS,
            r#"data: {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "stop"}]}"#,
        ),
    ),
    ("only the end", Fault::Body(EVENTS, "data: [DONE]\n\n")),
    (
        "an error inside",
        whole(r#"{"error": {"message": "upstream failed", "code": 502}}"#),
    ),
    (
        "`network_error`",
        Fault::Body(
            EVENTS,
            r#"data: {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "network_error"}]}"#,
        ),
    ),
    (
        "half a text and `network_error`",
        whole(
            r#"{"choices": [{"index": 0, "message": {"content": "half"}, "finish_reason": "network_error"}]}"#,
        ),
    ),
    ("half an answer", Fault::Truncated),
    ("a broken event", Fault::Malformed),
    ("a cut connection", Fault::Cut),
];

const EVENTS: &str = "text/event-stream";

const fn whole(body: &'static str) -> Fault {
    Fault::Body("application/json", body)
}
