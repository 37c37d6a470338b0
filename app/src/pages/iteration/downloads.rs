//! Downloads of the files of an iteration.

use leptos::prelude::*;
use swe_ci_views::inspection::KeptFiles;

/// Empty when no files were stored.
#[component]
pub(in crate::pages) fn Downloads(
    files: KeptFiles,
    evolution_id: String,
    iteration: u32,
) -> impl IntoView {
    let KeptFiles {
        code,
        report,
        document,
    } = files;
    let link = |there: bool, file: &'static str, name: &'static str| {
        let href = format!("/api/v1/evolutions/{evolution_id}/iterations/{iteration}/{file}");
        there.then(|| view! { <li><a href=href rel="external" download="">{name}</a></li> })
    };
    (code || report || document).then(|| {
        view! {
            <ul class="downloads" aria-label="Downloads">
                {link(document, "requirement.xml", "Requirement document")}
                {link(code, "code.tar.gz", "Code")}
                {link(report, "report.json", "Test report")}
            </ul>
        }
    })
}
