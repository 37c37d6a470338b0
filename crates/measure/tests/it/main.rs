//! The driver, run by this machine's Python with the real tools.

mod agreement;
mod diff;
mod interpreter;
mod isolation;
mod tools;
mod unmeasurable;
mod versions;

use swe_ci_measure::{Mode, Pylint, Radon, Source, read_pylint, read_radon, request};
use tools::Workspace;

/// A source of these files.
fn source(files: &[(&str, &str)]) -> Source {
    let files = files.iter();
    files
        .map(|(p, text)| ((*p).into(), (*text).into()))
        .collect()
}

fn radon(source: &Source) -> Radon {
    let workspace = Workspace::new(source);
    let found = workspace.run(
        Mode::Radon,
        &request(Mode::Radon, &workspace.root(), source),
    );
    read_radon(&found.unwrap(), source).unwrap()
}

fn pylint(source: &Source) -> Result<Pylint, String> {
    let workspace = Workspace::new(source);
    let found = workspace.run(
        Mode::Pylint,
        &request(Mode::Pylint, &workspace.root(), source),
    );
    read_pylint(&found.unwrap(), source)
}
