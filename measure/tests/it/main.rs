//! The driver run by this machine's Python, with the tools themselves.

mod agreement;
mod changed;
mod hostile;
mod odd;
mod start;
mod tools;

use swe_ci_measure::{Mode, Pylint, Radon, Source, read_pylint, read_radon, request};
use tools::Place;

/// A source of these files.
fn source(files: &[(&str, &str)]) -> Source {
    let files = files.iter();
    files
        .map(|(p, text)| ((*p).into(), (*text).into()))
        .collect()
}

fn radon(source: &Source) -> Radon {
    let place = Place::new(source);
    let found = place.run(Mode::Radon, &request(Mode::Radon, &place.root(), source));
    read_radon(&found.unwrap(), source).unwrap()
}

fn pylint(source: &Source) -> Result<Pylint, String> {
    let place = Place::new(source);
    let found = place.run(Mode::Pylint, &request(Mode::Pylint, &place.root(), source));
    read_pylint(&found.unwrap(), source)
}
