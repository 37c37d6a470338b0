//! Who ended a container: somebody from outside, or the code in it.
//!
//! An engine that is told to end a container says so in an event before the
//! container dies. One that dies without such an event was ended by its own
//! code, for instance by using up the memory. Without any event nobody is
//! blamed: the engine itself may have been restarted.

use super::container::{DockerContainer, STATE_CHECK_INTERVAL};
use crate::SandboxError;

/// Events by which an engine says that it was told to end a container.
const FROM_OUTSIDE: [&str; 4] = ["kill", "stop", "restart", "destroy"];
/// The event of every end.
const DIE: &str = "die";
/// How often the events of an end are looked for: the engine may report it a
/// moment later than the end itself.
const TRIES: usize = 5;

/// The last state of a container.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LastState {
    running: bool,
    out_of_memory: bool,
    exit_code: Option<i64>,
}

impl DockerContainer {
    /// Why the container takes no more requests: its end, by whomever.
    pub(super) async fn end(&self) -> SandboxError {
        if !self.has_run_code() {
            return SandboxError::Lost;
        }
        for _ in 0..TRIES {
            let state = self.last_state().await;
            let names = [&[DIE], FROM_OUTSIDE.as_slice()].concat();
            let events = self.events(&names).await.unwrap_or_default();
            if events.contains(&DIE) || state.is_none() {
                return cause(&events, state);
            }
            tokio::time::sleep(STATE_CHECK_INTERVAL).await;
        }
        cause(&[], self.last_state().await)
    }

    /// `None` when the engine no longer has the container, or does not answer.
    async fn last_state(&self) -> Option<LastState> {
        let container = self.api.inspect_container(&self.id, None).await.ok()?;
        let state = container.state?;
        Some(LastState {
            running: state.running == Some(true),
            out_of_memory: state.oom_killed == Some(true),
            exit_code: state.exit_code,
        })
    }
}

/// The error for a container with these events and this last state.
fn cause(events: &[&str], state: Option<LastState>) -> SandboxError {
    let told = |event: &&str| FROM_OUTSIDE.contains(event);
    let Some(state) = state.filter(|state| !state.running) else {
        return SandboxError::Lost;
    };
    if events.iter().any(told) {
        return SandboxError::Lost;
    }
    if state.out_of_memory {
        return SandboxError::Died("its memory ran out".into());
    }
    match state.exit_code {
        _ if !events.contains(&DIE) => SandboxError::Lost,
        Some(code) => SandboxError::Died(format!("its first process ended with exit code {code}")),
        None => SandboxError::Died("its first process ended".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_tell_who_ended_a_container() {
        let exited = |code| LastState {
            exit_code: Some(code),
            ..LastState::default()
        };
        let out_of_memory = LastState {
            out_of_memory: true,
            ..exited(137)
        };
        let running = LastState {
            running: true,
            ..LastState::default()
        };
        let check = |events: &[&str], state, expect: Option<&str>| {
            let why = match cause(events, state) {
                SandboxError::Died(why) => Some(why),
                SandboxError::Lost => None,
                other => panic!("{other}"),
            };
            let as_expected = match (&why, expect) {
                (Some(why), Some(expect)) => why.contains(expect),
                (why, expect) => why.is_none() && expect.is_none(),
            };
            assert!(as_expected, "{events:?} {state:?} -> {why:?}");
        };
        // From inside.
        check(&["die"], Some(exited(137)), Some("exit code 137"));
        check(&["die"], Some(exited(0)), Some("exit code 0"));
        check(&["die"], Some(LastState::default()), Some("process ended"));
        check(&["die"], Some(out_of_memory), Some("memory"));
        check(&[], Some(out_of_memory), Some("memory"));
        // By `docker kill`, `docker stop`, `docker restart` and `docker rm -f`.
        check(&["kill", "die"], Some(exited(137)), None);
        check(&["kill", "die", "stop"], Some(exited(143)), None);
        check(&["kill", "die", "stop", "restart"], Some(running), None);
        check(&["kill", "die", "destroy"], None, None);
        check(&["kill", "die"], Some(out_of_memory), None);
        // The engine was restarted, or does not answer.
        check(&[], Some(exited(137)), None);
        check(&[], None, None);
        check(&["die"], None, None);
        check(&[], Some(running), None);
    }
}
