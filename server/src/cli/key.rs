//! `swe-ci key`: the stored keys of model providers.

use std::io::{IsTerminal, Read};

use clap::Subcommand;
use secrecy::SecretString;
use swe_ci_engine::{Engine, Error};

use super::failure::Failure;
use super::output;

/// Longer than any key; the rest is not read.
const MOST_BYTES: u64 = 64 << 10;

const SET_HELP: &str = "\
The key comes from stdin, or from a prompt when stdin is a terminal; never
from the command line, which others on this machine can see. It is stored
encrypted and never shown. A run names it: endpoint = { …, key = \"NAME\" }.

Examples:
  swe-ci key set acme
  swe-ci key set acme < acme.key";

const ROTATE_HELP: &str = "\
The master key is the file secret.key of the data folder. A new one replaces
it and encrypts all keys again; a running server continues.

If it is in SWE_CI_SECRET instead, create the new one yourself, pass it on
stdin, and restart the server with the variable changed.

Examples:
  swe-ci key rotate
  openssl rand -base64 32 | tee new.key | swe-ci key rotate --stdin";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Store the key of a provider under a name
    #[command(after_help = SET_HELP)]
    Set {
        /// Letters, digits, `.`, `_` and `-`
        name: String,
    },
    /// Remove a stored key
    Remove {
        /// The key's name
        name: String,
        /// Remove it even if queued or running runs need it
        #[arg(long)]
        force: bool,
    },
    /// Re-encrypt all stored keys with a new master key
    #[command(after_help = ROTATE_HELP)]
    Rotate {
        /// Read the new master key from stdin: 32 random bytes in base64
        #[arg(long)]
        stdin: bool,
    },
}

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    let done = match command {
        Command::Set { name } => {
            engine.set_key(&name, &read(&name)?).await?;
            format!("The key `{name}` is stored.")
        }
        Command::Remove { name, force } => {
            engine.remove_key(&name, force).await.map_err(not_removed)?;
            format!("The key `{name}` is removed.")
        }
        Command::Rotate { stdin } => {
            let new = stdin.then(|| read("new master key")).transpose()?;
            let (id, keys) = engine.rotate_secret(new.as_ref()).await?;
            format!("All stored keys ({keys}) are now encrypted with the master key {id}.")
        }
    };
    output::note(done);
    Ok(())
}

/// Reads from a terminal without echo, else all of stdin.
pub(super) fn read(what: &str) -> Result<SecretString, Failure> {
    let stdin = std::io::stdin();
    let text = if stdin.is_terminal() {
        rpassword::prompt_password(format!("{what}: "))
    } else {
        let mut text = String::new();
        let read = stdin.lock().take(MOST_BYTES).read_to_string(&mut text);
        read.map(|_| text)
    };
    text.map(SecretString::from)
        .map_err(|e| Failure::new(format!("stdin cannot be read: {e}")))
}

fn not_removed(error: Error) -> Failure {
    let needed = matches!(error, Error::Conflict(_));
    Failure::from(error).next_if(
        needed,
        "cancel them (`swe-ci run cancel`), or add --force; their steps will then fail",
    )
}
