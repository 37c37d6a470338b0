//! The sections that are mostly text.

use leptos::prelude::*;
use swe_ci_core::uncertainty::{RESAMPLES, SEED};

use crate::format;

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
            "Agents and tests run in fresh containers without a network. An agent can only reach its model, through a gateway that holds the key. The tests come from the target each time; what the platform notices about the way the tests came to their result becomes an integrity finding, and suspicious ones hold a run for review. Every run records everything needed to repeat it: dataset and image digests, harness version, prompts, endpoint, limits, platform version. The transcript of each step can be downloaded."
        </p>
    }
    .into_any()
}

pub(super) fn certainty() -> AnyView {
    let resamples = format::thousands(RESAMPLES as u64);
    view! {
        <p>
            "A score comes from a limited number of tasks; other tasks would have given a different one. The bracket beside a figure is its "<dfn>"95\u{a0}% interval"</dfn>": the range where the figure would mostly fall if the repositories were drawn again."
        </p>
        <ul>
            <li><strong>"Method. "</strong>"Tasks of one repository resemble each other, so we draw whole repositories, with replacement, as many as there are, "{resamples}" times; the interval holds the middle 95\u{a0}% of the means. The draws follow from a fixed seed ("{SEED}"), so everybody gets the same draws."</li>
            <li><strong>"The small figures beside a rank "</strong>"are the ranks of the row in 95\u{a0}% of those draws."</li>
            <li><strong>"Tied "</strong>"means that the data cannot tell the row from the next: a permutation test of their difference, task by task on their shared tasks, finds that it may be chance (p of 0.05 or more). The interval of a difference holds all values that this test does not reject, so it spans 0 exactly then. This is sharper than comparing brackets, because hard tasks are mostly hard for both."</li>
            <li><strong>"Limits. "</strong>"With fewer than about ten repositories the intervals of scores are too narrow. With fewer than six, a difference has none, and everything is tied. They do not apply to other kinds of repositories than those of the split."</li>
        </ul>
    }
    .into_any()
}

pub(super) fn limits() -> AnyView {
    view! {
        <ul>
            <li><strong>"Only tests count. "</strong>"Scores follow from tests alone: speed and safety matter only where a test covers them. "<a href="/figures#style-wins">"Code style"</a>" is measured by two programs where the code is stored, and affects no rank."</li>
            <li><strong>"Tasks are past work. "</strong>"A model may have read the target while it was trained. The leaderboard can count "<a href="/?seen=exclude">"unseen tasks only"</a>": those whose target is newer than the model. Without the dates, this cannot be determined."</li>
            <li><strong>"A row is one configuration. "</strong>"Model, harness, prompts and limits are measured together. Two rows of one model may differ only in the harness."</li>
            <li><strong>"Cost rests on a price table. "</strong>"Tokens are the provider's own count, which the gateway reads from the responses. Their cost follows from the prices recorded with the run at submission: it excludes discounts, and later prices do not change it. Imported results have no prices, and their tokens are those their program reported. No score depends on cost."</li>
            <li><strong>"Repositories are few and alike. "</strong>"They are Python packages whose suites run without a network. The results may not apply to your repositories; a split of your own says more."</li>
        </ul>
    }
    .into_any()
}

pub(super) fn human() -> AnyView {
    view! {
        <p>
            "Between base and target are the maintainers' real commits. The rows tagged “human” replay them, in at most as many chunks as an agent has iterations, through the same loop, containers and grading. They show how people who knew the code score on the benchmark: a yardstick, not a bound. The last chunk is the target itself, so a replayed evolution ends solved unless its tests are flaky."
        </p>
    }
    .into_any()
}

pub(super) fn elsewhere() -> AnyView {
    view! {
        <p>
            "Rows tagged “imported” come from another program and were reported by the person who ran it. They are scored here, by the same definitions, and ranked with the others, but this site has not run their tests. If the files say only how many tests passed and not which, the row is tagged “counts only” and has scores in the reference convention only."
        </p>
        <p>
            "The rows below the ranking are published figures: one number for each model, at γ = 1. Without the underlying results they cannot be ranked, and they apply to the tasks of their own split."
        </p>
    }
    .into_any()
}

const RUN: &str = "\
# my-model.toml
model = \"my-model\"
kind = \"measured\"
split = \"demo\"
harness = { name = \"builtin\" }
endpoint = { url = \"https://api.example.org/v1\", model = \"my-model-1\", key = \"my-key\" }
budget = { usd = 25.0 }";

const IMPORT: &str = "swe-ci import-results --from reference FOLDER --metadata CSV --model NAME";

pub(super) fn submitting() -> AnyView {
    view! {
        <p>"With an account you submit a run on "<a href="/runs/new">"New run"</a>", by the API, or on the command line of the machine that executes it. A configuration names the model, the split, the harness, the model's endpoint and the budget; the form reads it too:"</p>
        <pre class="command" tabindex="0"><code>{RUN}</code></pre>
        <pre class="command" tabindex="0"><code>"swe-ci run submit my-model.toml"</code></pre>
        <p>
            "The command prints the run's id. "<a href="/runs">"Runs"</a>" lists it at once, and its page shows every step. "
            <code>"swe-ci run submit --help"</code>" lists everything a file may contain, "
            <code>"swe-ci run submit --human --split demo"</code>" queues the human baseline."
        </p>
        <p>"Experiments run elsewhere can be imported from their files, which are validated as a whole before anything is written:"</p>
        <pre class="command" tabindex="0"><code>{IMPORT}</code></pre>
        <p>
            <code>"swe-ci score"</code>" evaluates such files and writes nothing. It needs neither a server nor a database. The "
            <a href="/api">"API"</a>" reads all public data; with an account's token it also submits and steers runs."
        </p>
    }
    .into_any()
}

pub(super) fn data() -> AnyView {
    view! {
        <p>"Programs can read everything the pages show. Every number is in the API, and every table is a file:"</p>
        <ul>
            <li><a href="/api/v1/leaderboard.csv" download="">"The leaderboard as CSV"</a>" or "<a href="/api/v1/leaderboard">"JSON"</a>", of the first split. The links beside the table give exactly the rows it shows."</li>
            <li><a href="/figures">"Each figure"</a>" as a picture, as data, and for embedding in another page."</li>
            <li><a href="/api/v1/runs">"Runs"</a>", "<a href="/api/v1/tasks">"tasks"</a>" and "<a href="/api/v1/splits">"splits"</a>" as JSON, with every iteration below."</li>
            <li><a href="/api/v1/published">"The published figures"</a>", with their source."</li>
            <li><a href="/api/v1/openapi.json">"The description of the API"</a>" (OpenAPI)."</li>
        </ul>
        <p>
            "New results appear in a "<a href="/feed.xml" type="application/atom+xml">"feed"</a>" (Atom): the latest fifty finished or imported runs, each with its score. "
            "“Cite this view” below the leaderboard gives the address, the date and the basis of the ranking, as text and as BibTeX, with the entry of the paper. A "<a href="/snapshots">"snapshot"</a>" keeps the numbers of a day for ever, under an address and a digest to cite."
        </p>
    }
    .into_any()
}

pub(super) fn licence() -> AnyView {
    view! {
        <p>"swe-ci is free software under the MIT licence or the Apache licence 2.0, whichever you choose. The code in the tasks belongs to its projects and stays under their licences. Rows tagged “imported” and published figures are the work of the people they name."</p>
    }
    .into_any()
}

// The formulas are MathML: real text, readable by screen readers.

/// Equation 2, at or above the base.
const CHANGE_ABOVE: &str = r#"<math display="block"><msub><mi>a</mi><mi>i</mi></msub><mo>=</mo><mfrac><mrow><msub><mi>n</mi><mi>i</mi></msub><mo>−</mo><msub><mi>n</mi><mn>0</mn></msub></mrow><mrow><msub><mi>n</mi><mo>*</mo></msub><mo>−</mo><msub><mi>n</mi><mn>0</mn></msub></mrow></mfrac><mtext>&#8195;if&#160;</mtext><msub><mi>n</mi><mi>i</mi></msub><mo>≥</mo><msub><mi>n</mi><mn>0</mn></msub></math>"#;

/// Equation 2, below the base.
const CHANGE_BELOW: &str = r#"<math display="block"><msub><mi>a</mi><mi>i</mi></msub><mo>=</mo><mfrac><mrow><msub><mi>n</mi><mi>i</mi></msub><mo>−</mo><msub><mi>n</mi><mn>0</mn></msub></mrow><msub><mi>n</mi><mn>0</mn></msub></mfrac><mtext>&#8195;if&#160;</mtext><msub><mi>n</mi><mi>i</mi></msub><mo>&lt;</mo><msub><mi>n</mi><mn>0</mn></msub></math>"#;

/// Equation 3.
const FORMULA: &str = r#"<math display="block"><mi>e</mi><mo>=</mo><mfrac displaystyle="true"><mrow displaystyle="true"><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>N</mi></munderover><msup><mi>γ</mi><mi>i</mi></msup><msub><mi>a</mi><mi>i</mi></msub></mrow><mrow displaystyle="true"><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>N</mi></munderover><msup><mi>γ</mi><mi>i</mi></msup></mrow></mfrac></math>"#;

pub(super) fn score() -> AnyView {
    view! {
        <p>
            "After iteration "<var>"i"</var>" the code passes "<var>"n"</var><sub>"i"</sub>" target tests; the base passed "<var>"n"</var><sub>"0"</sub>", the target passes "<var>"n"</var><sub>"*"</sub>". The "<dfn>"normalized change"</dfn>" is the share of the gap that is closed or, below the base, the share of passing tests that is lost:"
        </p>
        <div class="formula" inner_html=CHANGE_ABOVE></div>
        <div class="formula" inner_html=CHANGE_BELOW></div>
        <p>
            "1 is the target, 0 is the base, and −1 means that no test passes. EvoScore is its mean over all "<var>"N"</var>" iterations, each weighing γ times the one before:"
        </p>
        <div class="formula" inner_html=FORMULA></div>
        <p>
            "At γ = 1 all iterations weigh the same. Above 1 later ones weigh more: the score then measures whether the code was still easy to change after many changes. An evolution that ended early keeps its last value for the iterations it did not need. A run's score is the mean over its tasks, where a task with several samples counts with their mean."
        </p>
        <div class="example">
            <p>
                <strong>"Example. "</strong>
                "The base passes 10 tests, the target 20. Four iterations pass 12, 15, 8 and 20 tests. The changes are 0.2, 0.5, −0.2 and 1, so EvoScore at γ = 1 is 0.375. The third iteration is a regression; the evolution is solved."
            </p>
        </div>
    }
    .into_any()
}

pub(super) fn figures() -> AnyView {
    view! {
        <dl class="record">
            <div><dt>"Zero regression"</dt><dd>"Share of tasks in which no passing test was ever broken. 0.62: in 62 % of the tasks."</dd></div>
            <div><dt>"Solved"</dt><dd>"Share of tasks that ended with every target test passing."</dd></div>
            <div><dt>"Iterations"</dt><dd>"Iterations used, on average."</dd></div>
            <div><dt>"Tasks"</dt><dd>"Tasks scored; “3 / 4” while some are missing."</dd></div>
            <div><dt>"Tokens"</dt><dd>"The tokens that the run's agents sent to their model and received from it, together."</dd></div>
            <div><dt>"Cost"</dt><dd>"In US dollars, at the prices recorded with the run; “–” where the price of any step is unknown."</dd></div>
            <div><dt>"Regression rate"</dt><dd>"Of the tasks that reach an iteration, the share that break something in it. Its correlation with the iteration shows whether regressions become more frequent (above 0) or less (below)."</dd></div>
            <div><dt>"Regression magnitude"</dt><dd>"When an iteration breaks something, the share of the passing tests that it loses."</dd></div>
            <div><dt>"Recovery time"</dt><dd>"Iterations until all tests that one iteration broke passed again, averaged over the repaired regressions."</dd></div>
        </dl>
    }
    .into_any()
}

pub(super) fn conventions() -> AnyView {
    view! {
        <p>"The paper and its authors' program count differently in places. Both are computed from the same results, if these say which tests passed, and never mixed."</p>
        <div class="table-frame" tabindex="0" role="region" aria-label="The two conventions">
            <table class="list">
                <thead>
                    <tr><td></td><th scope="col">"paper (default)"</th><th scope="col">"reference"</th></tr>
                </thead>
                <tbody>
                    <tr>
                        <th scope="row">"Tests counted"</th>
                        <td>"Those the target passes"</td>
                        <td>"Every test in the report, with the count capped at the target"</td>
                    </tr>
                    <tr>
                        <th scope="row">"Zero regression"</th>
                        <td>"No iteration breaks a target test that passed before it"</td>
                        <td>"The number of passing tests never falls"</td>
                    </tr>
                    <tr>
                        <th scope="row">"Solved"</th>
                        <td>"Every target test passes after the last iteration"</td>
                        <td>"The target count was reached at any time"</td>
                    </tr>
                </tbody>
            </table>
        </div>
        <p>"They differ where old tests break while new ones pass: three lost and four gained is a regression in the first, and none in the second."</p>
    }
    .into_any()
}
