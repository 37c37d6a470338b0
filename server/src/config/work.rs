//! The configuration of `work`.

use std::time::Duration;

use clap::Args;
use swe_ci_core::labels::Labels;
use swe_ci_engine::WorkerConfig;

use super::serve::{YesNo, default_workers};
use super::{GlobalOptions, number};

/// Options of `work`.
#[derive(Debug, Clone, Args)]
#[command(mut_args(|arg| arg.hide_env_values(true)))]
pub struct WorkOptions {
    /// Evolutions to run at the same time, 1 to 256; half the processors when
    /// absent
    #[arg(
        long,
        env = "SWE_CI_SLOTS",
        value_name = "N",
        value_parser = number(1..=256, "SWE_CI_SLOTS")
    )]
    slots: Option<u16>,

    /// Name of this worker, for people; the host's when absent
    #[arg(
        long,
        env = "SWE_CI_WORKER_NAME",
        value_name = "NAME",
        default_value = ""
    )]
    name: String,

    /// What is special about this worker, such as `arch=amd64,gpu=yes`: it also
    /// takes runs that need some of these labels
    #[arg(
        long,
        env = "SWE_CI_LABELS",
        value_name = "NAME=VALUE,…",
        default_value = ""
    )]
    labels: Labels,

    /// After SIGTERM, how long steps under way may go on, in seconds; then they
    /// are put back for other workers
    #[arg(
        long,
        env = "SWE_CI_GRACE",
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = grace
    )]
    grace: u64,

    /// End as soon as nothing is queued, and nothing may come back from a worker gone silent
    #[arg(long)]
    until_idle: bool,

    /// Whether to audit evolutions as they end: tests that pass are run with
    /// contradicting expectations. A run takes no rank before
    #[arg(long, env = "SWE_CI_AUDIT", value_name = "YES|NO", value_enum, default_value_t = YesNo::Yes)]
    audit: YesNo,

    /// Whether to measure the code style of evolutions as they end
    #[arg(long, env = "SWE_CI_CODE_STYLE", value_name = "YES|NO", value_enum, default_value_t = YesNo::Yes)]
    code_style: YesNo,
}

fn grace(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        "it is no whole number of seconds, such as 60; SWE_CI_GRACE sets it where the option is absent"
            .to_owned()
    })
}

impl WorkOptions {
    pub fn until_idle(&self) -> bool {
        self.until_idle
    }

    /// # Errors
    /// A text that names the invalid variable.
    pub fn engine(&self, global: &GlobalOptions) -> Result<swe_ci_engine::Config, String> {
        let slots = self.slots.map_or_else(default_workers, usize::from);
        Ok(swe_ci_engine::Config {
            worker: Some(WorkerConfig {
                name: self.name.clone(),
                grace: Duration::from_secs(self.grace),
                until_idle: self.until_idle,
            }),
            labels: self.labels.clone(),
            audit: self.audit == YesNo::Yes,
            measure_style: self.code_style == YesNo::Yes,
            ..global.engine(slots.max(1))?
        })
    }
}
