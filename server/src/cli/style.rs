//! `swe-ci style`: measures a folder of code.

use std::path::PathBuf;

use clap::Args;
use swe_ci_engine::{Engine, FolderStyle};
use swe_ci_views::style::{CodeStyle, Erosion, ErosionFigure, FileStyle, PylintCounts};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
Pylint, radon, complexipy and Vulture run in containers without a network, on a
copy of the `*.py` files outside of folders named `tests` or `test`, with their own
defaults: the folder's configuration is ignored. Imports resolve to the image's
packages.

Examples:
  swe-ci style .
  swe-ci style src --image my-project:latest --files 50
  swe-ci style src --json > style.json";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Folder of the code
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Image with the packages the code imports; the base image when absent
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Number of files to list, those of the lowest maintainability first
    #[arg(long, value_name = "N", default_value_t = 10)]
    files: usize,
    /// Print JSON, with every file
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let image = options.image.as_deref();
    let found = engine
        .style_of_folder(&options.folder, image, &output::say)
        .await?;
    output::show(&found, options.json, |found| print(found, options.files))
}

fn print(found: &FolderStyle, listed: usize) -> Result<(), Failure> {
    let tools = &found.tools;
    output::note(format_args!(
        "Pylint {}, radon {}, complexipy {}, Vulture {}, Python {}",
        tools.pylint, tools.radon, tools.complexipy, tools.vulture, tools.python
    ));
    for problem in &found.problems {
        output::note(problem);
    }
    let of_all = totals(&found.style).map(|(name, value)| [name.to_owned(), value]);
    let of_all = of_all.into_iter().chain(erosion(&found.erosion));
    output::table("measure | value:", of_all)?;
    let mut files: Vec<&FileStyle> = found.files.iter().collect();
    let mi = |file: &FileStyle| file.radon.map_or(-1.0, |radon| radon.mi);
    files.sort_by(|a, b| mi(a).total_cmp(&mi(b)));
    files.truncate(listed);
    if files.is_empty() {
        return Ok(());
    }
    output::line("")?;
    let header = "file | MI: | Pylint: | complexity: | sloc: | note";
    output::table(header, files.into_iter().map(row))
}

fn totals(style: &CodeStyle) -> [(&'static str, String); 10] {
    let pylint = match &style.problem {
        Some(problem) => format!("– ({problem})"),
        None => number(style.pylint_score()),
    };
    [
        ("maintainability index, 0 to 100", number(style.mi)),
        ("Pylint score, 0 to 10", pylint),
        (
            "mean cyclomatic complexity",
            number(style.mean_complexity()),
        ),
        ("largest complexity", style.complexity_most.to_string()),
        ("Halstead volume", format!("{:.0}", style.volume)),
        ("lines of source", style.sloc.to_string()),
        ("comments per line of source", number(style.comment_ratio())),
        ("functions, methods, classes", style.blocks.to_string()),
        ("files", style.files.to_string()),
        ("files that cannot be parsed", style.unparsed.to_string()),
    ]
}

/// What can be told without a base, and is not among the totals.
fn erosion(erosion: &Erosion) -> Vec<[String; 2]> {
    let shown = ErosionFigure::ALL.into_iter().filter(|figure| {
        matches!(
            figure,
            ErosionFigure::Cognitive | ErosionFigure::Duplicated | ErosionFigure::Unused
        )
    });
    shown
        .map(|figure| [figure.title().to_lowercase(), number(erosion.of(figure))])
        .collect()
}

fn row(file: &FileStyle) -> [String; 6] {
    let radon = file.radon;
    let complexity = radon.filter(|radon| radon.blocks > 0);
    let complexity = complexity.map(|r| f64::from(r.complexity) / f64::from(r.blocks));
    let problem = file.problem.as_deref().unwrap_or_default();
    [
        file.path.clone(),
        number(radon.map(|radon| radon.mi)),
        number(file.pylint.and_then(PylintCounts::score)),
        number(complexity),
        radon.map_or_else(|| "–".into(), |radon| radon.sloc.to_string()),
        output::short(problem, 60),
    ]
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), |value| format!("{value:.2}"))
}
