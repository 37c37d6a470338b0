//! Runs side by side: chosen in the form, compared in words.

use serde_json::json;

use crate::browser::{Browser, DESK, Look, PHONE};
use crate::matrix::stepper_and_leaper;
use crate::world::{run, world};

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_are_chosen_and_compared() {
    let product = stepper_and_leaper().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/compare", product.url)).await;
    browser.hydrated().await;
    let tick = "document.querySelectorAll('.choose [name=runs]').forEach(box => box.click()); \
                document.querySelector('.choose .button').click();";
    browser.eval(tick).await;
    browser
        .until(
            "the two are compared",
            "return !!document.querySelector('.pairs')",
        )
        .await;
    browser.hydrated().await;
    // 0.44 on the winding road and 0.25 on the straight one: see the matrix.
    let sentence = browser.text(".verdict").await;
    assert!(
        sentence.starts_with("Leaper is ahead of Stepper by 0.34; on these 2 tasks"),
        "{sentence}"
    );
    assert!(
        sentence.ends_with("So few repositories bound no difference."),
        "{sentence}"
    );

    // One task is looked at without a load of the page.
    browser
        .eval("window.untouched = true; document.querySelector('.task-curves').click()")
        .await;
    browser
        .until(
            "the curves appear",
            "return document.querySelectorAll('#course .mark').length > 0",
        )
        .await;
    // Where the link was, far below, they would not be seen.
    browser
        .until(
            "the curves are on the screen",
            "const area = document.querySelector('#course').getBoundingClientRect(); \
             return area.top >= -1 && area.top < innerHeight / 2",
        )
        .await;
    assert_eq!(browser.eval("return window.untouched").await, json!(true));
    let address = browser.eval("return location.href").await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;

    for (width, dark) in [(1440, true), (390, false)] {
        let look = Look {
            width,
            dark,
            ..DESK
        };
        let browser = Browser::open(look).await;
        browser.go(address.as_str().unwrap()).await;
        browser.hydrated().await;
        let overflow =
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.eval(overflow).await, json!(0), "at {width} px");
        browser.picture(&format!("compare-{width}")).await;
        assert_eq!(browser.complaints().await, Vec::<String>::new());
        browser.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn four_runs_task_by_task() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    let runs = [0, 3, 6, 11].map(run).join(",");
    browser
        .go(&format!("{}/compare?runs={runs}", world.url))
        .await;
    browser.hydrated().await;

    // Where they lie furthest apart comes first.
    let spreads = "return [...document.querySelectorAll('.versus-tasks tbody tr > :last-child')].map(c => parseFloat(c.textContent))";
    let spreads: Vec<f64> = serde_json::from_value(browser.eval(spreads).await).unwrap();
    assert_eq!(spreads.len(), 24);
    assert!(spreads.is_sorted_by(|a, b| a >= b), "{spreads:?}");

    // Only the pairs that are told apart, by a link; as many as it says.
    let pairs = "document.querySelectorAll('.pair').length";
    assert_eq!(browser.eval(&format!("return {pairs}")).await, json!(6));
    let only = "document.querySelector('.choices-links a[href*=\"only=significant\"]')";
    let told = browser
        .eval(&format!(
            "const link = {only}; link.click(); return parseInt(link.textContent.split('·')[1])"
        ))
        .await;
    browser
        .until(
            "only those are left",
            &format!("return {pairs} === {told} && location.search.includes('only=significant')"),
        )
        .await;
    assert_ne!(told, json!(6));
    let tied = "return [...document.querySelectorAll('.pair .tag')].some(t => t.textContent.includes('not significant'))";
    assert_eq!(browser.eval(tied).await, json!(false));
    let address = browser.eval("return location.href").await;
    let shown = browser.text(".pairs").await;

    // From a score to the evolution, and from there to what an iteration did.
    browser
        .eval("document.querySelector('.versus-tasks tbody td a').click()")
        .await;
    browser
        .until("the evolution is there", "return /^\\/runs\\/[^/]+\\/tasks\\//.test(location.pathname) && !!document.querySelector('.iterations a')")
        .await;
    browser
        .eval("document.querySelector('.iterations a').click()")
        .await;
    browser
        .until(
            "the iteration is there",
            "return location.search.includes('iteration=1') && document.querySelector('.inspect-place').textContent.includes('Iteration 1')",
        )
        .await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;

    let plain = Browser::open(Look {
        javascript: false,
        ..DESK
    })
    .await;
    plain.go(address.as_str().unwrap()).await;
    assert_eq!(plain.text(".pairs").await, shown, "without JavaScript");
    plain.close().await;
}

/// Any of the runs becomes the one that all others are compared with.
#[tokio::test(flavor = "multi_thread")]
async fn a_baseline() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    let runs = [0, 3, 6].map(run).join(",");
    browser
        .go(&format!("{}/compare?runs={runs}", world.url))
        .await;
    browser.hydrated().await;
    browser
        .eval("[...document.querySelectorAll('.versus-heads thead a')].filter(a => a.textContent === 'Set as baseline')[1].click()")
        .await;
    let baseline = run(3);
    browser
        .until(
            "the others are compared with it",
            &format!("return location.search.includes('baseline={baseline}') && document.querySelectorAll('.pair').length === 2"),
        )
        .await;
    let against = "return [...document.querySelectorAll('.pair-against + .pair-run .letter')].map(l => l.textContent)";
    assert_eq!(browser.eval(against).await, json!(["B", "B"]));
    let gates = "return [...document.querySelectorAll('.pair')].filter(p => p.textContent.includes('Gate: ')).length";
    assert_eq!(browser.eval(gates).await, json!(2));
    assert!(browser.text(".verdict").await.starts_with("Of 2 runs, "));
    browser.picture("compare-baseline").await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// On a phone two runs are seen side by side; of more, a shadow tells that there
/// are others.
#[tokio::test(flavor = "multi_thread")]
async fn two_runs_fit_on_a_phone() {
    let world = world().await;
    let browser = Browser::open(PHONE).await;
    let hidden = "const frame = document.querySelector('.versus-heads').parentElement; \
                  return frame.scrollWidth - frame.clientWidth";
    for (runs, fits) in [(vec![0, 3], true), (vec![0, 3, 6, 11], false)] {
        let runs: Vec<String> = runs.into_iter().map(run).collect();
        let path = format!("{}/compare?runs={}", world.url, runs.join(","));
        browser.go(&path).await;
        let hidden = browser.eval(hidden).await.as_i64().unwrap();
        assert_eq!(hidden == 0, fits, "{path} hides {hidden} px");
        let shadow = "return getComputedStyle(document.querySelector('.versus-heads').parentElement).backgroundAttachment";
        assert_eq!(
            browser.eval(shadow).await,
            json!("local, local, scroll, scroll")
        );
        browser
            .picture(&format!(
                "compare-{}-390",
                if fits { "two" } else { "four" }
            ))
            .await;
    }
    browser.close().await;
}
