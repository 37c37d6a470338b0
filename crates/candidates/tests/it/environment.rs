//! The whole way from a commit's files to a recipe and its repair, as a caller
//! goes it: this is the example to copy from.

use std::collections::BTreeMap;

use swe_ci_candidates::environment::configuration::{Configuration, Files};
use swe_ci_candidates::environment::{diagnosis, python, recipe::Recipe, repair::Repair};

#[test]
fn from_files_to_a_recipe_and_its_repair() {
    let tree = [
        ("pyproject.toml", "[project]\nname = 'a'\n"),
        ("src/a.py", ""),
    ];
    let files: Files = tree.map(|(path, text)| (path.into(), text.into())).into();
    let images = python::BaseImages::from([("3.11".into(), "base:py311".into())]);
    let committed: jiff::Timestamp = "2024-01-05T10:00:00Z".parse().unwrap();
    let day = committed.to_zoned(jiff::tz::TimeZone::UTC).date();

    let configuration = Configuration::read(&files);
    let interpreter = python::choose(&configuration, &images, day).unwrap();
    let recipe = Recipe::new(&configuration, &interpreter, committed, None).unwrap();
    // `recipe.lines()` after `FROM`, `recipe.files()` and the tree under `code/`
    // go to `docker build`, whose output names the cause of a failure.
    let output = "ModuleNotFoundError: No module named 'yaml'";
    let own = diagnosis::own_modules(tree.map(|(path, _)| path));
    let findings = diagnosis::diagnose(output, &own);
    assert_eq!(diagnosis::missing_modules(&findings), ["yaml"]);
    // `distribution::Finder::find` fills this map.
    let found = BTreeMap::new();
    let mut repair = Repair::new(5);
    assert_eq!(repair.next(&recipe, &findings, &found), None);
    assert_eq!(repair.attempts[0].reasons.len(), 1);
}
