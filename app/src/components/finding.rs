use leptos::prelude::*;
use swe_ci_core::finding::Grade;

use super::Tag;
use crate::labels;

/// The grade of a finding, and what follows from it.
#[component]
pub fn GradeTag(grade: Grade) -> impl IntoView {
    let (hint, tone) = labels::grade(grade);
    view! { <Tag text=grade.name().to_owned() tone hint/> }
}
