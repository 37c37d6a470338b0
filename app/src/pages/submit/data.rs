use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_core::key::KeyView;
use swe_ci_views::submission::RunForm;
use swe_ci_views::view::SplitSummary;

use crate::error::AppError;

/// The choices of the form, and its initial values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Desk {
    /// Those with tasks that can run.
    pub splits: Vec<SplitSummary>,
    /// Name and title.
    pub harnesses: Vec<(String, String)>,
    pub keys: Vec<KeyView>,
    pub form: RunForm,
}

/// `from` is the run whose configuration fills the form.
#[server(prefix = "/api/pages", endpoint = "new-run", input = GetUrl)]
pub async fn new_run(from: Option<String>) -> Result<Desk, AppError> {
    let engine = crate::error::engine()?;
    let keys = engine.key_names().await?;
    let mut splits = engine.splits().await?;
    splits.retain(|split| split.ready > 0);
    let harnesses = engine.harnesses().await?.into_iter();
    let form = match from {
        Some(run) => RunForm::of_config(&engine.configuration_to_copy(&run).await?),
        None => RunForm::fresh(splits.first().map_or("", |split| &split.name)),
    };
    Ok(Desk {
        harnesses: harnesses
            .map(|harness| (harness.name, harness.title))
            .collect(),
        splits,
        keys,
        form,
    })
}
