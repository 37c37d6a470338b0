//! The changes of an iteration to the code, file by file.

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use swe_ci_core::diff::{Body, Diff, FileChange, FileDiff, Hunk, hunks};
use swe_ci_core::text::visible;
use swe_ci_views::failures::Cause;
use swe_ci_views::inspection::CodeChange;

use super::hunks::{SideBySide, Unified};
use crate::components::CollectAny;
use crate::components::{Choice, Choices, Tag};
use crate::format;
use crate::pages::routes::file_id;

/// Files start unfolded when all of them together are this short, or else the first.
/// Deleted files do not: their heading says enough.
const FEW_LINES: u32 = 80;

/// Unified or side by side; the address contains the choice.
#[derive(Debug, Clone, Copy)]
pub(in crate::pages) struct Layout {
    /// Whether the layout is side by side.
    pub split: Signal<bool>,
    /// The page in the given layout.
    pub href: Callback<bool, String>,
}

#[component]
pub(in crate::pages) fn ChangedCode(
    code: CodeChange,
    /// The file that lost tests point to.
    cause: Option<Cause>,
    evolution_id: String,
    iteration: u32,
    layout: Layout,
) -> impl IntoView {
    match code {
        CodeChange::NotRecorded => EitherOf3::A(view! {
            <p class="quiet">"Unknown: the imported results came without the code."</p>
        }),
        CodeChange::Unreadable(why) => EitherOf3::B(view! { <p class="note">{why}</p> }),
        CodeChange::Known(diff) => {
            EitherOf3::C(view! { <Changes diff cause evolution_id iteration layout/> })
        }
    }
}

#[component]
fn Changes(
    diff: Diff,
    cause: Option<Cause>,
    evolution_id: String,
    iteration: u32,
    layout: Layout,
) -> impl IntoView {
    let whole = format!("/api/v1/evolutions/{evolution_id}/iterations/{iteration}/diff");
    let beyond = StoredValue::new(whole.clone());
    let link = match diff.is_cut() {
        true => "The whole of it as text",
        false => "As text",
    };
    let link = (diff.changed() > 0).then(|| view! { <a href=whole>{link}</a> });
    let summary = summary(&diff);
    view! {
        <p class="quiet">{summary}" "{link}</p>
        <ChangedFiles diff cause beyond layout/>
    }
}

#[component]
fn LayoutChoice(layout: Layout) -> impl IntoView {
    let Layout { split, href } = layout;
    let choice = |label, hint, wanted| {
        let chosen = move || split.get() == wanted;
        Choice::new(label, hint, move || href.run(wanted), chosen)
    };
    let beside = "Before on the left, after on the right";
    let choices = vec![
        choice("Unified", "Removed lines above added ones", false),
        choice("Side by side", beside, true),
    ];
    let narrow = move || {
        split.get().then(|| {
            view! { <p class="quiet diff-narrow">"Side by side is wider than this window: each file scrolls sideways."</p> }
        })
    };
    view! {
        <div class="controls controls-plain"><Choices label="Changes" choices/></div>
        {narrow}
    }
}

/// The files of a diff, each of which unfolds. The cause comes first, and alone
/// is unfolded.
#[component]
pub(in crate::pages) fn ChangedFiles(
    mut diff: Diff,
    #[prop(default = None)] cause: Option<Cause>,
    /// The address of the whole diff, for parts that are too long to show.
    beyond: StoredValue<String>,
    layout: Layout,
) -> impl IntoView {
    let (added, removed) = diff.lines();
    let few = cause.is_none() && added.saturating_add(removed) <= FEW_LINES;
    if let Some(cause) = cause.filter(|cause| cause.file < diff.files.len()) {
        let file = diff.files.remove(cause.file);
        diff.files.insert(0, file);
    }
    let more = (diff.more_files > 0).then(|| {
        let files = format::count(diff.more_files, "more file");
        view! { <p class="quiet">{format!("And {files} that are not listed here.")}</p> }
    });
    let lines = |file: &FileDiff| matches!(&file.body, Body::Text(text) if !text.is_empty());
    let choice = diff.files.iter().any(lines);
    let choice = choice.then(|| view! { <LayoutChoice layout/> });
    let files = diff.files.into_iter().enumerate().map(|(place, file)| {
        let first = place == 0;
        let cause = cause.filter(|_| first);
        view! { <File file open=few || first cause layout beyond/> }
    });
    view! {
        {choice}
        <div class="diff-files">{files.collect_any()}</div>
        {more}
    }
}

/// "3 files changed since iteration 2: 12 lines added, 4 removed."
pub(in crate::pages) fn summary(diff: &Diff) -> String {
    let since = match diff.from {
        0 => "the base".to_owned(),
        n => format!("iteration {n}, the last code that was scored"),
    };
    let (added, removed) = diff.lines();
    match diff.changed() {
        0 => format!("Nothing was changed since {since}."),
        files => format!(
            "{} changed since {since}: {} added, {} removed.",
            format::count(files, "file"),
            format::count(added, "line"),
            format::thousands(removed)
        ),
    }
}

#[component]
fn File(
    file: FileDiff,
    open: bool,
    cause: Option<Cause>,
    layout: Layout,
    beyond: StoredValue<String>,
) -> impl IntoView {
    let (path, added, removed) = (named(&file.path), file.added, file.removed);
    // Within the details, so that a browser opens them for a link to it.
    let id = file_id(&file.path);
    let behind = cause.map(|cause| {
        let tests = format::count(cause.tests, "lost test");
        let hint = "The errors of these tests name this file, or what it changes";
        view! { <span class="quiet" title=hint>{format!("behind {tests}, going by their errors")}</span> }
    });
    let counts = matches!(file.body, Body::Text(_) | Body::LeftOut).then(|| {
        let words = format!("{added} added, {removed} removed");
        let (added, removed) = (format!("+{added}"), format!("\u{2212}{removed}"));
        view! {
            <span class="visually-hidden">{words}</span>
            <span class="diff-counts" aria-hidden="true">
                <span class="good">{added}</span>
                " "
                <span class="bad">{removed}</span>
            </span>
        }
    });
    let body = match file.body {
        Body::Text(text) if text.is_empty() => says("The file is empty."),
        Body::Text(text) => {
            let mut hunks = hunks(&text, &file.words, &file.tokens);
            let telling = cause.and_then(|cause| cause.hunk);
            let others = match telling.filter(|hunk| *hunk < hunks.len()) {
                Some(hunk) => {
                    let telling = hunks.remove(hunk);
                    std::mem::replace(&mut hunks, vec![telling])
                }
                None => Vec::new(),
            };
            let others = (!others.is_empty()).then(|| {
                let more = format::count(others.len(), "more changed place");
                let label = format!("Other changes of {path}");
                view! {
                    <details class="diff-others">
                        <summary>{more}</summary>
                        <Lines hunks=others label layout/>
                    </details>
                }
            });
            let label = format!("Changes of {path}");
            view! { <Lines hunks label layout/>{others} }.into_any()
        }
        Body::Binary => says("It is not text, so there is nothing to show line by line."),
        Body::TooLong => says("It is too long for a comparison line by line."),
        Body::Mode => says("Only its executable flag changed."),
        Body::LeftOut => view! {
            <p class="quiet">
                "It is too long to show here: "
                <a href=beyond.get_value()>"the whole diff"</a>
                " has it."
            </p>
        }
        .into_any(),
    };
    view! {
        <details class="diff-file" open=open && file.change != FileChange::Removed>
            <summary>
                <code class="diff-path">{path}</code>
                <Tag text=file.change.name().to_owned()/>
                {behind}
                {counts}
            </summary>
            <div id=id class="diff-body">{body}</div>
        </details>
    }
}

#[component]
fn Lines(hunks: Vec<Hunk>, label: String, layout: Layout) -> impl IntoView {
    let (hunks, label) = (StoredValue::new(hunks), StoredValue::new(label));
    move || {
        let (hunks, label) = (hunks.get_value(), label.get_value());
        match layout.split.get() {
            true => Either::Left(view! { <SideBySide hunks label/> }),
            false => Either::Right(view! { <Unified hunks label/> }),
        }
    }
}

/// The name of a file on one line, without control or bidirectional characters.
fn named(path: &str) -> String {
    visible(path).replace('\n', "␊").replace('\t', "␉")
}

fn says(what: &'static str) -> AnyView {
    view! { <p class="quiet">{what}</p> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::diff::Words;

    #[test]
    fn in_words() {
        let mut diff = Diff::default();
        assert_eq!(summary(&diff), "Nothing was changed since the base.");
        diff.from = 2;
        diff.more_files = 2;
        diff.files.push(FileDiff {
            path: "a".into(),
            change: FileChange::Added,
            added: 1,
            removed: 0,
            body: Body::Binary,
            words: Words::new(),
            tokens: Vec::new(),
        });
        assert_eq!(
            summary(&diff),
            "3 files changed since iteration 2, the last code that was scored: 1 line added, 0 removed."
        );
    }
}
