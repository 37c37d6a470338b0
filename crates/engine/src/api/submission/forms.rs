//! Runs from the form: everything that is wrong with it in one round, the estimate,
//! and the models of a provider.

use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::{Endpoint, HarnessConfig, Protocol};
use swe_ci_core::hosted_tools::is_searching_model;
use swe_ci_core::run::{BadConfig, RunConfig};
use swe_ci_views::account::{AccountRole, Visibility};
use swe_ci_views::submission::{Estimate, NEW_KEY, NEW_KEY_NAME, RunForm};

use super::Draft;
use super::validation_errors::ValidationErrors;
use crate::api::keys;
use crate::{Engine, run_configuration};

#[swe_ci_boxed::boxed]
impl Engine {
    /// The configuration in a form. Its endpoints speak what their harness speaks, so
    /// that nobody has to know it. `new_key` is the typed key that is not stored yet.
    ///
    /// # Errors
    /// As [`Engine::submit`]; the fields are those of the form.
    pub async fn read_form(
        &self,
        form: &RunForm,
        visibility: Visibility,
        new_key: &SecretString,
    ) -> Result<RunConfig> {
        let mut errors = ValidationErrors::default();
        let config = match self.checked_form(form, visibility).await {
            Ok((config, _)) => Some(config),
            Err(Error::Rejected(problems)) => {
                errors.0 = problems;
                None
            }
            Err(error) => return Err(error),
        };
        if form.adds_key() {
            let name = keys::check_name(form.text(NEW_KEY_NAME));
            let value = keys::header_value(new_key).map(drop);
            for (field, checked) in [(NEW_KEY_NAME, name), (NEW_KEY, value)] {
                if let Err(bad) = checked {
                    errors.add(field, bad.to_string());
                }
            }
        }
        match config.filter(|_| errors.0.is_empty()) {
            Some(config) => Ok(config),
            None => Err(Error::Rejected(errors.0)),
        }
    }

    /// Estimates the cost of the run in a form.
    ///
    /// # Errors
    /// As [`Engine::read_form`].
    pub async fn preview(&self, form: &RunForm) -> Result<Estimate> {
        let (_, draft) = self.checked_form(form, Visibility::Private).await?;
        self.estimate(&draft).await
    }

    /// The models that the provider in a form lists. `new_key` is the typed key that is
    /// not stored yet.
    ///
    /// # Errors
    /// As [`Engine::read_form`], for the address and its keys alone; [`Error::Invalid`]
    /// when the provider gives no list.
    pub async fn models_of(&self, form: &RunForm, new_key: &SecretString) -> Result<Vec<String>> {
        self.require(AccountRole::Submitter)?;
        let (config, _) = run_configuration::from_form(form);
        let missing = || Error::Invalid("this harness asks no model".to_owned());
        let config = RunConfig {
            programmer: None,
            ..config.ok_or_else(missing)?
        };
        let mut config = self.with_protocols(config).await;
        let mut errors = ValidationErrors::default();
        let needed = ["endpoint.url", "endpoint.key", "endpoint.headers"];
        let problems = config.problems().into_iter();
        for bad in problems.filter(|bad| needed.contains(&bad.field.as_str())) {
            let BadConfig { field, problem } = form.at_its_field(bad);
            errors.add(field, problem);
        }
        let endpoint = config.endpoint.as_mut().ok_or_else(missing)?;
        // Its name may still be missing.
        let typed = form
            .adds_key()
            .then(|| endpoint.key.take().unwrap_or_else(|| "new".to_owned()));
        if typed.is_some() && new_key.expose_secret().is_empty() {
            errors.add(NEW_KEY, "required");
        }
        let ring = self.keyring_for(&config, &mut errors).await?;
        errors.into_result()?;
        let mut endpoint = config.endpoint.ok_or_else(missing)?;
        let mut keys = self.keys.of_endpoint(&ring, &endpoint).await?;
        if let Some(name) = typed {
            keys.insert(name.clone(), new_key.clone());
            endpoint.key = Some(name);
        }
        let listed = self.gateway.models(self.reach(), &endpoint, &keys).await;
        let mut models = listed.map_err(Error::Invalid)?;
        models.retain(|model| config.allow_hosted_tools || !is_searching_model(model));
        Ok(models)
    }

    async fn checked_form(
        &self,
        form: &RunForm,
        visibility: Visibility,
    ) -> Result<(RunConfig, Draft)> {
        let (config, problems) = run_configuration::from_form(form);
        let mut errors = ValidationErrors::default();
        let mut report = |bad: BadConfig| {
            let BadConfig { field, problem } = form.at_its_field(bad);
            errors.add(field, problem);
        };
        problems.into_iter().for_each(&mut report);
        let Some(config) = config else {
            return Err(Error::Rejected(errors.0));
        };
        let config = self.with_protocols(config).await;
        config.problems().into_iter().for_each(&mut report);
        let mut stored = config.clone();
        // A key that comes with the run is not stored yet.
        if let Some(endpoint) = stored.endpoint.as_mut().filter(|_| form.adds_key()) {
            endpoint.key = None;
        }
        match self.draft(stored, visibility).await {
            Ok(draft) => {
                errors.into_result()?;
                Ok((config, draft))
            }
            Err(Error::Rejected(problems)) => {
                problems.into_iter().for_each(&mut report);
                Err(Error::Rejected(errors.0))
            }
            Err(error) => Err(error),
        }
    }

    /// The configuration, whose endpoints speak what their harness speaks unless it names
    /// another protocol than the default.
    pub(crate) async fn with_protocols(&self, mut config: RunConfig) -> RunConfig {
        // An invalid description is reported where the harness is checked.
        let Ok(known) = self.catalogue().await else {
            return config;
        };
        let speak = |harness: &HarnessConfig, endpoint: &mut Option<Endpoint>| {
            if let (Some(program), Some(endpoint)) = (known.get(harness.name()), endpoint)
                && endpoint.protocol == Protocol::default()
            {
                endpoint.protocol = program.protocol;
            }
        };
        speak(&config.harness, &mut config.endpoint);
        if let Some(programmer) = &mut config.programmer {
            speak(&programmer.harness, &mut programmer.endpoint);
        }
        config
    }
}
