//! The data and the query of the page.

use leptos_router::params::ParamsMap;
use swe_ci_views::background::BackgroundWork;
use swe_ci_views::judge::{Answer, JudgedRun};

use crate::error::AppError;
use crate::pages::routes::judgements_href;
use crate::query::{Query, named, parsed};

/// Anchor of the list of iterations.
pub(super) const LIST: &str = "iterations";

/// The run, and which of its judgements the address lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub run: String,
    /// The position of the judge, the newest first.
    pub judge: usize,
    /// A question, and the answer to it.
    pub chosen: Option<(String, Answer)>,
    /// The position of the first iteration that is shown.
    pub from: usize,
}

impl Address {
    pub fn of(params: &ParamsMap, query: &ParamsMap) -> Self {
        let answer = query.get_str("answer").and_then(Answer::from_name);
        Self {
            run: params.get("id").unwrap_or_default(),
            judge: parsed(query, "judge").unwrap_or_default(),
            chosen: named(query, "question").zip(answer),
            from: parsed(query, "from").unwrap_or_default(),
        }
    }

    /// The page with the iterations that have this answer, from a position on.
    pub fn with(&self, chosen: Option<(&str, Answer)>, from: usize) -> String {
        let number = |n: usize| (n > 0).then(|| n.to_string());
        Query::default()
            .with("judge", number(self.judge))
            .with("question", chosen.map(|(name, _)| name))
            .with("answer", chosen.map(|(_, answer)| answer.name()))
            .with("from", number(from))
            .at(&judgements_href(&self.run))
            + "#"
            + LIST
    }
}

#[derive(Debug, Clone)]
pub(super) struct PageData {
    pub address: Address,
    /// The model of the run.
    pub model: String,
    pub judged: Vec<JudgedRun>,
    pub work: Option<BackgroundWork>,
    /// The plan to begin with, for those who may.
    pub plan: Option<String>,
}

pub(super) async fn page_data(address: Address) -> Result<PageData, AppError> {
    let engine = crate::error::engine()?;
    let run = engine.run_summary(&address.run).await?;
    let may_judge = engine.may_judge(&address.run).await? && run.progress.is_over();
    Ok(PageData {
        model: run.config.model,
        judged: engine.judgements(&address.run).await?,
        work: engine.judge_work(&address.run).await?,
        plan: may_judge.then(|| swe_ci_engine::EXAMPLE_JUDGE.to_owned()),
        address,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let address = Address {
            run: "r1".into(),
            judge: 1,
            chosen: None,
            from: 0,
        };
        let href = address.with(Some(("in style & form", Answer::No)), 20);
        let expect = "/runs/r1/judgements?judge=1&question=in%20style%20%26%20form&answer=no&from=20#iterations";
        assert_eq!(href, expect);
        let mut params = ParamsMap::new();
        params.insert("id", "r1".into());
        let mut query = ParamsMap::new();
        for (name, value) in [
            ("judge", "1"),
            ("question", "in style & form"),
            ("answer", "no"),
            ("from", "20"),
        ] {
            query.insert(name, value.into());
        }
        let back = Address {
            chosen: Some(("in style & form".into(), Answer::No)),
            from: 20,
            ..address
        };
        assert_eq!(Address::of(&params, &query), back);
        query.replace("answer", "maybe".to_owned());
        assert_eq!(Address::of(&params, &query).chosen, None);
    }
}
