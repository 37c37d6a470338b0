//! The scores, and the two ways to count tests.

use leptos::prelude::*;

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
            <div><dt>"Turns"</dt><dd>"Iterations used, on average."</dd></div>
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
