//! `swe-ci read`: what the API answers at an address, without a server.

use std::fmt;

use axum::body::{Bytes, to_bytes};
use axum::http::header;
use clap::Args;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use swe_ci_engine::Engine;

use super::failure::Failure;
use super::output;
use crate::api;
use crate::problem::Problem;

pub(super) const AFTER_HELP: &str = "\
docs/api.md has the addresses, and `swe-ci describe-api` their parameters. Lists
become tables of their plain fields; --columns chooses others, also such as
`config.model`. Texts, CSV and files are printed as they are.

Examples:
  swe-ci read runs --columns run_id,config.model,progress,created_at
  swe-ci read 'runs?limit=10&after=NEXT'     the next ones
  swe-ci read runs/$run/scores?gamma=1.5
  swe-ci read runs/$run/findings
  swe-ci read splits
  swe-ci read 'tasks?split=demo&state=unusable'
  swe-ci read handovers.csv?split=demo > handovers.csv
  swe-ci read workers --json | jq '.[].name'";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The address below /api/v1/, with its parameters
    address: String,
    /// The columns of a table, separated by commas
    #[arg(
        long,
        value_name = "FIELD,…",
        value_delimiter = ',',
        conflicts_with = "json"
    )]
    columns: Vec<String>,
    /// Print the JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: Engine, options: &Options) -> Result<(), Failure> {
    let address = options.address.trim_start_matches('/');
    let address = address.strip_prefix("api/v1/").unwrap_or(address);
    let answer = api::read(engine, &format!("/api/v1/{address}")).await;
    let answer = answer.map_err(|e| Failure::usage(format!("`{address}` is no address: {e}")))?;
    if let Some(problem) = answer.extensions().get::<Problem>() {
        return Err(Failure::new(problem.detail())
            .next("`swe-ci read --help` shows addresses; docs/api.md has all of them"));
    }
    let media_type = answer.headers().get(header::CONTENT_TYPE).cloned();
    let body = to_bytes(answer.into_body(), usize::MAX).await;
    let body = body.map_err(|e| Failure::new(format!("the answer ends early: {e}")))?;
    if options.json {
        return output::line(String::from_utf8_lossy(&body));
    }
    if media_type.is_none_or(|kind| kind != "application/json") {
        return output::bytes(&body);
    }
    print(&body, &options.columns)
}

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    items: Vec<Json>,
    next: Option<String>,
}

fn print(body: &Bytes, columns: &[String]) -> Result<(), Failure> {
    if let Ok(Page { items, next }) = serde_json::from_slice(body) {
        if let Some(next) = next {
            output::note(format_args!("there are more: after={next}"));
        }
        return table(&items, columns);
    }
    let read = serde_json::from_slice::<Json>(body);
    match read.map_err(|e| Failure::new(format!("the answer is no JSON: {e}")))? {
        Json::List(rows) => table(&rows, columns),
        Json::Object(Fields(fields)) => {
            let mut plain = Vec::new();
            let mut lists = Vec::new();
            for (name, value) in fields {
                match value {
                    Json::List(rows) if !rows.is_empty() => lists.push((name, rows)),
                    other => plain.push((name, other)),
                }
            }
            let rows = plain
                .iter()
                .filter_map(|(name, value)| Some(vec![name.clone(), cell(value)?]));
            output::rows(&["field", "value"], rows)?;
            for (name, rows) in lists {
                output::line(format_args!("\n{name}"))?;
                table(&rows, columns)?;
            }
            Ok(())
        }
        Json::Plain(value) => output::line(value),
    }
}

/// The named columns, or all fields that are plain in some row, in the order of
/// the answer.
fn table(rows: &[Json], columns: &[String]) -> Result<(), Failure> {
    if rows.is_empty() {
        output::note("There is nothing yet.");
        return Ok(());
    }
    let mut names = columns.to_vec();
    for row in rows.iter().filter(|_| columns.is_empty()) {
        let Json::Object(Fields(fields)) = row else {
            continue;
        };
        for (name, value) in fields {
            if cell(value).is_some() && !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    if names.is_empty() {
        let all: Vec<String> = rows.iter().filter_map(cell).collect();
        return output::line(all.join("\n"));
    }
    let cells = rows.iter().map(|row| {
        let cells = names.iter().map(|name| row.at(name).and_then(cell));
        cells
            .map(Option::unwrap_or_default)
            .collect::<Vec<String>>()
    });
    output::rows(&names, cells)
}

/// JSON with the fields of objects in their order.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Json {
    Object(Fields),
    List(Vec<Self>),
    Plain(Value),
}

#[derive(Debug)]
struct Fields(Vec<(String, Json)>);

impl Json {
    /// The value at a dotted path.
    fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |json, name| match json {
            Self::Object(Fields(fields)) => {
                let found = fields.iter().find(|(field, _)| field == name);
                found.map(|(_, value)| value)
            }
            _ => None,
        })
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The text of a plain value, or of a list of such.
fn cell(value: &Json) -> Option<String> {
    match value {
        Json::Object(_) => None,
        Json::List(all) => {
            let all: Option<Vec<String>> = all.iter().map(cell).collect();
            all.map(|all| all.join(", "))
        }
        Json::Plain(Value::Null) => Some(String::new()),
        Json::Plain(Value::String(text)) => Some(text.clone()),
        Json::Plain(other) => Some(other.to_string()),
    }
}
