//! Base, oracle and iterations in numbers, and the files that differ.

use leptos::prelude::*;
use swe_ci_views::style::{
    CodeStyle, CodeVersion, Erosion, ErosionFigure, EvolutionStyle, FileBeside, FileLines,
    FileStyle, VersionStyle,
};

use crate::components::CollectAny;
use crate::components::ListTable;
use crate::format;

const COLUMNS: [&str; 9] = [
    "Code",
    "MI",
    "Pylint",
    "Mean complexity",
    "Largest",
    "Halstead volume",
    "Lines of source",
    "Comments per line",
    "Changed lines",
];

/// A row for each version. Beside its numbers is the difference from the
/// oracle's.
#[component]
pub(super) fn StyleVersions(style: EvolutionStyle) -> impl IntoView {
    let oracle = style.version(CodeVersion::Oracle);
    let oracle = oracle.map(|found| found.style.clone());
    let oracle = StoredValue::new(oracle.unwrap_or_default());
    let row = move |version: VersionStyle| view! { <Row version oracle/> };
    view! {
        <ListTable caption="Code style of each version" columns=&COLUMNS class="style-versions">
            {style.versions.into_iter().map(row).collect_any()}
        </ListTable>
    }
}

#[component]
fn Row(version: VersionStyle, oracle: StoredValue<CodeStyle>) -> impl IntoView {
    let VersionStyle { style, lines, .. } = version;
    let (version, oracle) = (version.version, oracle.get_value());
    let beside = !matches!(version, CodeVersion::Oracle);
    let cell = |label, own, oracle: Option<f64>, places| {
        let oracle = oracle.filter(|_| beside);
        view! { <Number label own oracle places/> }
    };
    let plain = |label, text: String| view! { <td role="cell" data-label=label>{text}</td> };
    let changed = match version {
        CodeVersion::Base => "–".to_owned(),
        _ => format::added_deleted(lines.added, lines.deleted),
    };
    let problems = problems(&style);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{named(version)}{problems}</th>
            {cell("MI", style.mi, oracle.mi, 2)}
            {cell("Pylint", style.pylint_score(), oracle.pylint_score(), 2)}
            {cell("Mean complexity", style.mean_complexity(), oracle.mean_complexity(), 2)}
            {plain("Largest", style.complexity_most.to_string())}
            {plain("Halstead volume", format::thousands(style.volume.round() as u64))}
            {plain("Lines of source", format::thousands(style.sloc))}
            {plain("Comments per line", number(style.comment_ratio(), 3))}
            {plain("Changed lines", changed)}
        </tr>
    }
}

/// A number, and its difference from the oracle's if there is one to compare with.
#[component]
fn Number(
    label: &'static str,
    own: Option<f64>,
    oracle: Option<f64>,
    places: usize,
) -> impl IntoView {
    let difference = own.zip(oracle).map(|(own, oracle)| {
        let text = format::signed(own - oracle, places);
        view! { " "<span class="quiet style-difference">{text}</span> }
    });
    view! { <td role="cell" data-label=label>{number(own, places)}{difference}</td> }
}

const EROSION_COLUMNS: [&str; 1 + ErosionFigure::ALL.len()] = {
    let mut columns = ["Code"; 1 + ErosionFigure::ALL.len()];
    let mut number = 0;
    while number < ErosionFigure::ALL.len() {
        columns[number + 1] = ErosionFigure::ALL[number].title();
        number += 1;
    }
    columns
};

/// The erosion of each version, beside the oracle's.
#[component]
pub(super) fn ErosionVersions(style: EvolutionStyle) -> impl IntoView {
    let oracle = style.version(CodeVersion::Oracle);
    let oracle = oracle.map(|found| found.erosion).unwrap_or_default();
    let row = move |version: VersionStyle| view! { <ErosionRow version oracle/> };
    view! {
        <ListTable caption="Erosion of each version" columns=&EROSION_COLUMNS class="erosion-versions" scrolls="Erosion of each version">
            {style.versions.into_iter().map(row).collect_any()}
        </ListTable>
    }
}

#[component]
fn ErosionRow(version: VersionStyle, oracle: Erosion) -> impl IntoView {
    let beside = version.version != CodeVersion::Oracle;
    let erosion = version.erosion;
    let cells = ErosionFigure::ALL.map(|figure| {
        let oracle = oracle.of(figure).filter(|_| beside);
        view! { <Number label=figure.title() own=erosion.of(figure) oracle places=figure.places()/> }
    });
    let problems = (!version.problems.is_empty()).then(|| {
        view! { <span class="quiet style-problem">{version.problems.join("; ")}</span> }
    });
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{named(version.version)}{problems}</th>
            {cells.into_iter().collect_any()}
        </tr>
    }
}

fn problems(style: &CodeStyle) -> Option<impl IntoView + use<>> {
    let files = format::count(style.files, "file");
    let unparsed = format!("{} of {files} cannot be parsed", style.unparsed);
    let unparsed = (style.unparsed > 0).then_some(unparsed);
    let problems: Vec<String> = unparsed.into_iter().chain(style.problem.clone()).collect();
    (!problems.is_empty())
        .then(|| view! { <span class="quiet style-problem">{problems.join("; ")}</span> })
}

pub(super) fn named(version: CodeVersion) -> String {
    match version {
        CodeVersion::Base => "Base".to_owned(),
        CodeVersion::Oracle => "Oracle".to_owned(),
        CodeVersion::Iteration(n) => format!("Iteration {n}"),
    }
}

pub(super) fn number(value: Option<f64>, places: usize) -> String {
    format::or_dash(value.map(|value| format::decimals(value, places)))
}

const FILE_COLUMNS: [&str; 5] = [
    "File",
    "MI, oracle's, difference",
    "Pylint messages, oracle's",
    "Changed lines, oracle's",
    "Note",
];

#[component]
pub(super) fn Files(files: Vec<FileBeside>, more: u32) -> impl IntoView {
    let more = (more > 0).then(|| {
        let text = format!("And {}, which lost less.", format::count(more, "more file"));
        view! { <p class="quiet">{text}</p> }
    });
    view! {
        <ListTable caption="Files that differ from the oracle's" columns=&FILE_COLUMNS>
            {files.into_iter().map(|file| view! { <FileRow file/> }).collect_any()}
        </ListTable>
        {more}
    }
}

#[component]
fn FileRow(file: FileBeside) -> impl IntoView {
    let mi = |file: &Option<FileStyle>| Some(file.as_ref()?.radon?.mi);
    let messages = |file: &Option<FileStyle>| {
        let counts = file.as_ref().and_then(|file| file.pylint);
        format::or_dash(counts.map(|counts| counts.messages().to_string()))
    };
    let lost = file.mi_lost().map(|lost| format::signed(-lost, 2));
    let lost = lost.map(|lost| format!(" ({lost})"));
    let note = note(&file);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><code>{file.path.clone()}</code></th>
            <td role="cell" data-label=FILE_COLUMNS[1]>
                {number(mi(&file.own), 2)}", "{number(mi(&file.oracle), 2)}{lost}
            </td>
            <td role="cell" data-label=FILE_COLUMNS[2]>{messages(&file.own)}", "{messages(&file.oracle)}</td>
            <td role="cell" data-label=FILE_COLUMNS[3]>{changed(file.own_lines)}", "{changed(file.oracle_lines)}</td>
            <td role="cell" data-label=FILE_COLUMNS[4]>{note}</td>
        </tr>
    }
}

/// Empty where the file is the base's.
fn changed(file: Option<FileLines>) -> String {
    format::or_dash(file.map(|file| format::added_deleted(file.added, file.deleted)))
}

fn note(file: &FileBeside) -> String {
    let problem = |file: &Option<FileStyle>| file.as_ref()?.problem.clone();
    match (&file.own, &file.oracle) {
        (Some(_), None) => "Not in the oracle.".to_owned(),
        (None, Some(_)) => "Only in the oracle.".to_owned(),
        (own, oracle) => match (problem(own), problem(oracle)) {
            (Some(own), _) => format!("It cannot be parsed: {own}"),
            (None, Some(oracle)) => format!("The oracle's cannot be parsed: {oracle}"),
            (None, None) => String::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_signs() {
        let check = |value, expect: &str| assert_eq!(format::signed(value, 2), expect);
        check(1.234, "+1.23");
        check(-1.234, "\u{2212}1.23");
        check(0.001, "0.00");
        check(-0.001, "0.00");
    }
}
