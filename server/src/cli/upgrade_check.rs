//! `swe-ci upgrade-check`: what this program would change in the database.

use swe_ci_engine::{Engine, SchemaCheck, SchemaStep};

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

pub(super) const AFTER_HELP: &str = "\
Run it with the new program before you put it in the place of the old one. It
creates and changes nothing, and the old server may go on meanwhile.

Examples:
  swe-ci upgrade-check
  SWE_CI_DATABASE_URL=postgres://swe_ci:…@db/swe_ci swe-ci upgrade-check --json

Exit codes: 0 this program can open the database (stdout lists what it would
migrate first), 1 it cannot, 2 an option is invalid.";

pub(super) async fn execute(global: &GlobalOptions, json: bool) -> Result<(), Failure> {
    let config = global.engine(0).map_err(Failure::usage)?;
    let check = Engine::check_schema(&config).await?;
    output::show(&check, json, print)?;
    match check.obstacle() {
        None => Ok(()),
        Some(obstacle) => Err(Failure::new(obstacle.what).next(obstacle.next)),
    }
}

fn print(check: &SchemaCheck) -> Result<(), Failure> {
    if !check.unknown.is_empty() {
        return table(&check.unknown);
    }
    if !check.broken.is_empty() {
        return table(&check.broken);
    }
    match check.found {
        None => output::line(format_args!(
            "There is no database yet; the first start creates it, with schema {}.",
            check.own
        )),
        Some(found) if check.pending.is_empty() => output::line(format_args!(
            "The database has this program's schema, {found}: nothing will change."
        )),
        Some(found) => {
            output::line(format_args!(
                "The database has schema {found} and this program schema {}. Before it opens the database, it will migrate:",
                check.own
            ))?;
            table(&check.pending)?;
            output::line("A migration cannot be undone: dump the database first.")
        }
    }
}

fn table(steps: &[SchemaStep]) -> Result<(), Failure> {
    let row = |step: &SchemaStep| {
        [
            step.version.to_string(),
            step.name.clone(),
            step.purpose.clone(),
        ]
    };
    output::table("Schema: | Name | Purpose", steps.iter().map(row))
}
