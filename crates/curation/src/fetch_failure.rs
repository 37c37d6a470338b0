//! Why a repository could not be fetched: only a failure of its own drops it.

use anyhow::Error;
use swe_ci_base::machine_failure::{is_machine_failure, tells_of_machine_failure};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchFailure {
    /// This machine failed; every repository would fail.
    Machine,
    /// Its server, or the network, did not answer, or not to the end.
    Unreachable,
    /// It does not exist, is not public, is too large, …
    Repository,
}

/// Words of git, curl and the HTTP client, in lower case.
const UNREACHABLE: [&str; 22] = [
    "could not resolve",
    "temporary failure in name resolution",
    "could not connect",
    "couldn't connect",
    "failed to connect",
    "unable to connect",
    "connection refused",
    "connection reset",
    "connection timed out",
    "connection closed",
    "operation timed out",
    "operation too slow",
    "network is unreachable",
    "no route to host",
    "early eof",
    "unexpected disconnect",
    "hung up unexpectedly",
    "rpc failed",
    "proxy connect",
    "error sending request",
    "error decoding response body",
    "server error (5",
];

/// Answers of a server that is busy or broken.
const BUSY: [&str; 5] = ["429", "500", "502", "503", "504"];

impl FetchFailure {
    pub fn of(error: &Error) -> Self {
        let text = format!("{error:#}").to_lowercase();
        if is_machine_failure(error)
            || tells_of_machine_failure(&text)
            || text.contains("cannot run git")
        {
            return Self::Machine;
        }
        let busy = |status: &&str| {
            text.contains(&format!("returned error: {status}"))
                || text.contains(&format!("client error ({status}"))
        };
        match UNREACHABLE.iter().any(|words| text.contains(words)) || BUSY.iter().any(busy) {
            true => Self::Unreachable,
            false => Self::Repository,
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn whose_failure_it_is() {
        use FetchFailure::{Machine, Repository, Unreachable};
        let check = |message: &str, expect| {
            let failed = Err::<(), _>(anyhow!("git: {message}"));
            let error = failed.context("cannot clone https://a/b").unwrap_err();
            assert_eq!(FetchFailure::of(&error), expect, "{message}");
        };
        let fatal = "fatal: unable to access 'https://a/b/':";
        for (message, expect) in [
            ("Could not resolve host: a", Unreachable),
            (
                "Failed to connect to a port 443 after 2 ms: Couldn't connect to server",
                Unreachable,
            ),
            ("Recv failure: Connection reset by peer", Unreachable),
            ("The requested URL returned error: 503", Unreachable),
            ("The requested URL returned error: 429", Unreachable),
            ("The requested URL returned error: 403", Repository),
        ] {
            check(&format!("{fatal} {message}"), expect);
        }
        check("error: RPC failed; curl 56\nfatal: early EOF", Unreachable);
        check(
            "remote: Repository not found.\nfatal: repository 'https://a/b/' not found",
            Repository,
        );
        check(
            "fatal: could not read Username for 'https://a': terminal prompts disabled",
            Repository,
        );
        check(
            "fatal: Remote branch x not found in upstream origin",
            Repository,
        );
        check("fatal: write error: No space left on device", Machine);
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let no_git = Err::<(), _>(missing).context("cannot run git; install it on this machine");
        assert_eq!(FetchFailure::of(&no_git.unwrap_err()), Machine);
        let full = std::io::Error::from_raw_os_error(28);
        let full = Err::<(), _>(full).context("cannot create x");
        assert_eq!(FetchFailure::of(&full.unwrap_err()), Machine);
        check(
            "HTTP status server error (502 Bad Gateway) for url (https://a)",
            Unreachable,
        );
        check(
            "it is larger than the 5 MiB that limits.repository_mib allows",
            Repository,
        );
    }
}
