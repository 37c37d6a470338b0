use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

pub(super) const AFTER_HELP: &str = "\
`serve` and every other command do this themselves when they start; the
command is for those who want to do it at a time of their own choosing.

Examples:
  swe-ci migrate
  SWE_CI_DATABASE_URL=postgres://swe_ci:…@db/swe_ci swe-ci migrate";

pub(super) async fn execute(global: &GlobalOptions) -> Result<(), Failure> {
    super::open(global).await?;
    output::line("The database is up to date.")
}
