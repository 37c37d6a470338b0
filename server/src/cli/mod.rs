//! The command line: one file per command family. Every command is a function
//! from its options to `Result<(), Failure>`; only this file ends the process.

mod account;
mod dataset;
mod disk;
mod doctor;
mod export;
mod failure;
mod findings;
mod gate;
mod harness;
mod hub_push;
mod import_results;
mod judge;
mod key;
mod leaderboard;
mod output;
mod plan;
mod price;
mod publish;
mod read;
mod regrade;
mod rescore;
mod run;
mod score;
mod score_samples;
mod serve;
mod shell;
mod signals;
mod snapshot;
mod steer;
mod style;
mod submit;
mod try_out;
mod upgrade_check;
mod verify;
mod work;
mod workers;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use swe_ci_engine::Engine;

use crate::config::{GlobalOptions, ServeOptions, WorkOptions};
use crate::logging;
use failure::Failure;

/// Rendering a page nests calls deeply; a full leaderboard takes nearly 3 MiB
/// of stack in a development build. Unused stack takes no memory.
const STACK: usize = 8 << 20;

const AFTER_HELP: &str = "\
Examples:
  swe-ci serve --demo                     the site, with a first run to look at
  swe-ci try .                            agents on your own repository
  swe-ci doctor                           check everything a run needs
  swe-ci run submit --human --split demo  queue the human baseline
  swe-ci leaderboard --gamma 1.5          the ranking, in the terminal
  swe-ci read runs                        whatever the API has, as a table
  swe-ci score FOLDER --metadata CSV      score results made elsewhere

Most options have environment variables too; `swe-ci COMMAND --help` names
them. Image builds also get http_proxy, https_proxy, no_proxy and the CA
bundle of SSL_CERT_FILE (the system's own when it is not set).

Exit codes: 0 success, 1 failure (stderr has the reason and advice), 2 the
command line or an environment variable is invalid.";

const MIGRATE_HELP: &str = "\
`serve` and every other command migrate the database when they start; this
command does it at a time of your choice. `swe-ci upgrade-check` tells before
what it will change.

Examples:
  swe-ci migrate
  SWE_CI_DATABASE_URL=postgres://swe_ci:…@db/swe_ci swe-ci migrate";

/// How well do LLM coding agents maintain a codebase? Runs the SWE-CI
/// benchmark and shows its results.
#[derive(Debug, Parser)]
#[command(name = "swe-ci", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the site and the REST API, and execute queued runs
    #[command(after_help = serve::AFTER_HELP)]
    Serve(ServeOptions),
    /// Try agents on a repository of your own: from its history to a table
    #[command(after_help = try_out::AFTER_HELP)]
    Try(try_out::Options),
    /// Execute queued runs, beside a server
    #[command(after_help = work::AFTER_HELP)]
    Work(WorkOptions),
    /// Drain workers, which execute runs, and have them claim again
    #[command(subcommand)]
    Workers(workers::Command),
    /// Tell how long a run would take on so many slots
    #[command(after_help = plan::AFTER_HELP)]
    Plan(plan::Options),
    /// Bring the database up to date
    #[command(after_help = MIGRATE_HELP)]
    Migrate,
    /// Tell what opening the database with this program would change in it
    #[command(after_help = upgrade_check::AFTER_HELP)]
    UpgradeCheck {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what the REST API answers at an address, as a table or JSON
    #[command(after_help = read::AFTER_HELP)]
    Read(read::Options),
    /// Print the description of the REST API (OpenAPI), as a server has it at
    /// /api/v1/openapi.json
    DescribeApi,
    /// Check everything a run needs, and advise on problems
    #[command(after_help = doctor::AFTER_HELP)]
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show disk use: results, tasks, images and the layers they share
    #[command(after_help = disk::AFTER_HELP)]
    Disk(disk::Options),
    /// Import, make, export and check datasets and their tasks
    #[command(subcommand, visible_alias = "tasks")]
    Dataset(dataset::Command),
    /// Submit, show and steer runs
    #[command(subcommand)]
    Run(run::Command),
    /// Print the leaderboard of a split
    #[command(after_help = leaderboard::AFTER_HELP)]
    Leaderboard(leaderboard::Options),
    /// Keep the leaderboards of a split as they are today, for citations
    #[command(subcommand)]
    Snapshot(snapshot::Command),
    /// Tell by an exit code whether a candidate loses too much against a baseline
    #[command(after_help = gate::AFTER_HELP)]
    Gate(gate::Options),
    /// Score results made elsewhere, straight from their files
    #[command(after_help = score::AFTER_HELP)]
    Score(score::Options),
    /// Import results made elsewhere as a finished run
    #[command(after_help = import_results::AFTER_HELP)]
    ImportResults(import_results::Options),
    /// Export recorded runs for other programs
    #[command(subcommand)]
    Export(export::Command),
    /// Publish a run as a result of a benchmark on the Hugging Face hub
    #[command(after_help = publish::AFTER_HELP)]
    Publish(publish::Options),
    /// Submit a finished run to another site, or pack it for that
    #[command(after_help = submit::AFTER_HELP)]
    Submit(submit::Options),
    /// Score stored runs again, after a change of the metric definitions
    #[command(after_help = rescore::AFTER_HELP)]
    Rescore(rescore::Options),
    /// Measure a folder of code with the style tools
    #[command(after_help = style::AFTER_HELP)]
    Style(style::Options),
    /// Run the tests of a run again, and compare them with the recorded
    /// outcomes
    #[command(after_help = verify::AFTER_HELP)]
    Verify(verify::Options),
    /// Open a shell with what a step of a run had, or repeat its tests
    #[command(after_help = shell::AFTER_HELP)]
    Shell(shell::Options),
    /// Have a model answer questions about each iteration of a run
    #[command(after_help = judge::AFTER_HELP)]
    Judge(judge::Options),
    /// Grade the stored code of a run again, in a new run
    #[command(after_help = regrade::AFTER_HELP)]
    Regrade(regrade::Options),
    /// Decide about suspicious findings
    #[command(subcommand)]
    Findings(findings::Command),
    /// List, install and try the agent programs
    #[command(subcommand)]
    Harness(harness::Command),
    /// Store the keys of providers, encrypted
    #[command(subcommand)]
    Key(key::Command),
    /// Manage the prices of models
    #[command(subcommand)]
    Price(price::Command),
    /// Manage the accounts of the site
    #[command(subcommand)]
    Account(account::Command),
}

/// The whole program.
pub fn main() -> ExitCode {
    // Prints help, version and usage errors, with exit code 0 or 2.
    let cli = Cli::parse();
    let default = match cli.command {
        // It prints itself what a person has to know.
        Command::Serve(_) if logging::has_reader(&cli.global) => "warn",
        Command::Serve(_) | Command::Work(_) => "info",
        _ => "warn",
    };
    match run(cli, default) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: Cli, default_log: &str) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .build()
        .map_err(|e| Failure::new(format!("no threads can be started: {e}")))?;
    let traces = cli
        .global
        .traces(runtime.handle())
        .map_err(Failure::usage)?;
    logging::init(&cli.global, default_log, traces.as_ref());
    let outcome = runtime.block_on(Box::pin(cli.execute()));
    if let Some(traces) = traces {
        traces.end();
    }
    // A blocked thread must not delay the exit.
    runtime.shutdown_timeout(Duration::from_millis(500));
    outcome
}

impl Cli {
    async fn execute(self) -> Result<(), Failure> {
        let Self { global, command } = self;
        let engine = || open(&global);
        match command {
            Command::Serve(options) => serve::execute(&global, &options).await,
            Command::Try(options) => try_out::execute(&global, &options).await,
            Command::Work(options) => work::execute(&global, &options).await,
            Command::Workers(command) => workers::execute(&engine().await?, command).await,
            Command::Read(options) => read::execute(engine().await?, &options).await,
            Command::Plan(options) => plan::execute(&engine().await?, &options).await,
            Command::Migrate => {
                engine().await?;
                output::line("The database is up to date.")
            }
            Command::UpgradeCheck { json } => upgrade_check::execute(&global, json).await,
            Command::DescribeApi => output::line(crate::api::description()),
            Command::Doctor { json } => doctor::execute(engine().await, json).await,
            Command::Disk(options) => disk::execute(&engine().await?, &options).await,
            Command::Dataset(command) => dataset::execute(&global, command).await,
            Command::Run(command) => run::execute(&global, command).await,
            Command::Leaderboard(options) => leaderboard::execute(&engine().await?, &options).await,
            Command::Snapshot(command) => snapshot::execute(&engine().await?, command).await,
            Command::Gate(options) => gate::execute(engine, &options).await,
            Command::Score(options) => score::execute(options).await,
            Command::ImportResults(options) => {
                import_results::execute(&engine().await?, options).await
            }
            Command::Export(command) => export::execute(&engine().await?, command).await,
            Command::Publish(options) => {
                publish::execute(&global, &engine().await?, &options).await
            }
            Command::Submit(options) => {
                submit::execute(&engine().await?, &options, global.site_token()).await
            }
            Command::Verify(options) => verify::execute(&engine().await?, &options).await,
            Command::Shell(options) => shell::execute(&engine().await?, &options).await,
            Command::Judge(options) => judge::execute(engine, options).await,
            Command::Regrade(options) => regrade::execute(&engine().await?, &options).await,
            Command::Style(options) => style::execute(&engine().await?, &options).await,
            Command::Rescore(options) => rescore::execute(&engine().await?, &options).await,
            Command::Findings(command) => findings::execute(&engine().await?, command).await,
            Command::Harness(command) => harness::execute(&engine().await?, command).await,
            Command::Key(command) => key::execute(&engine().await?, command).await,
            Command::Price(command) => price::execute(&engine().await?, command).await,
            Command::Account(command) => account::execute(&engine().await?, command).await,
        }
    }
}

/// Opens the engine for a command that does not execute runs itself.
async fn open(global: &GlobalOptions) -> Result<Engine, Failure> {
    let config = global.engine(0).map_err(Failure::usage)?;
    Ok(Engine::open(config).await?)
}
