use leptos::prelude::*;
use swe_ci_views::style::{FileBeside, FileLines, FileStyle};

use super::versions::number;
use crate::components::ListTable;
use crate::format;

const COLUMNS: [&str; 5] = [
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
        <ListTable caption="Files that differ from the oracle's" columns=&COLUMNS>
            {files.into_iter().map(|file| view! { <Row file/> }).collect_view()}
        </ListTable>
        {more}
    }
}

#[component]
fn Row(file: FileBeside) -> impl IntoView {
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
            <td role="cell" data-label=COLUMNS[1]>
                {number(mi(&file.own), 2)}", "{number(mi(&file.oracle), 2)}{lost}
            </td>
            <td role="cell" data-label=COLUMNS[2]>{messages(&file.own)}", "{messages(&file.oracle)}</td>
            <td role="cell" data-label=COLUMNS[3]>{changed(file.own_lines)}", "{changed(file.oracle_lines)}</td>
            <td role="cell" data-label=COLUMNS[4]>{note}</td>
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
