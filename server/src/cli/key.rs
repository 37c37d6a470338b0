//! `swe-ci key`: the stored keys of model providers.

use std::io::{IsTerminal, Read};

use clap::{Args, Subcommand};
use comfy_table::CellAlignment::Left;
use secrecy::SecretString;
use swe_ci_engine::{Error, KeyView};

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

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
    Set(Set),
    /// List the names of the stored keys
    List(List),
    /// Remove a stored key
    Remove(Remove),
    /// Re-encrypt all stored keys with a new master key
    #[command(after_help = ROTATE_HELP)]
    Rotate(Rotate),
}

#[derive(Debug, Args)]
pub(super) struct Set {
    /// Letters, digits, `.`, `_` and `-`
    name: String,
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The key's name
    name: String,
    /// Remove it even if queued or running runs need it
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
pub(super) struct Rotate {
    /// Read the new master key from stdin: 32 random bytes in base64
    #[arg(long)]
    stdin: bool,
}

pub(super) async fn execute(global: &GlobalOptions, command: Command) -> Result<(), Failure> {
    let engine = super::open(global).await?;
    match command {
        Command::Set(Set { name }) => {
            engine.set_key(&name, &read(&name)?).await?;
            output::note(format_args!("The key `{name}` is stored."));
            Ok(())
        }
        Command::List(List { json }) => list(&engine.key_names().await?, json),
        Command::Remove(Remove { name, force }) => {
            engine.remove_key(&name, force).await.map_err(not_removed)?;
            output::note(format_args!("The key `{name}` is removed."));
            Ok(())
        }
        Command::Rotate(Rotate { stdin }) => {
            let new = stdin.then(|| read("new master key")).transpose()?;
            let (id, keys) = engine.rotate_secret(new.as_ref()).await?;
            output::note(format_args!(
                "All stored keys ({keys}) are now encrypted with the master key {id}."
            ));
            Ok(())
        }
    }
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
    let next = match &error {
        Error::NotFound { .. } => Some("`swe-ci key list` shows the keys"),
        Error::Conflict(_) => {
            Some("cancel them (`swe-ci run cancel`), or add --force; their steps will then fail")
        }
        _ => None,
    };
    let failure = Failure::from(error);
    match next {
        Some(next) => failure.next(next),
        None => failure,
    }
}

fn list(keys: &[KeyView], json: bool) -> Result<(), Failure> {
    if json {
        return output::json(&keys);
    }
    if keys.is_empty() {
        output::note("No key is stored; `swe-ci key set NAME` stores one.");
        return Ok(());
    }
    let columns = [
        ("key", Left),
        ("stored", Left),
        ("changed", Left),
        ("used", Left),
    ];
    let rows = keys.iter().map(|key| {
        let used = key.used_at.as_deref().map(output::minute);
        [
            key.name.clone(),
            output::minute(&key.created_at),
            output::minute(&key.changed_at),
            used.unwrap_or_else(|| "never".into()),
        ]
    });
    output::table(columns, rows)
}
