//! The values that the form of a new run begins with, and the choices of its lists.

use swe_ci_core::handover::HandoverTarget;
use swe_ci_core::provider_key::KeyView;
use swe_ci_core::requirement::Mode;
use swe_ci_views::account::Visibility;
use swe_ci_views::run_list::{ListedRun, RunFilter};
use swe_ci_views::submission::{ADD_KEY, Estimate, Preset, RunForm, Setting};

use crate::error::AppError;
use crate::{format, labels};

/// Own runs that a new one can be like.
const EARLIER: u32 = 5;

/// The choices of the form, and its initial values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Desk {
    pub choices: Choices,
    pub form: RunForm,
    /// Of a form that is complete already.
    pub estimate: Option<Estimate>,
    /// The latest own runs.
    pub earlier: Vec<ListedRun>,
}

/// The choices of the form's lists.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choices {
    /// Those with tasks that can run, in words.
    splits: Vec<(String, String)>,
    /// Name and title.
    harnesses: Vec<(String, String)>,
    /// Name and use.
    keys: Vec<(String, String)>,
    budget_hint: String,
    /// Those that the provider lists.
    pub models: Vec<String>,
}

/// `from` is the run whose configuration fills the form; a preset does so otherwise.
pub(super) async fn new_run(
    (from, preset): (Option<String>, Option<String>),
) -> Result<Desk, AppError> {
    let engine = crate::error::engine()?;
    let choices = choices(&engine).await?;
    let own = RunFilter {
        mine: true,
        ..RunFilter::default()
    };
    let latest = swe_ci_engine::PageRequest {
        limit: Some(EARLIER),
        after: None,
    };
    let earlier = engine.runs(&own, &latest).await;
    let (form, estimate) = match from {
        Some(run) => {
            let form = RunForm::of_config(&engine.configuration_to_copy(&run).await?);
            let estimate = engine.preview(&form).await.ok();
            (form, estimate)
        }
        None => {
            let split = choices.splits.first().map_or("", |(split, _)| split);
            let mut form = RunForm::fresh(split);
            if let Some(preset) = preset.and_then(|name| Preset::named(&name)) {
                let has = |list: &[(String, String)], wanted: &str| {
                    list.iter().any(|(name, _)| name == wanted)
                };
                let harness = Some(preset.harness).filter(|name| has(&choices.harnesses, name));
                let has_key = has(&choices.keys, preset.name);
                form.apply(preset, harness.unwrap_or("builtin"), has_key);
            }
            (form, None)
        }
    };
    Ok(Desk {
        choices,
        form,
        estimate,
        earlier: earlier.map(|page| page.items).unwrap_or_default(),
    })
}

async fn choices(engine: &swe_ci_engine::Engine) -> Result<Choices, AppError> {
    let mut splits = engine.splits().await?;
    splits.retain(|split| split.ready > 0);
    let splits = splits.into_iter().map(|split| {
        let words = format!("{} ({})", split.name, format::count(split.ready, "task"));
        (split.name, words)
    });
    let harnesses = engine.harnesses().await?.into_iter();
    let harnesses = harnesses.map(|harness| (harness.name, harness.title));
    let mut keys: Vec<(String, String)> = Vec::new();
    for key in engine.key_names().await? {
        // The actor's own come first.
        if keys.iter().all(|(name, _)| *name != key.name) {
            keys.push((key.name.clone(), key_in_words(&key)));
        }
    }
    let budget_hint = match labels::budget(engine.default_budget()) {
        Some(budget) => format!(
            "Without any limit of its own, a run gets this site's: {budget}. The limit in money holds where prices are known."
        ),
        None => "The run ends there. Empty means no limit.".to_owned(),
    };
    Ok(Choices {
        splits: splits.collect(),
        harnesses: harnesses.collect(),
        keys,
        budget_hint,
        models: Vec::new(),
    })
}

fn key_in_words(key: &KeyView) -> String {
    let used = match &key.used_at {
        Some(day) => format!("used on {}", format::day(day)),
        None => "not used yet".to_owned(),
    };
    let whose = if key.own { "" } else { " · the operator’s" };
    format!("{} · {used}{whose}", key.name)
}

impl Choices {
    /// Values and labels of a list; `chosen` is always among those of keys.
    pub fn of(&self, name: &str, chosen: &str) -> Vec<(String, String)> {
        let pair = |value: &str, words: &str| (value.to_owned(), words.to_owned());
        match name {
            "split" => self.splits.clone(),
            "mode" => modes(),
            "handover.target" => handover_targets(),
            "endpoint.key" | "programmer.endpoint.key" => {
                let mut keys = vec![pair("", "No key")];
                keys.extend(self.keys.iter().cloned());
                if name == "endpoint.key" {
                    keys.push(pair(ADD_KEY, "Add a key …"));
                }
                if keys.iter().all(|(value, _)| value != chosen) {
                    keys.push(pair(chosen, &format!("{chosen} · not stored")));
                }
                keys
            }
            _ => self.harnesses.clone(),
        }
    }

    pub fn hint(&self, setting: &Setting) -> String {
        match setting.name {
            "budget.usd" => self.budget_hint.clone(),
            "endpoint.model" if !self.models.is_empty() => {
                let models = format::count(self.models.len(), "model");
                format!("{models} listed by the provider.")
            }
            _ => setting.hint.to_owned(),
        }
    }
}

fn handover_targets() -> Vec<(String, String)> {
    let words = |target| match target {
        HandoverTarget::Same => "the target that run had",
        HandoverTarget::Moved => "a later target: that run ended where these tasks begin",
    };
    let targets = HandoverTarget::ALL.into_iter();
    targets
        .map(|target| (target.name().to_owned(), words(target).to_owned()))
        .collect()
}

/// Names and descriptions of the modes.
fn modes() -> Vec<(String, String)> {
    let words = |mode| match mode {
        Mode::Tdd => "requirements and tests (tdd)",
        Mode::Rdd => "requirements alone (rdd)",
        Mode::Impossible => "requirements, tests, and contradictions of some tests (impossible)",
    };
    let modes = Mode::ALL.into_iter();
    modes
        .map(|mode| (mode.name().to_owned(), words(mode).to_owned()))
        .collect()
}

pub(super) fn visibilities() -> Vec<(String, String)> {
    let words = [
        (
            Visibility::Public,
            "Everybody; it is ranked when it is done",
        ),
        (
            Visibility::Private,
            "You and the administrators; it can be published later",
        ),
    ];
    words
        .map(|(visibility, words)| (visibility.name().to_owned(), words.to_owned()))
        .into()
}
