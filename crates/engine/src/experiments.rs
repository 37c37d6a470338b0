//! Experiments: a configuration with `vary`, which names what varies. It stands for one
//! run for each combination:
//!
//! ```toml
//! vary.mode = ["tdd", "impossible"]
//! [[vary.arm]]
//! arm = "plain"
//! [[vary.arm]]
//! arm = "with AGENTS.md"
//! agent_files = { "AGENTS.md" = "Run no test." }
//! ```
//!
//! Each factor has a list: tables are laid over the configuration, and other values are
//! those of the field that the factor is named after. In JSON, null leaves a field out.

use serde_json::{Map, Value};
use swe_ci_core::run::{BadConfig, RunConfig};

use crate::run_configuration;

/// The most runs of an experiment.
const MOST: usize = 100;
const VARY: &str = "vary";

/// The configurations in a text, by the factors in order of their names; one without `vary`.
///
/// # Errors
/// All problems, one a line.
pub fn from_toml(text: &str) -> Result<Vec<RunConfig>, String> {
    // A single configuration has its problems named with their lines.
    let one = || run_configuration::from_toml(text).map(|config| vec![config]);
    of_text(toml::from_str(text).ok(), one)
}

/// As [`from_toml`], from JSON.
///
/// # Errors
/// As [`from_toml`].
pub fn from_json(text: &str) -> Result<Vec<RunConfig>, String> {
    let one = || run_configuration::from_json(text).map(|config| vec![config]);
    of_text(serde_json::from_str(text).ok(), one)
}

fn of_text(
    given: Option<Value>,
    one: impl FnOnce() -> Result<Vec<RunConfig>, String>,
) -> Result<Vec<RunConfig>, String> {
    let Some(given) = given.filter(|given| given.get(VARY).is_some()) else {
        return one();
    };
    from_value(given).map_err(|problems| {
        let lines = problems.iter().map(|bad| format!("\n  {bad}"));
        lines.collect()
    })
}

/// The configurations of an experiment that was read already.
///
/// # Errors
/// All problems of the first combination that has any.
pub fn from_value(mut given: Value) -> Result<Vec<RunConfig>, Vec<BadConfig>> {
    let factors = given.as_object_mut().and_then(|fields| fields.remove(VARY));
    let bad = |field: &str, why: &str| vec![BadConfig::new(field, why)];
    let mut all = vec![(String::new(), given)];
    let factors = match factors {
        Some(Value::Object(factors)) => factors,
        Some(_) => {
            return Err(bad(
                VARY,
                "is a table of lists, such as vary.mode = [\"tdd\"]",
            ));
        }
        None => Map::new(),
    };
    for (factor, levels) in factors {
        let field = format!("{VARY}.{factor}");
        let Some(levels) = levels.as_array().filter(|levels| !levels.is_empty()) else {
            return Err(bad(
                &field,
                "is a list of values, or of tables, one at least",
            ));
        };
        if all.len() * levels.len() > MOST {
            return Err(bad(VARY, &format!("makes more than {MOST} runs")));
        }
        let level = |at: usize, name: &str, config: &Value| {
            let mut config = config.clone();
            match &levels[at] {
                table @ Value::Object(_) => lay_over(&mut config, table),
                value => lay_over(&mut config, &serde_json::json!({ &factor: value })),
            }
            (format!("{name}{field}.{at} "), config)
        };
        let of = |(name, config): &(String, Value)| {
            let levels = 0..levels.len();
            levels.map(|at| level(at, name, config)).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(of).collect();
    }
    let read = |(name, config): (String, Value)| {
        let config = run_configuration::from_value(config);
        let problems = config
            .as_ref()
            .map_or_else(Clone::clone, RunConfig::problems);
        let named = |bad: BadConfig| match name.trim() {
            "" => bad,
            with => BadConfig::new(bad.field, format!("{} (with {with})", bad.problem)),
        };
        match config {
            Ok(config) if problems.is_empty() => Ok(config),
            _ => Err(problems.into_iter().map(named).collect()),
        }
    };
    all.into_iter().map(read).collect()
}

fn lay_over(config: &mut Value, table: &Value) {
    match (config, table) {
        (Value::Object(fields), Value::Object(table)) => {
            for (name, value) in table {
                match value {
                    Value::Null => drop(fields.remove(name)),
                    value => lay_over(fields.entry(name).or_insert(Value::Null), value),
                }
            }
        }
        (config, value) => *config = value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::requirement::Mode;

    const BASE: &str = r#"
        model = "m"
        kind = "measured"
        split = "demo"
        harness = { name = "builtin" }
        endpoint = { url = "https://api.example.org/v1", model = "m-1" }
    "#;

    #[test]
    fn every_combination_is_a_run() {
        let text = format!(
            r#"{BASE}
            [vary]
            mode = ["tdd", "impossible"]
            models = [{{}}, {{ model = "n", endpoint = {{ model = "n-1" }} }}]
            [[vary.arm]]
            arm = "plain"
            [[vary.arm]]
            arm = "files"
            agent_files = {{ "AGENTS.md" = "Be honest." }}
            "#
        );
        let all = from_toml(&text).unwrap();
        assert_eq!(all.len(), 8);
        let mut seen: Vec<_> = all
            .iter()
            .map(|run| {
                let endpoint = run.endpoint.as_ref().unwrap();
                // What a table leaves alone stays.
                assert_eq!(endpoint.url, "https://api.example.org/v1");
                let files = run.agent_files.instructions().is_some();
                assert_eq!(files, run.arm.as_deref() == Some("files"));
                (run.model.clone(), endpoint.model.clone(), files, run.mode)
            })
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 8);
        assert_eq!(seen[7].3, Mode::Impossible);
        assert_eq!(from_toml(BASE).unwrap().len(), 1);
    }

    #[test]
    fn problems_are_named() {
        let check = |vary: &str, expect: &str| {
            let why = from_toml(&format!("{BASE}\n{vary}")).unwrap_err();
            assert!(why.contains(expect), "{why}");
        };
        check("vary = 3", "vary: is a table of lists");
        check("vary.mode = 'tdd'", "vary.mode: is a list of values");
        check("vary.mode = []", "vary.mode: is a list of values");
        check("vary.mode = ['tdd', 'odd']", "(with vary.mode.1)");
        check(
            "vary.samples = [1, 0]",
            "samples: 0 is not between 1 and 100 (with vary.samples.1)",
        );
        check(
            "vary.a = [{ sample = 1 }]",
            "sample: there is no such field",
        );
        let many = format!("vary.samples = {:?}\nvary.mode = ['tdd', 'rdd']", [1; 51]);
        check(&many, "vary: makes more than 100 runs");
        check("samples = ", "line ");
    }
}
