//! Whether an engine's containers are closed, seen from inside of one.

use std::time::Duration;

use anyhow::{Context, ensure};
use swe_ci_base::clock::ExcludedTime;
use swe_ci_core::run::Limits;
use swe_ci_views::container::Engine;

use crate::{ContainerSpec, Exec, Exit, Purpose, Sandbox};

/// What the kernel says of a process, and its network interfaces.
const LOOK: [&str; 3] = ["cat", "/proc/self/status", "/proc/net/dev"];
/// Fields of the former, with the values of a process that can do little.
const CLOSED: [(&str, &str, &str); 3] = [
    ("CapEff:", "0000000000000000", "has capabilities"),
    ("NoNewPrivs:", "1", "may gain privileges"),
    ("Seccomp:", "2", "may call all functions of the system"),
];

/// Opens a container of an image and looks around in it; what its engine can promise of
/// limits.
///
/// # Errors
/// When code in there has a network, capabilities, a way to gain privileges or all
/// system calls.
pub async fn probe(sandbox: &dyn Sandbox, image: &str) -> anyhow::Result<Engine> {
    let purpose = Purpose::Preparation("look whether it is closed".into());
    let spec = ContainerSpec::new(image, Limits::default(), purpose);
    let exec = Exec {
        command: LOOK.map(str::to_owned).into(),
        env: Vec::new(),
        reads_input: false,
        unprivileged: false,
        wanted: None,
        working_dir: "/".into(),
        time_limit: Duration::from_mins(1),
        off: ExcludedTime::default(),
    };
    let mut lines = Vec::new();
    let container = sandbox.open(&spec).await?;
    let mut on_line = |line: &str| lines.push(line.to_owned());
    let exit = container.exec(&exec, &mut on_line).await?;
    ensure!(
        exit == Exit::Code(0),
        "`cat` ended with {exit:?} in a container"
    );
    closed(&lines)?;
    let seen = container.seen().await.and_then(|seen| seen.engine);
    seen.context("the engine does not tell of its container")
}

fn closed(lines: &[String]) -> anyhow::Result<()> {
    for (field, closed, problem) in CLOSED {
        let value = lines.iter().find_map(|line| line.strip_prefix(field));
        let value = value.map_or("?", str::trim);
        ensure!(
            value == closed,
            "code in containers {problem} ({field} {value})"
        );
    }
    let interfaces = lines.iter().filter_map(|line| line.split_once(": "));
    let mut interfaces = interfaces
        .map(|(name, _)| name.trim())
        .filter(|name| !name.is_empty());
    let other = interfaces.find(|name| *name != "lo");
    ensure!(
        other.is_none(),
        "containers have the network {}",
        other.unwrap_or_default()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tcat\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n\
        Inter-|   Receive\n face |bytes    packets\n    lo: 0 0\n";

    #[test]
    fn an_open_container_is_noticed() {
        let check = |text: String, expect: Option<&str>| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            match (closed(&lines), expect) {
                (Ok(()), None) => {}
                (Err(error), Some(expect)) => {
                    assert!(error.to_string().contains(expect), "{error}");
                }
                (found, _) => panic!("{found:?} for {text}"),
            }
        };
        check(STATUS.into(), None);
        check(
            STATUS.replace("Seccomp:\t2", "Seccomp:\t0"),
            Some("all functions"),
        );
        check(
            STATUS.replace("NoNewPrivs:\t1", ""),
            Some("gain privileges"),
        );
        check(
            STATUS.replace("CapEff:\t0000", "CapEff:\t0001"),
            Some("capabilities"),
        );
        check(format!("{STATUS}  eth0: 5 5\n"), Some("network eth0"));
    }
}
