//! The latest lines of the steps' output.

use std::collections::VecDeque;

use leptos::prelude::*;
use swe_ci_core::step::Role;

/// How many lines the page keeps.
const TAIL: usize = 200;

#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    lines: VecDeque<Line>,
    /// Counts all lines, to give each a number of its own.
    seen: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    number: u64,
    pub task: String,
    pub role: Role,
    pub text: String,
}

impl Tail {
    pub(super) fn push(&mut self, task: String, role: Role, text: String) {
        if self.lines.len() == TAIL {
            self.lines.pop_front();
        }
        self.seen += 1;
        self.lines.push_back(Line {
            number: self.seen,
            task,
            role,
            text,
        });
    }
}

#[component]
pub(super) fn LogTail(tail: RwSignal<Tail>) -> impl IntoView {
    let empty = Memo::new(move |_| tail.with(|tail| tail.lines.is_empty()));
    view! {
        <section class="log" aria-labelledby="log-title">
            <h2 id="log-title">"Log"</h2>
            <p class="quiet" hidden=move || !empty.get()>
                "The last 200 lines of the steps' output will appear here."
            </p>
            // Focusable, so that a keyboard can scroll it.
            <div class="log-frame" tabindex="0" role="log" aria-labelledby="log-title" hidden=move || empty.get()>
                <ol>
                    <For each=move || tail.get().lines key=|line| line.number let(line)>
                        <li>
                            <span class="log-task">{line.task}</span>
                            <span class="log-role">{line.role.name()}</span>
                            <span class="log-text">{line.text}</span>
                        </li>
                    </For>
                </ol>
            </div>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let mut tail = Tail::default();
        for i in 0..500 {
            tail.push("t".into(), Role::Test, i.to_string());
        }
        assert_eq!(tail.lines.len(), TAIL);
        assert_eq!(tail.lines.front().map(|l| l.text.as_str()), Some("300"));
        assert_eq!(tail.lines.back().map(|l| l.number), Some(500));
    }
}
