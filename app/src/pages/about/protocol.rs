//! How an agent works on a task, and which failures do not count against it.

use leptos::prelude::*;

pub(super) fn protocol() -> AnyView {
    view! {
        <p>
            "A "<dfn>"task"</dfn>" is a repository at two points of its history: the "<dfn>"base"</dfn>", from which an agent starts, and the "<dfn>"target"</dfn>", whose tests define the goal. The tests that pass on the target but not on the current code are the "<dfn>"gap"</dfn>"."
        </p>
        <p>"An "<dfn>"evolution"</dfn>" goes through at most 20 iterations (a run may set another limit). Each has three steps:"</p>
        <ol>
            <li><strong>"Architect."</strong>" Reads the code and the failing tests of the gap, and writes one to five requirements. It does not say how to implement them."</li>
            <li><strong>"Programmer."</strong>" Reads the code with its tests and the requirements, but not which tests fail, and changes the code. Neither role may run the tests."</li>
            <li><strong>"Test."</strong>" The target's tests replace those in the code, whatever the agent did to them, and run."</li>
        </ol>
        <p>
            "An evolution ends when every target test passes, when all iterations are used, or when the agent gives up. Code that no longer runs (pytest cannot finish or report) has "<em>"collapsed"</em>": no test passes, and the next iteration starts from the last code that ran."
        </p>
    }
    .into_any()
}

pub(super) fn fairness() -> AnyView {
    view! {
        <p>
            "The worker retries a step that fails because of the platform or the model's provider (a container that cannot start, a full disk, an endpoint that does not respond). If it keeps failing, the task is "<em>"blocked"</em>" and left out of the score, and the row says so. It never becomes a 0. Nor does a task that was running, or had not started, when the run's budget was spent. An agent's time limit excludes the time it waits for its provider."
        </p>
        <p>
            "Agents and tests run in fresh containers without a network. An agent can only reach its model, through a gateway that holds the key. The tests come from the target each time; if an agent changed the test configuration, the iteration has an integrity finding. Every run records everything needed to repeat it: dataset and image digests, harness version, prompts, endpoint, limits, platform version. The transcript of each step can be downloaded."
        </p>
    }
    .into_any()
}
