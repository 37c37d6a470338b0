//! `swe-ci price`: the prices of models.

use clap::{Args, Subcommand};
use swe_ci_core::agent::PriceLine;
use swe_ci_core::csv;
use swe_ci_core::usage::Prices;
use swe_ci_engine::Engine;

use super::failure::Failure;
use super::output;

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
    List {
        /// Print JSON
        #[arg(long, conflicts_with = "csv")]
        json: bool,
        /// Print CSV
        #[arg(long)]
        csv: bool,
    },
    /// Remove the prices of a model that begin on a day
    Remove {
        /// The model's name
        model: String,
        /// The day the prices begin, YYYY-MM-DD
        #[arg(long, value_name = "DAY")]
        from: String,
    },
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

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
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
        Command::List { csv: true, .. } => {
            output::line(table(&engine.prices().await?).trim_end_matches('\n'))
        }
        Command::List { json, .. } => output::show(&engine.prices().await?[..], json, list),
        Command::Remove { model, from } => Ok(engine.remove_price(&model, &from).await?),
    }
}

fn list(lines: &[PriceLine]) -> Result<(), Failure> {
    let none = "There are no prices; `swe-ci price set` adds some.";
    let rows = lines.iter().map(cells);
    output::table_or_note("model | from | input: | cached: | output:", rows, none)
}

fn table(lines: &[PriceLine]) -> String {
    let rows = lines.iter().map(|line| {
        let [model, rest @ ..] = cells(line);
        [csv::text(&model)].into_iter().chain(rest)
    });
    csv::table(["model", "from", "input", "cached", "output"], rows)
}

fn cells(line: &PriceLine) -> [String; 5] {
    let prices = line.prices;
    [
        line.model.clone(),
        line.from.clone(),
        prices.input.to_string(),
        prices
            .cached
            .map(|price| price.to_string())
            .unwrap_or_default(),
        prices.output.to_string(),
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
