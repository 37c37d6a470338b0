//! The most that an operator lets the runs of accounts ask for.

use std::str::FromStr;

use crate::problems::Problems;
use crate::run::{BadConfig, RunConfig};

/// A ceiling: its name, its default, and the setting of a run that it bounds, with what
/// a configuration asks for.
type Ceiling = (&'static str, u32, &'static str, fn(&RunConfig) -> u32);

/// In the order in which problems are told.
#[rustfmt::skip]
const CEILINGS: [Ceiling; 11] = [
    ("samples", 100, "samples", |run| run.samples),
    ("max_iterations", 200, "plan.max_iterations", |run| run.plan.max_iterations),
    ("cpus_milli", 64_000, "limits.cpus_milli", |run| run.limits.cpus_milli),
    ("memory_mb", 131_072, "limits.memory_mb", |run| run.limits.memory_mb),
    ("pids", 65_536, "limits.pids", |run| run.limits.pids),
    ("disk_mb", 131_072, "limits.disk_mb", |run| run.limits.disk_mb),
    ("code_mb", 1_024, "limits.code_mb", |run| run.limits.code_mb),
    ("agent_seconds", 86_400, "limits.agent_seconds", |run| run.limits.agent_seconds),
    ("test_seconds", 86_400, "limits.test_seconds", |run| run.limits.test_seconds),
    ("patience_seconds", 86_400, "limits.patience_seconds", |run| run.limits.patience_seconds),
    ("audit_seconds", 86_400, "limits.audit_seconds", |run| run.limits.audit_seconds.unwrap_or(0)),
];

/// Upper bounds of a run's settings, within their general ranges. They apply
/// when an account submits a run; runs submitted before keep what they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    of_settings: [u32; CEILINGS.len()],
    /// Runs of one account that are queued or at work.
    pub unfinished_runs: u32,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            of_settings: CEILINGS.map(|(_, most, ..)| most),
            unfinished_runs: 100,
        }
    }
}

impl Ceilings {
    /// The settings of a configuration that exceed their ceiling.
    pub fn problems(&self, config: &RunConfig) -> Vec<BadConfig> {
        Problems::collect(|problems| {
            for ((_, _, field, asked), ceiling) in CEILINGS.into_iter().zip(self.of_settings) {
                let value = asked(config);
                problems.ensure(field, value <= ceiling, || {
                    format!("{value} is above this site's ceiling of {ceiling}")
                });
            }
        })
    }

    /// The ceiling of this name, as [`Self::from_str`] reads it.
    fn named(&mut self, name: &str) -> Option<&mut u32> {
        if name == "unfinished_runs" {
            return Some(&mut self.unfinished_runs);
        }
        let at = CEILINGS.iter().position(|(known, ..)| *known == name)?;
        Some(&mut self.of_settings[at])
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
            "audit_seconds=60",
            |config| config.limits.audit_seconds = Some(61),
            &["limits.audit_seconds: 61 is above this site's ceiling of 60"],
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
