//! `swe-ci account`: the accounts of the site.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use comfy_table::CellAlignment::Left;
use secrecy::{ExposeSecret, SecretString};
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::{AccountRole, AccountView};

use super::failure::Failure;
use super::{key, output};
use crate::config::GlobalOptions;

const INVITE_HELP: &str = "\
Prints the path of an invitation link; it works once, within 7 days. Put the
site's address before it, and give it only to the invited person.

Roles, each with the rights of the ones before it:
  reader     reads public runs, even on a closed site
  submitter  submits runs and steers its own
  admin      steers all runs, and manages accounts

Examples:
  swe-ci account invite submitter --note \"Ada, for the spring experiments\"";

const RESET_HELP: &str = "\
The password comes from stdin, or from a prompt when stdin is a terminal; never
from the command line, which others on this machine can see. It has 10 to
200 characters. All sessions of the account end; its API tokens stay.

Examples:
  swe-ci account reset-password ada";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the accounts
    List(List),
    /// Create an invitation link
    #[command(after_help = INVITE_HELP)]
    Invite(Invite),
    /// Change the role of an account
    SetRole(SetRole),
    /// Disable an account, with all its sessions and tokens
    Disable(Named),
    /// Enable an account again
    Enable(Named),
    /// Set a new password for an account
    #[command(after_help = RESET_HELP)]
    ResetPassword(Named),
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Invite {
    /// The role of the new account
    #[arg(value_parser = role())]
    role: AccountRole,
    /// A note about the invited person, for administrators; up to 200
    /// characters
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    note: String,
}

#[derive(Debug, Args)]
pub(super) struct SetRole {
    /// The account's name
    name: String,
    /// The new role
    #[arg(value_parser = role())]
    role: AccountRole,
}

#[derive(Debug, Args)]
pub(super) struct Named {
    /// The account's name
    name: String,
}

fn role() -> impl TypedValueParser<Value = AccountRole> {
    let names = AccountRole::ALL.map(AccountRole::name);
    PossibleValuesParser::new(names)
        .try_map(|name| AccountRole::from_name(&name).ok_or("there is no such role"))
}

pub(super) async fn execute(global: &GlobalOptions, command: Command) -> Result<(), Failure> {
    let engine = super::open(global).await?;
    match command {
        Command::List(List { json }) => list(&engine.accounts().await?, json),
        Command::Invite(options) => invite(&engine, &options).await,
        Command::SetRole(SetRole { name, role }) => {
            engine.set_role(&name, role).await.map_err(not_done)?;
            output::note(format_args!("`{name}` now has the role {}.", role.name()));
            Ok(())
        }
        Command::Disable(Named { name }) => {
            engine.set_disabled(&name, true).await.map_err(not_done)?;
            output::note(format_args!("`{name}` is disabled."));
            Ok(())
        }
        Command::Enable(Named { name }) => {
            engine.set_disabled(&name, false).await.map_err(not_done)?;
            output::note(format_args!("`{name}` may sign in again."));
            Ok(())
        }
        Command::ResetPassword(Named { name }) => {
            let new = password()?;
            engine.reset_password(&name, &new).await.map_err(not_done)?;
            output::note(format_args!("`{name}` has a new password."));
            Ok(())
        }
    }
}

async fn invite(engine: &Engine, options: &Invite) -> Result<(), Failure> {
    let (invitation, secret) = engine.invite(options.role, &options.note).await?;
    output::line(format_args!("/invitation/{}", secret.expose_secret()))?;
    output::note(format_args!(
        "It makes an account with the role {}, once, until {} UTC.",
        invitation.role.name(),
        output::minute(&invitation.expires_at)
    ));
    Ok(())
}

/// Without the line end that files and pipes add.
fn password() -> Result<SecretString, Failure> {
    let text = key::read("new password")?;
    let text = text.expose_secret().trim_end_matches(['\r', '\n']);
    Ok(SecretString::from(text))
}

fn not_done(error: Error) -> Failure {
    match error {
        Error::NotFound { .. } => {
            Failure::from(error).next("`swe-ci account list` shows the accounts")
        }
        other => other.into(),
    }
}

fn list(accounts: &[AccountView], json: bool) -> Result<(), Failure> {
    if json {
        return output::json(&accounts);
    }
    if accounts.is_empty() {
        output::note(
            "There is no account; `swe-ci account invite admin` makes a link to the first.",
        );
        return Ok(());
    }
    let columns = [
        ("account", Left),
        ("role", Left),
        ("made", Left),
        ("signed in", Left),
        ("state", Left),
    ];
    let rows = accounts.iter().map(|account| {
        let signed_in = account.signed_in_at.as_deref().map(output::minute);
        let state = if account.disabled { "disabled" } else { "" };
        [
            account.name.clone(),
            account.role.name().into(),
            output::minute(&account.created_at),
            signed_in.unwrap_or_else(|| "never".into()),
            state.into(),
        ]
    });
    output::table(columns, rows)
}
