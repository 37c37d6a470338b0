//! `swe-ci price`: the prices of models.

use clap::{ArgGroup, Args, Subcommand};
use comfy_table::CellAlignment::{Left, Right};
use swe_ci_core::agent::PriceLine;
use swe_ci_core::csv;
use swe_ci_core::usage::Prices;
use swe_ci_engine::Error;

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

const SET_HELP: &str = "\
Prices are US dollars for a million tokens. A run uses the prices of the day
of its submission (the latest that begin no later), unless its configuration has
endpoint.prices.

Examples:
  swe-ci price set acme-large --input 3 --output 15 --cached 0.3
  swe-ci price set acme-large --input 2 --output 10 --from 2026-12-01";

const LIST_HELP: &str = "\
Examples:
  swe-ci price list
  swe-ci price list --csv > prices.csv";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Set a model's prices from a day on
    #[command(after_help = SET_HELP)]
    Set(Set),
    /// List all prices
    #[command(after_help = LIST_HELP)]
    List(List),
    /// Remove the prices of a model that begin on a day
    Remove(Remove),
}

#[derive(Debug, Args)]
pub(super) struct Set {
    /// The provider's name for the model
    model: String,
    /// Price of a million input tokens
    #[arg(long, value_name = "USD")]
    input: f64,
    /// Price of a million output tokens, reasoning included
    #[arg(long, value_name = "USD")]
    output: f64,
    /// Price of a million input tokens from the provider's cache; as --input
    /// when absent
    #[arg(long, value_name = "USD")]
    cached: Option<f64>,
    /// The first day, YYYY-MM-DD; today (UTC) when absent
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("format").args(["json", "csv"])))]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The model's name
    model: String,
    /// The day the prices begin, YYYY-MM-DD
    #[arg(long, value_name = "DAY")]
    from: String,
}

pub(super) async fn execute(global: &GlobalOptions, command: Command) -> Result<(), Failure> {
    let engine = super::open(global).await?;
    match command {
        Command::Set(options) => {
            let line = PriceLine {
                model: options.model,
                from: options.from.unwrap_or_else(|| engine.today()),
                prices: Prices {
                    input: options.input,
                    cached: options.cached,
                    output: options.output,
                },
            };
            engine.set_price(&line).await?;
            output::note(format_args!(
                "`{}` has these prices from {} on.",
                line.model, line.from
            ));
            Ok(())
        }
        Command::List(options) => list(&engine.prices().await?, &options),
        Command::Remove(Remove { model, from }) => {
            let removed = engine.remove_price(&model, &from).await;
            removed.map_err(|error| match error {
                Error::NotFound { .. } => {
                    Failure::from(error).next("`swe-ci price list` shows the prices")
                }
                other => other.into(),
            })
        }
    }
}

fn list(lines: &[PriceLine], options: &List) -> Result<(), Failure> {
    if options.json {
        return output::json(&lines);
    }
    if options.csv {
        return output::line(table(lines).trim_end_matches('\n'));
    }
    if lines.is_empty() {
        output::note("There are no prices; `swe-ci price set` adds some.");
        return Ok(());
    }
    let columns = [
        ("model", Left),
        ("from", Left),
        ("input", Right),
        ("cached", Right),
        ("output", Right),
    ];
    output::table(columns, lines.iter().map(cells))
}

fn table(lines: &[PriceLine]) -> String {
    let mut table = String::new();
    let head = ["model", "from", "input", "cached", "output"];
    csv::line(&mut table, head.map(str::to_owned));
    for line in lines {
        let [model, rest @ ..] = cells(line);
        csv::line(&mut table, [csv::text(&model)].into_iter().chain(rest));
    }
    table
}

fn cells(line: &PriceLine) -> [String; 5] {
    let Prices {
        input,
        cached,
        output,
    } = line.prices;
    [
        line.model.clone(),
        line.from.clone(),
        input.to_string(),
        cached.map(|price| price.to_string()).unwrap_or_default(),
        output.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_as_a_table_for_download() {
        let line = |model: &str, cached| PriceLine {
            model: model.into(),
            from: "2026-11-20".into(),
            prices: Prices {
                input: 0.25,
                cached,
                output: 15.0,
            },
        };
        let found = table(&[line("a,b", Some(0.03)), line("=m", None)]);
        assert_eq!(
            found,
            "model,from,input,cached,output\r\n\
             \"a,b\",2026-11-20,0.25,0.03,15\r\n\
             '=m,2026-11-20,0.25,,15\r\n"
        );
    }
}
