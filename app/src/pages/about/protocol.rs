//! How an agent is put to work, and what it is not blamed for.

use leptos::prelude::*;

use super::{FAIRNESS, PROTOCOL, Section};

#[component]
pub(super) fn Protocol() -> impl IntoView {
    view! {
        <Section place=PROTOCOL>
            <p>
                "A "<dfn>"task"</dfn>" is a repository at two moments of its history: the "<dfn>"base"</dfn>", where an agent starts, and the "<dfn>"target"</dfn>", whose tests say where it should arrive. Tests the target passes and the present code does not are the "<dfn>"gap"</dfn>"."
            </p>
            <p>"An "<dfn>"evolution"</dfn>" goes through at most 20 iterations (a run may set another limit). Each has three steps:"</p>
            <ol>
                <li><strong>"Architect."</strong>" Looks at the code and at the failing tests of the gap, and writes one to five requirements. It does not say how to code them."</li>
                <li><strong>"Programmer."</strong>" Sees the code with its tests and the requirements, but not which tests fail, and changes the code. Neither may run the tests."</li>
                <li><strong>"Test."</strong>" The target's tests are put in place, whatever the agent did to them, and run on the code."</li>
            </ol>
            <p>
                "An evolution ends when every target test passes, when the iterations are used up, or when the agent gives up. Code that no longer runs (pytest cannot finish or report) has "<em>"collapsed"</em>": no test passes, and the next iteration starts from the last code that ran."
            </p>
        </Section>
    }
}

#[component]
pub(super) fn Fairness() -> impl IntoView {
    view! {
        <Section place=FAIRNESS>
            <p>
                "A step that fails because of the platform or the model's provider (a container that cannot start, a full disk, an endpoint that does not answer) is tried again. If it keeps failing, the task is "<em>"blocked"</em>" and left out of the score, and the row says so. It never becomes a 0. Nor does a task that was at work, or not begun, when the run's budget was spent. Time an agent is kept waiting by its provider is taken off its clock."
            </p>
            <p>
                "Agents and tests run in fresh containers without a network; what an agent can reach is its model, through a gateway that keeps the key to itself. Tests come from the target each time; where an agent changed how tests are configured, the iteration carries an integrity finding. Every run records what is needed to repeat it: dataset and image digests, harness version, prompts, endpoint, limits, platform version. What was said between agent and model can be downloaded, step by step."
            </p>
        </Section>
    }
}
