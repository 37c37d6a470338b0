//! The figures in a real browser: walked by keyboard, wide and narrow.

use serde_json::json;
use swe_ci_engine::testing::TinyTask;

use crate::browser::{Browser, DESK, Key, Look, PHONE};
use crate::product::{Product, replay};
use crate::world::{embeds, world};

const TESTS: (&str, &str) = (
    "tests/test_tiny.py",
    "import pytest, tiny\n@pytest.mark.parametrize('i', range(1, 5))\ndef test_it(i): assert i in tiny.PASS\n",
);
const VERSIONS: [&str; 4] = [
    "PASS = {1, 2}\n",
    "PASS = {1, 2, 3}\n",
    "PASS = {1}\n",
    "PASS = set(range(5))\n",
];

async fn product() -> Product {
    let versions = VERSIONS.map(|code| [("tiny.py", code), TESTS]);
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 2]>::as_slice).collect();
    let tasks = ["one", "two"].map(|name| TinyTask {
        name,
        versions: &versions,
    });
    let mut product = Product::with_split("tiny", &tasks).await;
    let run = product.submit(&replay("Stepper", "tiny", 3, 3));
    product.start().await;
    product.until_finished(&run).await;
    product
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_walked_by_keyboard_and_fit() {
    let product = product().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/figures", product.url)).await;
    browser.hydrated().await;
    // Published results are marks of no run.
    let published = "return [...document.querySelectorAll('.mark')].some(m => m.ariaLabel.includes('as published'))";
    assert_eq!(browser.eval(published).await, json!(true));
    // One tab stop for each picture; an arrow goes to the next mark, which
    // then says what it is.
    let marks =
        "const marks = [...document.querySelectorAll('#score-by-budget .only-wide .mark')];";
    let walk = "marks[0].focus(); \
                marks[0].dispatchEvent(new KeyboardEvent('keydown', {key: 'End', bubbles: true}));";
    browser.eval(&format!("{marks} {walk}")).await;
    browser
        .until(
            "the last mark has the focus and is the tab stop",
            &format!(
                "{marks} const last = marks[marks.length - 1]; \
                 return document.activeElement === last && last.tabIndex === 0 && marks[0].tabIndex === -1 \
                   && document.querySelector('#score-by-budget .only-wide .mark-tip').textContent.includes('0.333')"
            ),
        )
        .await;
    let said = format!("{marks} return marks[marks.length - 1].getAttribute('aria-label')");
    assert_eq!(
        browser.eval(&said).await,
        json!("Stepper, iterations counted 3: 0.333")
    );
    // Another γ: the page stays, the address and the words follow.
    browser.eval("window.untouched = true; document.querySelector('#gamma-exact').value = '2.00'; document.querySelector('.gamma button').click()").await;
    browser
        .until(
            "the figures are of another γ",
            "return document.querySelector('#score-by-budget figcaption').textContent.includes('γ\\u00a02.00')",
        )
        .await;
    assert_eq!(
        browser
            .eval("return [window.untouched, new URL(location).search]")
            .await,
        json!([true, "?gamma=2.00"])
    );
    browser.go(&format!("{}/embed/solved", product.url)).await;
    browser.hydrated().await;
    assert!(browser.text(".embed").await.contains("Solved rate"));
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;

    let narrow = Browser::open(Look {
        width: 390,
        dark: true,
        javascript: true,
    })
    .await;
    for path in ["/figures", "/embed/rank-by-gamma"] {
        narrow.go(&format!("{}{path}", product.url)).await;
        narrow.hydrated().await;
        let over =
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(narrow.eval(over).await, json!(0), "{path} scrolls sideways");
        let name = path.trim_start_matches('/').replace('/', "-");
        narrow.picture(&format!("{name}-390-dark")).await;
    }
    assert_eq!(narrow.complaints().await, Vec::<String>::new());
    narrow.close().await;
}

/// Points at the middle of every mark of the page: the marks whose text does not
/// say then what they are.
const POINTED: &str = "
    const wrong = [];
    for (const mark of document.querySelectorAll('.mark')) {
        if (!mark.checkVisibility()) continue;
        const layer = mark.closest('.picture-marks');
        const ring = mark.querySelector('.mark-ring').getBoundingClientRect();
        const [clientX, clientY] = [ring.left + ring.width / 2, ring.top + ring.height / 2];
        layer.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }));
        await new Promise(done => setTimeout(done));
        const tip = layer.querySelector('.mark-tip')?.textContent ?? '';
        // Long texts are cut.
        if (!tip.includes('…') && !tip.includes(mark.ariaLabel)) wrong.push([mark.ariaLabel, tip]);
    }
    return wrong";

/// Every figure tells what a mark stands for to whoever points at it, and each
/// mark what it is; Escape puts the text away (WCAG 1.4.13).
#[tokio::test(flavor = "multi_thread")]
async fn marks_are_pointed_at() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    for (name, path) in embeds() {
        browser.go(&format!("{}{path}", world.url)).await;
        browser.hydrated().await;
        assert_eq!(browser.eval(POINTED).await, json!([]), "{name}");
        let middle = "const mark = [...document.querySelectorAll('.mark')].find(m => m.checkVisibility()); \
                      mark.scrollIntoView({block: 'center'}); \
                      const r = mark.querySelector('.mark-ring').getBoundingClientRect(); \
                      return [r.left + r.width / 2, r.top + r.height / 2];";
        let at = browser.eval(middle).await;
        browser
            .point(at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
            .await;
        let tip = "getComputedStyle(document.querySelector('.mark-tip')).visibility";
        let shown =
            format!("return document.querySelector('.mark-tip') !== null && {tip} === 'visible'");
        browser.until(&format!("{name} tells"), &shown).await;
        browser.press(Key::Escape).await;
        let hidden = format!("return {tip} === 'hidden'");
        browser.until(&format!("{name} is silent"), &hidden).await;
    }
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// Every text of every figure stays inside its picture: names are cut to the room
/// there is, in whatever font.
#[tokio::test(flavor = "multi_thread")]
async fn no_text_leaves_its_picture() {
    const LEAVING: &str = "
        return [...document.querySelectorAll('.plot')].filter(plot => plot.checkVisibility()).flatMap(plot => {
            const box = plot.getBoundingClientRect();
            return [...plot.querySelectorAll('text')].filter(text => {
                const { left, right } = text.getBoundingClientRect();
                return left < box.left - 1 || right > box.right + 1;
            }).map(text => text.textContent.trim());
        })";
    let world = world().await;
    for look in [DESK, PHONE] {
        let browser = Browser::open(look).await;
        for (name, path) in embeds() {
            browser.go(&format!("{}{path}", world.url)).await;
            assert_eq!(
                browser.eval(LEAVING).await,
                json!([]),
                "{name} at {}",
                look.width
            );
        }
        browser.close().await;
    }
}

/// With many runs marks lie close together: each is still itself.
#[tokio::test(flavor = "multi_thread")]
async fn the_marks_of_a_leaderboard_are_told_apart() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    for path in ["/?split=field", "/?split=field&relative=leader"] {
        browser.go(&format!("{}{path}", world.url)).await;
        browser.hydrated().await;
        assert_eq!(browser.eval(POINTED).await, json!([]), "{path}");
        assert_eq!(browser.eval(PICKED).await, json!([]), "{path}");
    }
    browser.close().await;
}

/// Focuses every mark of the leaderboard's chart: those whose row and line are not
/// the ones that stand out then. Marks at the same place share a text, and the
/// focused one decides.
const PICKED: &str = "
    const wrong = [];
    const part = document.querySelector('.board-and-chart');
    const settled = () => new Promise(done => setTimeout(done));
    for (const mark of part.querySelectorAll('.mark')) {
        if (!mark.checkVisibility()) continue;
        mark.focus();
        await settled();
        const rows = [...part.querySelectorAll('tr.is-picked')].map(row => row.querySelector('th a').textContent);
        const plot = mark.closest('.picture').querySelector('.plot');
        const lines = [...plot.querySelectorAll('polyline[data-line]')];
        const strokes = is => [...new Set(lines.filter(line => line.classList.contains('is-picked') === is)
            .map(line => getComputedStyle(line).stroke))];
        const [picked, others] = [strokes(true), strokes(false)];
        // One colour for the picked one, one grey for all others.
        const apart = picked.length === 1 && others.length === 1 && picked[0] !== others[0];
        if (rows.length !== 1 || !mark.ariaLabel.startsWith(rows[0] + ':') || !apart) {
            wrong.push([mark.ariaLabel, rows, picked, others]);
        }
    }
    document.activeElement.blur();
    await settled();
    if (part.querySelector('.is-picked') || part.classList.contains('has-picked')) wrong.push('still picked');
    return wrong";
