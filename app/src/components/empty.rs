use leptos::prelude::*;

/// What will appear here, and the command that produces it.
#[component]
pub fn Empty(
    #[prop(into)] title: String,
    /// The commands, one per line.
    #[prop(optional, into)]
    command: String,
    children: Children,
) -> impl IntoView {
    view! {
        <section class="empty">
            <svg class="empty-picture" viewBox="0 0 120 48" aria-hidden="true">
                <path class="empty-goal" d="M8 8H112"/>
                <path class="empty-line" d="M8 40L30 33L52 35L74 22L96 17L112 9"/>
                <circle cx="8" cy="40" r="3"/>
                <circle cx="112" cy="9" r="3"/>
            </svg>
            <h2>{title}</h2>
            <div class="empty-text">{children()}</div>
            {(!command.is_empty()).then(|| view! { <pre class="command" tabindex="0"><code>{command}</code></pre> })}
        </section>
    }
}

/// Without any dataset: how to get tasks, and how to run them.
#[component]
pub fn NoTasks(
    /// What the page will show.
    will: &'static str,
) -> impl IntoView {
    view! {
        <Empty title="No tasks yet" command="swe-ci dataset demo\nswe-ci run submit --human --split demo">
            <p>
                {will}
                " The first command creates four small tasks from the release histories of real packages. The second replays the maintainers' changes: the human baseline."
            </p>
        </Empty>
    }
}

/// For a split without scored runs.
#[component]
pub fn NoRuns(
    split: String,
    /// What the page will show, and when.
    will: &'static str,
) -> impl IntoView {
    view! {
        <Empty
            title=format!("No results on {split} yet")
            command=format!("swe-ci run submit --human --split {split}")
        >
            <p>
                {will}
                " This command replays the real history of every task through the same loop and grading: the human baseline. "
                <a href="/runs">"See what is running"</a>
            </p>
        </Empty>
    }
}
