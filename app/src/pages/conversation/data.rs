//! The data and the query of a transcript.

use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use swe_ci_core::step::Role;
use swe_ci_views::conversation::{MessagesPage, RecordedStep};

use crate::error::AppError;
use crate::pages::routes::conversation_path;
use crate::query::{Query, named};

/// The longest search text, in bytes.
pub(super) const LONGEST_TEXT: usize = 200;

pub async fn conversation(
    evolution: String,
    iteration: u32,
    role: Role,
    attempt: Option<u32>,
    from: Option<u32>,
    q: String,
) -> Result<MessagesPage, AppError> {
    use swe_ci_views::conversation::Window;

    let window = Window {
        from,
        limit: None,
        q,
    };
    Ok(crate::error::engine()?
        .messages(&evolution, iteration, role, attempt, window)
        .await?)
}

/// The step and messages that the address selects.
#[derive(Debug, Clone, PartialEq)]
pub struct Address {
    run: String,
    evolution: String,
    /// None when no such step can be recorded.
    step: Option<(u32, Role)>,
    attempt: Option<u32>,
    from: Option<u32>,
    q: String,
}

impl Address {
    pub(super) fn of(params: &ParamsMap, query: &ParamsMap) -> Self {
        let roles = [Role::Architect, Role::Programmer];
        let role = params.get_str("role").unwrap_or_default();
        let role = roles.into_iter().find(|known| known.name() == role);
        let iteration = params.get_str("iteration").and_then(|n| n.parse().ok());
        let number = |name: &str| query.get_str(name).and_then(|n| n.parse().ok());
        let mut q = named(query, "q").unwrap_or_default();
        q.truncate(q.floor_char_boundary(LONGEST_TEXT));
        Self {
            run: params.get("id").unwrap_or_default(),
            evolution: params.get("evolution").unwrap_or_default(),
            step: iteration.zip(role),
            attempt: number("attempt"),
            from: number("from"),
            q,
        }
    }
}

pub(super) async fn messages_at(address: Address) -> Result<MessagesPage, AppError> {
    let missing = || AppError::not_found("There is no such step in this run.");
    let (iteration, role) = address.step.ok_or_else(missing)?;
    let (attempt, from) = (address.attempt, address.from);
    let page = conversation(address.evolution, iteration, role, attempt, from, address.q).await?;
    match page.step.run_id == address.run {
        true => Ok(page),
        false => Err(missing()),
    }
}

/// The page's path, without the query that selects messages.
pub(super) fn path(step: &RecordedStep) -> String {
    conversation_path(&step.run_id, &step.evolution_id, step.iteration, step.role)
}

/// The page at another message of the same attempt.
pub(super) fn at(step: &RecordedStep, from: u32, q: &str) -> String {
    let mut query = Query::default();
    query.add("attempt", Some(step.attempt.to_string()));
    query.add("from", Some(from.to_string()));
    query.add("q", (!q.is_empty()).then_some(q));
    format!("{}{}#m{from}", path(step), query.0)
}

/// A button to a neighbouring message, if there is one.
pub(super) fn link_to(
    step: &RecordedStep,
    to: Option<u32>,
    q: &str,
    text: &'static str,
    rel: &'static str,
) -> Option<impl IntoView + use<>> {
    let href = at(step, to?, q);
    Some(view! { <a class="button" href=href rel=rel>{text}</a> })
}

#[cfg(test)]
mod tests {
    use swe_ci_views::conversation::RecordingFormat;

    use super::*;

    #[test]
    fn addresses_are_read_leniently() {
        let check = |role: &'static str,
                     pairs: &[(&'static str, &str)],
                     expect: (bool, Option<u32>, &str)| {
            let params = [
                ("id", "r"),
                ("evolution", "e"),
                ("iteration", "2"),
                ("role", role),
            ];
            let params = params.map(|(k, v)| (k, v.to_owned())).into_iter().collect();
            let query = pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
            let address = Address::of(&params, &query);
            assert_eq!(
                (address.step.is_some(), address.from, address.q.as_str()),
                expect
            );
        };
        check(
            "architect",
            &[("from", "7"), ("q", "a b")],
            (true, Some(7), "a b"),
        );
        check("programmer", &[("from", "x"), ("q", "")], (true, None, ""));
        check("test", &[], (false, None, ""));
        let long = "é".repeat(150);
        check("architect", &[("q", &long)], (true, None, &long[..200]));
    }

    #[test]
    fn from_message_to_message() {
        let step = RecordedStep {
            run_id: "r".into(),
            model: "m".into(),
            task_id: swe_ci_core::task::TaskId::new("t").unwrap(),
            sample: 1,
            evolution_id: "e".into(),
            iteration: 2,
            role: Role::Architect,
            attempt: 3,
            attempts: vec![3],
            nearby: Vec::new(),
            recording: RecordingFormat::Exchanges,
        };
        assert_eq!(
            at(&step, 51, "a&b"),
            "/runs/r/e/2/architect?attempt=3&from=51&q=a%26b#m51"
        );
    }
}
