//! Words and their explanations: by keyboard, by pointer, by touch, and where
//! no script runs (WCAG 1.4.13).

use serde_json::json;

use crate::browser::{Browser, DESK, Key, Look};
use crate::world::world;

/// Whether the explanation of "gap" is shown, whole and where it can be seen.
const SHOWN: &str = "const tip = document.getElementById('tip-gap'); const box = tip.getBoundingClientRect(); \
     return tip.checkVisibility() && box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight \
       && tip.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2))";
const HIDDEN: &str = "return !document.getElementById('tip-gap').checkVisibility()";
const WORD: &str = "document.querySelector('.term > [popovertarget=tip-gap]')";

/// Moves the pointer to the middle of an element.
async fn point_at(browser: &Browser, element: &str) {
    let at = browser
        .eval(&format!(
            "const box = {element}.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]"
        ))
        .await;
    browser
        .cdp(
            "Input.dispatchMouseEvent",
            json!({"type": "mouseMoved", "x": at[0], "y": at[1]}),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_explains_itself() {
    let product = world().await;
    let browser = Browser::open(DESK).await;
    browser
        .go(&format!("{}/tasks?split=field", product.url))
        .await;
    browser.hydrated().await;

    // By keyboard: from what orders by the column before it. Escape hides it and leaves the
    // focus; it comes again with the focus.
    browser
        .eval("document.querySelector('a.sort[href*=score]').focus()")
        .await;
    browser.press(Key::Tab).await;
    browser.until("the focus shows it", SHOWN).await;
    assert_eq!(
        browser
            .eval(&format!("return document.activeElement === {WORD}"))
            .await,
        json!(true)
    );
    browser.press(Key::Escape).await;
    browser.until("Escape hides it", HIDDEN).await;
    assert_eq!(
        browser
            .eval(&format!("return document.activeElement === {WORD}"))
            .await,
        json!(true)
    );
    browser.tab(true).await;
    browser.press(Key::Tab).await;
    browser.until("the focus shows it again", SHOWN).await;
    // Pressed, it stays open when the focus goes on, until Escape.
    browser.press(Key::Enter).await;
    let open = "return document.getElementById('tip-gap').matches(':popover-open')";
    browser.until("it is open", open).await;
    browser.until("and shown", SHOWN).await;
    browser.press(Key::Escape).await;
    browser.until("Escape closes it", HIDDEN).await;

    // By pointer, which may go to the explanation and stay there.
    browser.eval("document.activeElement.blur()").await;
    point_at(&browser, WORD).await;
    browser.until("hovering shows it", SHOWN).await;
    browser.picture("term-1440").await;
    point_at(&browser, "document.getElementById('tip-gap')").await;
    browser.until("it stays under the pointer", SHOWN).await;
    browser.press(Key::Escape).await;
    browser
        .until("Escape hides it for the pointer too", HIDDEN)
        .await;
    point_at(&browser, "document.querySelector('h1')").await;
    point_at(&browser, WORD).await;
    browser.until("hovering shows it anew", SHOWN).await;
    point_at(&browser, "document.querySelector('h1')").await;
    browser.until("leaving hides it", HIDDEN).await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// On a telephone the heads are gone; their words stand below the table, and a
/// touch opens what they mean.
#[tokio::test(flavor = "multi_thread")]
async fn a_touch_opens_it_without_a_script() {
    let product = world().await;
    for javascript in [false, true] {
        let browser = Browser::open(Look {
            width: 390,
            dark: true,
            javascript,
        })
        .await;
        browser
            .go(&format!("{}/tasks?split=field", product.url))
            .await;
        if javascript {
            browser.hydrated().await;
        }
        let word = "document.querySelector('.key [popovertarget=tip-gap]')";
        browser
            .eval(&format!("{word}.scrollIntoView({{block: 'center'}})"))
            .await;
        let at = browser
            .eval(&format!(
                "const box = {word}.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]"
            ))
            .await;
        let touch = |kind: &'static str, points| json!({"type": kind, "touchPoints": points});
        let point = json!([{"x": at[0], "y": at[1]}]);
        browser
            .cdp("Input.dispatchTouchEvent", touch("touchStart", point))
            .await;
        browser
            .cdp("Input.dispatchTouchEvent", touch("touchEnd", json!([])))
            .await;
        browser.until("a touch shows it", SHOWN).await;
        browser
            .picture(&format!("term-390-javascript-{javascript}"))
            .await;
        assert_eq!(browser.complaints().await, Vec::<String>::new());
        browser.close().await;
    }
}
