use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

pub(super) const AFTER_HELP: &str = "\
`serve` and every other command migrate the database when they start; this
command does it at a time of your choice.

Examples:
  swe-ci migrate
  SWE_CI_DATABASE_URL=postgres://swe_ci:…@db/swe_ci swe-ci migrate";

pub(super) async fn execute(global: &GlobalOptions) -> Result<(), Failure> {
    super::open(global).await?;
    output::line("The database is up to date.")
}
