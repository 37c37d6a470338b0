//! What an iteration changed in the code, file by file.

use leptos::either::EitherOf3;
use leptos::prelude::*;
use swe_ci_core::diff::{Body, Diff, FileChange, FileDiff};
use swe_ci_core::inspection::CodeChange;

use crate::components::Tag;
use crate::format;

/// Files unfold by themselves when all of them together are this short. Those
/// that are gone do not: that they are says it.
const FEW_LINES: u32 = 80;

#[component]
pub(in crate::pages) fn ChangedCode(
    code: CodeChange,
    evolution_id: String,
    iteration: u32,
) -> impl IntoView {
    match code {
        CodeChange::NotRecorded => EitherOf3::A(view! {
            <p class="quiet">"Not known: only its results were imported, the code it wrote did not come with them."</p>
        }),
        CodeChange::Unreadable(why) => EitherOf3::B(view! { <p class="note">{why}</p> }),
        CodeChange::Known(diff) => EitherOf3::C(view! { <Changes diff evolution_id iteration/> }),
    }
}

#[component]
fn Changes(diff: Diff, evolution_id: String, iteration: u32) -> impl IntoView {
    let whole = format!("/api/v1/evolutions/{evolution_id}/iterations/{iteration}/diff");
    let link = if diff.is_cut() {
        "The whole of it as text"
    } else {
        "As text"
    };
    let link = (diff.changed() > 0).then(|| view! { <a href=whole rel="external">{link}</a> });
    let (added, removed) = diff.lines();
    let open = added.saturating_add(removed) <= FEW_LINES;
    let more = (diff.more_files > 0).then(|| {
        let files = format::count(diff.more_files, "more file");
        view! { <p class="quiet">{format!("And {files}, which are not listed here.")}</p> }
    });
    let summary = summary(&diff);
    let files = diff
        .files
        .into_iter()
        .map(|file| view! { <File file open/> });
    view! {
        <p class="quiet">{summary}" "{link}</p>
        <div class="diff-files">{files.collect_view()}</div>
        {more}
    }
}

/// "3 files changed since iteration 2: 12 lines added, 4 removed."
fn summary(diff: &Diff) -> String {
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
fn File(file: FileDiff, open: bool) -> impl IntoView {
    let FileDiff {
        path,
        change,
        added,
        removed,
        body,
    } = file;
    let counts = matches!(body, Body::Text(_) | Body::LeftOut).then(|| {
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
    let body = match body {
        Body::Text(hunks) if hunks.is_empty() => says("The file is empty."),
        Body::Text(hunks) => {
            view! { <pre class="diff" tabindex="0">{lines(&hunks)}</pre> }.into_any()
        }
        Body::Binary => says("It is not text, so there is nothing to show line by line."),
        Body::TooLong => says("It is too long to be compared line by line."),
        Body::Mode => says("Only whether it can be executed was changed."),
        Body::LeftOut => says("There is no room for it here; the whole diff has it."),
    };
    view! {
        <details class="diff-file" open=open && change != FileChange::Removed>
            <summary>
                <code class="diff-path">{path}</code>
                <Tag text=change.name().to_owned()/>
                {counts}
            </summary>
            {body}
        </details>
    }
}

fn says(what: &'static str) -> AnyView {
    view! { <p class="quiet">{what}</p> }.into_any()
}

/// The lines of hunks, those of a kind together. Their first character says
/// which they are, so that colour is not the only sign.
fn lines(hunks: &str) -> impl IntoView + use<> {
    let part = |(kind, text): (Line, String)| match kind {
        Line::Added => view! { <ins>{text}</ins> }.into_any(),
        Line::Removed => view! { <del>{text}</del> }.into_any(),
        Line::Head => view! { <span class="diff-hunk">{text}</span> }.into_any(),
        Line::Same => view! { <span>{text}</span> }.into_any(),
    };
    parts(hunks).into_iter().map(part).collect_view()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Added,
    Removed,
    Head,
    Same,
}

fn parts(hunks: &str) -> Vec<(Line, String)> {
    let mut parts: Vec<(Line, String)> = Vec::new();
    for line in hunks.lines() {
        let kind = match line.chars().next() {
            Some('+') => Line::Added,
            Some('-') => Line::Removed,
            Some('@') => Line::Head,
            _ => Line::Same,
        };
        match parts.last_mut().filter(|(last, _)| *last == kind) {
            Some((_, text)) => {
                text.push('\n');
                text.push_str(line);
            }
            None => parts.push((kind, line.to_owned())),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_kind_stand_together() {
        let hunks = "@@ -1,3 +1,3 @@\n a\n-b\n-c\n+d\n+@e\n \n\\ No newline at end of file\n";
        let expect = [
            (Line::Head, "@@ -1,3 +1,3 @@"),
            (Line::Same, " a"),
            (Line::Removed, "-b\n-c"),
            (Line::Added, "+d\n+@e"),
            (Line::Same, " \n\\ No newline at end of file"),
        ];
        assert_eq!(parts(hunks), expect.map(|(kind, text)| (kind, text.into())));
        assert_eq!(parts(""), []);
    }

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
        });
        assert_eq!(
            summary(&diff),
            "3 files changed since iteration 2, the last code that was scored: 1 line added, 0 removed."
        );
    }
}
