//! `swe-ci account`: the accounts of the site.

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_engine::Engine;
use swe_ci_views::account::AccountRole;

use super::failure::Failure;
use super::{key, output};

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
    /// Create an invitation link
    #[command(after_help = INVITE_HELP)]
    Invite {
        /// The role of the new account
        #[arg(value_parser = role())]
        role: AccountRole,
        /// A note about the invited person, for administrators; up to 200
        /// characters
        #[arg(long, value_name = "TEXT", default_value_t, hide_default_value = true)]
        note: String,
    },
    /// Change the role of an account
    SetRole {
        /// The account's name
        name: String,
        /// The new role
        #[arg(value_parser = role())]
        role: AccountRole,
    },
    /// Disable an account, with all its sessions and tokens
    Disable {
        /// The account's name
        name: String,
    },
    /// Enable an account again
    Enable {
        /// The account's name
        name: String,
    },
    /// Set a new password for an account
    #[command(after_help = RESET_HELP)]
    ResetPassword {
        /// The account's name
        name: String,
    },
}

fn role() -> impl TypedValueParser<Value = AccountRole> {
    let names = AccountRole::ALL.map(AccountRole::name);
    PossibleValuesParser::new(names)
        .try_map(|name| AccountRole::from_name(&name).ok_or("there is no such role"))
}

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    let done = match command {
        Command::Invite { role, note } => {
            let (invitation, secret) = engine.invite(role, &note).await?;
            output::line(format_args!("/invitation/{}", secret.expose_secret()))?;
            format!(
                "It makes an account with the role {}, once, until {} UTC.",
                invitation.role.name(),
                output::minute(&invitation.expires_at)
            )
        }
        Command::SetRole { name, role } => {
            engine.set_role(&name, role).await?;
            format!("`{name}` now has the role {}.", role.name())
        }
        Command::Disable { name } => {
            engine.set_disabled(&name, true).await?;
            format!("`{name}` is disabled.")
        }
        Command::Enable { name } => {
            engine.set_disabled(&name, false).await?;
            format!("`{name}` may sign in again.")
        }
        Command::ResetPassword { name } => {
            engine.reset_password(&name, &password()?).await?;
            format!("`{name}` has a new password.")
        }
    };
    output::note(done);
    Ok(())
}

/// Without the line end that files and pipes add.
fn password() -> Result<SecretString, Failure> {
    let text = key::read("new password")?;
    let text = text.expose_secret().trim_end_matches(['\r', '\n']);
    Ok(SecretString::from(text))
}
