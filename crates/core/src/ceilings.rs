//! The most that an operator lets the runs of accounts ask for.

use std::str::FromStr;

use crate::problems::Problems;
use crate::run::{BadConfig, RunConfig};

/// Upper bounds of a run's settings, within their general ranges. They apply
/// when an account submits a run; runs submitted before keep what they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    /// Thousandths of a processor.
    pub cpus_milli: u32,
    /// Mebibytes.
    pub memory_mb: u32,
    pub pids: u32,
    /// Mebibytes.
    pub disk_mb: u32,
    /// Mebibytes.
    pub code_mb: u32,
    pub agent_seconds: u32,
    pub test_seconds: u32,
    pub patience_seconds: u32,
    /// Evolutions per task.
    pub samples: u32,
    pub max_iterations: u32,
    /// Runs of one account that are queued or at work.
    pub unfinished_runs: u32,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            cpus_milli: 64_000,
            memory_mb: 131_072,
            pids: 65_536,
            disk_mb: 131_072,
            code_mb: 1_024,
            agent_seconds: 86_400,
            test_seconds: 86_400,
            patience_seconds: 86_400,
            samples: 100,
            max_iterations: 200,
            unfinished_runs: 100,
        }
    }
}

impl Ceilings {
    /// The settings of a configuration that exceed their ceiling.
    pub fn problems(&self, config: &RunConfig) -> Vec<BadConfig> {
        let limits = &config.limits;
        Problems::collect(|problems| {
            for (field, value, ceiling) in [
                ("samples", config.samples, self.samples),
                (
                    "plan.max_iterations",
                    config.plan.max_iterations,
                    self.max_iterations,
                ),
                ("limits.cpus_milli", limits.cpus_milli, self.cpus_milli),
                ("limits.memory_mb", limits.memory_mb, self.memory_mb),
                ("limits.pids", limits.pids, self.pids),
                ("limits.disk_mb", limits.disk_mb, self.disk_mb),
                ("limits.code_mb", limits.code_mb, self.code_mb),
                (
                    "limits.agent_seconds",
                    limits.agent_seconds,
                    self.agent_seconds,
                ),
                (
                    "limits.test_seconds",
                    limits.test_seconds,
                    self.test_seconds,
                ),
                (
                    "limits.patience_seconds",
                    limits.patience_seconds,
                    self.patience_seconds,
                ),
            ] {
                problems.ensure(field, value <= ceiling, || {
                    format!("{value} is above this site's ceiling of {ceiling}")
                });
            }
        })
    }

    /// The ceiling of this name, as [`Self::from_str`] reads it.
    fn named(&mut self, name: &str) -> Option<&mut u32> {
        Some(match name {
            "cpus_milli" => &mut self.cpus_milli,
            "memory_mb" => &mut self.memory_mb,
            "pids" => &mut self.pids,
            "disk_mb" => &mut self.disk_mb,
            "code_mb" => &mut self.code_mb,
            "agent_seconds" => &mut self.agent_seconds,
            "test_seconds" => &mut self.test_seconds,
            "patience_seconds" => &mut self.patience_seconds,
            "samples" => &mut self.samples,
            "max_iterations" => &mut self.max_iterations,
            "unfinished_runs" => &mut self.unfinished_runs,
            _ => return None,
        })
    }
}

impl FromStr for Ceilings {
    type Err = String;

    /// Reads `memory_mb=8192,samples=3`; the others keep their defaults.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut ceilings = Self::default();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` is not NAME=NUMBER"))?;
            let ceiling = ceilings
                .named(name.trim())
                .ok_or_else(|| format!("there is no ceiling `{}`", name.trim()))?;
            *ceiling = value
                .trim()
                .parse()
                .map_err(|_| format!("`{}` is not a number from 0 to 4294967295", value.trim()))?;
        }
        Ok(ceilings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_above_a_ceiling_are_named() {
        let check = |text: &str, change: fn(&mut RunConfig), expect: &[&str]| {
            let ceilings: Ceilings = text.parse().unwrap();
            let mut config = RunConfig::human("s");
            change(&mut config);
            let found = ceilings.problems(&config);
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, expect, "{text}");
        };
        // The defaults of runs are far below those of the ceilings.
        check("", |_| {}, &[]);
        check("memory_mb=4096", |_| {}, &[]);
        check(
            "memory_mb=4095",
            |_| {},
            &["limits.memory_mb: 4096 is above this site's ceiling of 4095"],
        );
        check(
            "",
            |config| config.limits.memory_mb = 16_777_216,
            &["limits.memory_mb: 16777216 is above this site's ceiling of 131072"],
        );
        check(
            "samples=2, max_iterations = 19,cpus_milli=1000,pids=16,disk_mb=1,code_mb=255,\
             agent_seconds=1,test_seconds=1,patience_seconds=0",
            |config| config.samples = 3,
            &[
                "samples: 3 is above this site's ceiling of 2",
                "plan.max_iterations: 20 is above this site's ceiling of 19",
                "limits.cpus_milli: 2000 is above this site's ceiling of 1000",
                "limits.pids: 1024 is above this site's ceiling of 16",
                "limits.disk_mb: 4096 is above this site's ceiling of 1",
                "limits.code_mb: 256 is above this site's ceiling of 255",
                "limits.agent_seconds: 3600 is above this site's ceiling of 1",
                "limits.test_seconds: 3600 is above this site's ceiling of 1",
                "limits.patience_seconds: 1800 is above this site's ceiling of 0",
            ],
        );
    }

    #[test]
    fn ceilings_are_read_from_a_list() {
        let check = |text: &str, expect: &str| {
            assert_eq!(text.parse::<Ceilings>().unwrap_err(), expect);
        };
        check("memory_mb", "`memory_mb` is not NAME=NUMBER");
        check("memory=1", "there is no ceiling `memory`");
        check("pids=many", "`many` is not a number from 0 to 4294967295");
        check("pids=-1", "`-1` is not a number from 0 to 4294967295");
        assert_eq!("".parse(), Ok(Ceilings::default()));
        let few: Ceilings = "unfinished_runs=1,".parse().unwrap();
        assert_eq!(few.unfinished_runs, 1);
    }
}
