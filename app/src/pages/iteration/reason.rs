//! Why tests were lost, in a sentence, and the iteration among the others.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::{SuiteCounts, Verdict};
use swe_ci_core::text::visible;
use swe_ci_views::failures::{Cause, Failures};
use swe_ci_views::inspection::CodeChange;
use swe_ci_views::view::IterationView as Tested;

use crate::components::{CollectAny, PassingBar};
use crate::pages::routes::file_href;
use crate::{format, labels};

/// The path of the file that lost tests point to.
pub(super) fn cause_path(cause: Option<Cause>, code: &CodeChange) -> Option<String> {
    match code {
        CodeChange::Known(diff) => Some(diff.files.get(cause?.file)?.path.clone()),
        _ => None,
    }
}

/// "45 of the 47 lost tests fail in more.py:312 chunked: TypeError". Empty where the
/// heading, or the note about a collapse, says all.
#[component]
pub(super) fn Reason(
    failures: Vec<Failures>,
    view: Tested,
    /// The file that lost tests point to.
    cause: Option<String>,
) -> impl IntoView {
    let lost = failures.iter().map(|group| group.tests.len()).sum();
    let group = failures.into_iter().next()?;
    let is_known = match &view.collapse {
        Some(why) => group.error != *why,
        None => group.example.is_some(),
    };
    if !is_known {
        return None;
    }
    let whose = match view.collapse {
        Some(_) => "Nothing runs. The first error is".to_owned(),
        None => whose(group.tests.len(), lost),
    };
    let place = group.frame.map(|frame| {
        let title = visible(&format!("{}:{}", frame.file, frame.line)).into_owned();
        let place = visible(&frame.place()).into_owned();
        let function =
            (!frame.function.is_empty()).then(|| format!(" {}", visible(&frame.function)));
        let place = match cause.as_ref().filter(|path| **path == frame.file) {
            Some(path) => {
                Either::Left(view! { <a href=file_href(path) title=title><code>{place}</code></a> })
            }
            None => Either::Right(view! { <code title=title>{place}</code> }),
        };
        view! { " in "{place}{function} }
    });
    let error = visible(&group.error).into_owned();
    Some(view! { <p class="lede">{whose}{place}": "<code>{error}</code></p> })
}

/// "45 of the 47 lost tests fail".
fn whose(tests: usize, lost: usize) -> String {
    let number = |n: usize| format::thousands(n as u64);
    match (tests, lost) {
        (1, 1) => "The lost test fails".to_owned(),
        (1, lost) => format!("1 of the {} lost tests fails", number(lost)),
        (all, lost) if all == lost => format!("All {} lost tests fail", number(lost)),
        (tests, lost) => format!("{} of the {} lost tests fail", number(tests), number(lost)),
    }
}

/// A column for each version of the code, with a link.
#[component]
pub(in crate::pages) fn Strip(
    /// The iteration of the page.
    number: u32,
    iterations: Vec<Tested>,
    suite: SuiteCounts,
    href: Callback<u32, String>,
    #[prop(default = "Passing tests by iteration".to_owned())] label: String,
) -> impl IntoView {
    let target = suite.target;
    let column = |passing: Option<u32>| {
        let number = format::or_dash(passing.map(format::thousands));
        view! { <span aria-hidden="true">{number}</span><PassingBar passing target/> }
    };
    let base = view! { <li>{column(Some(suite.base_in_target))}<span>"base"</span></li> };
    let later = iterations.iter().map(|iteration| {
        let n = iteration.iteration;
        let (sign, word, _) = labels::verdict(iteration, target);
        let passing = match iteration.verdict {
            Verdict::Scored { in_target, .. } => Some(in_target),
            Verdict::Collapsed { .. } => None,
        };
        let current = (n == number).then_some("page");
        let is_loss = iteration.verdict.lost() > 0;
        view! {
            <li data-loss=is_loss.then_some("")>
                <a href=move || href.run(n) aria-current=current>
                    {column(passing)}
                    <span><span aria-hidden="true">{sign}</span>" "{n}<span class="visually-hidden">{format!(": {word}")}</span></span>
                </a>
            </li>
        }
    });
    view! {
        <nav class="strip" aria-label=label>
            <ol>{base}{later.collect_any()}</ol>
            <p class="quiet">{format!("Passing tests. The target passes {}.", format::thousands(target))}</p>
        </nav>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_tests_in_words() {
        let check = |tests, lost, expect: &str| assert_eq!(whose(tests, lost), expect);
        check(1, 1, "The lost test fails");
        check(1, 4, "1 of the 4 lost tests fails");
        check(4, 4, "All 4 lost tests fail");
        check(45, 1_047, "45 of the 1047 lost tests fail");
    }
}
