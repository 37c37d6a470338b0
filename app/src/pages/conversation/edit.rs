//! Calls that write files: the path first, then what they change. Agent programs
//! name their arguments each in their own way.

use std::time::Duration;

use leptos::prelude::*;
use similar::{ChangeTag, TextDiff};
use swe_ci_core::text::visible;
use swe_ci_views::conversation::{Argument, Text, hits};

use super::text::{SHOWN_LINES, left_out, marked};
use crate::components::CollectAny;
use crate::format;
use crate::pages::routes::file_href;

/// The page of the iteration of the programmer whose transcript this is.
#[derive(Debug, Clone)]
pub(super) struct IterationPage(pub String);

const PATHS: [&str; 3] = ["path", "file_path", "filePath"];
const BEFORE: [&str; 4] = ["old", "old_string", "oldString", "old_str"];
const AFTER: [&str; 6] = [
    "new",
    "new_string",
    "newString",
    "new_str",
    "content",
    "file_text",
];

/// Comparing two texts of a page takes no longer.
const TIMEOUT: Duration = Duration::from_millis(50);

/// A call that writes a file, or replaces a passage of one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edit {
    path: String,
    before: Text,
    after: Text,
    /// Its other arguments.
    pub others: Vec<Argument>,
}

impl Edit {
    /// None for calls that do something else.
    pub(super) fn of(arguments: &[Argument]) -> Option<Self> {
        let mut others = arguments.to_vec();
        let mut take = |names: &[&str]| {
            let at = others
                .iter()
                .position(|a| names.contains(&a.name.as_str()))?;
            Some(others.remove(at).value)
        };
        let path = take(&PATHS)?.text;
        let after = take(&AFTER)?;
        let before = take(&BEFORE).unwrap_or_default();
        Some(Self {
            path,
            before,
            after,
            others,
        })
    }

    /// The path in the code of a file that is written as a whole: the call has no
    /// earlier text to compare with.
    fn whole_file(&self) -> Option<&str> {
        let path = self.path.trim_start_matches("./");
        let path = path.strip_prefix("/app/code/").unwrap_or(path);
        let is_inside =
            !path.is_empty() && !path.starts_with('/') && path.split('/').all(|part| part != "..");
        (is_inside && self.before.text.is_empty()).then_some(path)
    }

    /// Adjacent lines of one kind, each with its sign.
    fn lines(&self) -> Vec<(ChangeTag, String)> {
        let [before, after] = [&self.before, &self.after].map(|text| visible(&text.text));
        let mut config = TextDiff::configure();
        let diff = config
            .timeout(TIMEOUT)
            .diff_lines(before.as_ref(), after.as_ref());
        let mut lines: Vec<(ChangeTag, String)> = Vec::new();
        for change in diff.iter_all_changes() {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let line = format!("{sign}{}\n", change.value().trim_end_matches('\n'));
            match lines.last_mut() {
                Some((tag, text)) if *tag == change.tag() => text.push_str(&line),
                _ => lines.push((change.tag(), line)),
            }
        }
        lines
    }
}

/// The path, and the changed lines; many of them are folded.
#[component]
pub(super) fn EditView(edit: Edit, q: StoredValue<String>) -> impl IntoView {
    let path = visible(&format::clip(&edit.path, 300)).into_owned();
    let lines = edit.lines();
    let page = use_context::<IterationPage>();
    let change = page.zip(edit.whole_file()).map(|(IterationPage(page), path)| {
        let href = page + &file_href(path);
        view! { <p class="quiet"><a href=href>"What the iteration changed in this file"</a></p> }
    });
    let count: usize = lines.iter().map(|(_, text)| text.lines().count()).sum();
    let hit = q.with_value(|q| lines.iter().any(|(_, text)| hits(text, q).next().is_some()));
    let lines = lines.into_iter().map(|(tag, text)| {
        let hidden = |what: &'static str| view! { <span class="visually-hidden">{what}</span> };
        let text = marked(&text, q);
        match tag {
            ChangeTag::Insert => view! { <ins>{hidden("Added: ")}{text}</ins> }.into_any(),
            ChangeTag::Delete => view! { <del>{hidden("Removed: ")}{text}</del> }.into_any(),
            ChangeTag::Equal => view! { <span>{text}</span> }.into_any(),
        }
    });
    let lines = lines.collect_any();
    let cut = edit.before.after + edit.after.after;
    let words = format::count(count, "line");
    view! {
        <details class="edit" open=hit || count <= SHOWN_LINES>
            <summary><code class="edit-path">{marked(&path, q)}</code>" "<small class="quiet">{words}</small></summary>
            <div class="edit-lines">{lines}</div>
        </details>
        {change}
        {left_out(cut, "after")}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(pairs: &[(&str, &str)]) -> Vec<Argument> {
        let argument = |(name, value): &(&str, &str)| Argument {
            name: (*name).to_owned(),
            value: (*value).to_owned().into(),
        };
        pairs.iter().map(argument).collect()
    }

    #[test]
    fn only_calls_that_write_are_edits() {
        let is = |pairs: &[(&str, &str)]| Edit::of(&arguments(pairs)).is_some();
        assert!(is(&[("path", "a.py"), ("content", "x")]));
        assert!(is(&[
            ("file_path", "a"),
            ("old_string", "x"),
            ("new_string", "y")
        ]));
        assert!(!is(&[("command", "ls"), ("path", "a")]));
        assert!(!is(&[("content", "x")]));
    }

    #[test]
    fn files_written_as_a_whole_have_a_place_in_the_code() {
        let check = |pairs: &[(&str, &str)], expect| {
            let edit = Edit::of(&arguments(pairs)).unwrap();
            assert_eq!(edit.whole_file(), expect);
        };
        check(
            &[("path", "/app/code/a/b.py"), ("content", "x")],
            Some("a/b.py"),
        );
        check(&[("path", "./b.py"), ("content", "x")], Some("b.py"));
        check(&[("path", "/tmp/b.py"), ("content", "x")], None);
        check(&[("path", "../b.py"), ("content", "x")], None);
        check(&[("path", "b.py"), ("old", "x"), ("new", "y")], None);
    }

    #[test]
    fn lines_that_stay_are_no_change() {
        let edit = Edit::of(&arguments(&[
            ("filePath", "a.py"),
            ("oldString", "a\nb\nc\n"),
            ("newString", "a\nB\nc\n"),
            ("replaceAll", "true"),
        ]));
        let edit = edit.unwrap();
        assert_eq!(edit.others.len(), 1);
        let lines = edit.lines();
        let seen: Vec<(ChangeTag, &str)> =
            lines.iter().map(|(tag, text)| (*tag, &**text)).collect();
        assert_eq!(
            seen,
            [
                (ChangeTag::Equal, " a\n"),
                (ChangeTag::Delete, "-b\n"),
                (ChangeTag::Insert, "+B\n"),
                (ChangeTag::Equal, " c\n"),
            ]
        );
    }
}
