//! The leaderboard's controls in a real browser.
//!
//! What they lead to is checked against the API at the address the page itself
//! gives for its rows, and then looked at without JavaScript.

use serde_json::{Value, json};

use crate::browser::{Browser, DESK, Look, PHONE};
use crate::pages::product;
use crate::product::Product;
use crate::world::{ALL_COLUMNS, world};

async fn models(browser: &Browser) -> Value {
    let names = "return [...document.querySelectorAll('.ranked th a')].map(a => a.textContent)";
    browser.eval(names).await
}

async fn until_models(browser: &Browser, what: &str, names: &[&str]) {
    let names = json!(names).to_string();
    let shown = "[...document.querySelectorAll('.ranked th a')].map(a => a.textContent)";
    let same = format!("return JSON.stringify({shown}) === '{names}'");
    browser.until(what, &same).await;
}

async fn until_address(browser: &Browser, query: &str) {
    let same = format!("return location.search === '{query}'");
    browser
        .until(&format!("the address is {query}"), &same)
        .await;
}

/// Writes into a field as a hand would.
async fn write(browser: &Browser, field: &str, value: &str, event: &str) {
    let script = format!(
        "const field = document.querySelector('{field}'); field.value = '{value}'; \
         field.dispatchEvent(new Event('{event}', {{bubbles: true}}));"
    );
    browser.eval(&script).await;
}

async fn click(browser: &Browser, selector: &str) {
    let script = format!("document.querySelector('{selector}').click()");
    browser.eval(&script).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_view_is_in_the_address() {
    let product = product().await;
    let browser = Browser::open(DESK).await;
    browser.go(&product.url).await;
    browser.hydrated().await;
    let Value::Array(all) = models(&browser).await else {
        panic!("names are a list")
    };
    let all: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
    assert_eq!(all.len(), 2);

    write(&browser, "#find", "leap", "input").await;
    until_models(&browser, "one is found", &["Leaper"]).await;
    until_address(&browser, "?text=leap").await;
    assert!(browser.text(".shown").await.contains("1 of 2 rows"));
    browser.eval("history.back()").await;
    until_models(&browser, "all are back", &all).await;
    until_address(&browser, "").await;

    click(&browser, "thead th:nth-child(2) a").await;
    until_address(&browser, "?sort=model").await;
    until_models(&browser, "by name", &["Leaper", "Stepper"]).await;
    click(&browser, "thead th:nth-child(2) a").await;
    until_address(&browser, "?sort=-model").await;
    until_models(&browser, "the other way", &["Stepper", "Leaper"]).await;
    let order = "return document.querySelector('th[aria-sort]').getAttribute('aria-sort')";
    assert_eq!(browser.eval(order).await, json!("descending"));

    click(&browser, "input[value=turns]").await;
    let gone = "return !document.querySelector('td[data-label=Iterations]')";
    browser.until("a column is gone", gone).await;
    let columns = "?sort=-model&columns=evoscore,zero-regression,solved,tasks";
    until_address(&browser, columns).await;
    browser.eval("history.back()").await;
    let back = "return !!document.querySelector('td[data-label=Iterations]') && document.querySelector('input[value=turns]').checked";
    browser.until("the column is back", back).await;

    write(&browser, "#gamma-exact", "3.5", "change").await;
    until_address(&browser, "?gamma=3.50&sort=-model").await;
    let api = "return (await (await fetch('/api/v1/leaderboard?split=tiny&gamma=3.5&sort=-model')).json()).items[0].evoscore.toFixed(3)";
    let shown = "return document.querySelector('.ranked .score-number').textContent";
    assert_eq!(browser.eval(shown).await, browser.eval(api).await);
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;

    let phone = Browser::open(Look { width: 390, ..DESK }).await;
    let columns = "evoscore,zero-regression,net-zero-regression,solved,zrr,turns,mi-wins,pylint-wins,generalisation,tokens,cost,tokens-per-task,cost-per-task,tokens-per-test,cost-per-test,agent-time,wall-time,findings,tasks,released,finished";
    phone
        .go(&format!("{}/?columns={columns}", product.url))
        .await;
    phone.hydrated().await;
    click(&phone, ".filters > summary").await;
    let overflow =
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(phone.eval(overflow).await, json!(0));
    phone.picture("leaderboard-filters-390-light").await;
    assert_eq!(phone.complaints().await, Vec::<String>::new());
    phone.close().await;
}

/// Names of the rows shown, and those the JSON and the CSV of this view have.
const AGREE: &str = "
    const links = [...document.querySelectorAll('.shown-files a')].map(a => a.href);
    const fetched = await Promise.all(links.map(link => fetch(link)));
    const lines = (await fetched[0].text()).trim().split('\\r\\n').slice(1);
    // Runs without a rank stand below the others.
    const csv = lines.filter(line => line.split(',')[6] !== '');
    const json = (await fetched[1].json()).items.map(row => row.model);
    const shown = [...document.querySelectorAll('.ranked th a')].map(a => a.textContent);
    const same = shown.length === json.length && shown.length === csv.length
        && shown.every((name, at) => name === json[at] && csv[at].includes(name));
    return same ? shown.length : 'shown ' + shown + '; JSON ' + json + '; CSV ' + csv;";

/// Does something, waits for the address, and checks the rows it leads to.
/// How many there are.
async fn leads_to(browser: &Browser, action: &str, query: &str) -> u64 {
    browser.eval(action).await;
    until_address(browser, query).await;
    let rows = browser.eval(AGREE).await;
    rows.as_u64().unwrap_or_else(|| panic!("{query}: {rows}"))
}

async fn open(browser: &Browser, product: &Product, query: &str) {
    browser.go(&format!("{}/{query}", product.url)).await;
    browser.hydrated().await;
}

fn select(field: &str, value: &str) -> String {
    format!(
        "const field = document.querySelector('{field}'); field.value = '{value}'; \
         field.dispatchEvent(new Event('change', {{bubbles: true}}));"
    )
}

fn clicking(selector: &str) -> String {
    format!("document.querySelector('{selector}').click()")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_control_leads_to_the_rows_it_says() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    open(&browser, &world, "?split=field").await;
    let all = browser.eval(AGREE).await;
    assert_eq!(
        all,
        json!(13),
        "one run is known by counts alone, one is at work"
    );

    // Each step starts from the whole board, by the history.
    let steps = [
        (
            clicking(".choices-links a[href*=\"convention=reference\"]"),
            "?split=field&convention=reference",
            14,
        ),
        (
            select("select[name=provider]", "Kiln"),
            "?split=field&provider=Kiln",
            2,
        ),
        (
            clicking("input[value=imported]"),
            "?split=field&kind=human,measured",
            11,
        ),
        (
            clicking("input[name=seen]"),
            "?split=field&seen=exclude",
            10,
        ),
    ];
    for (action, query, rows) in &steps {
        assert_eq!(leads_to(&browser, action, query).await, *rows, "{query}");
        browser.eval("history.back()").await;
        let back = format!(
            "return location.search === '?split=field' && document.querySelectorAll('.ranked tr').length === {all}"
        );
        browser.until(&format!("back from {query}"), &back).await;
        assert_eq!(browser.eval(AGREE).await, all, "back from {query}");
    }
    // Filters together, and away with all of them.
    open(&browser, &world, "?split=field&provider=Kiln&kind=imported").await;
    assert_eq!(browser.eval(AGREE).await, json!(1));
    let everything = leads_to(
        &browser,
        &clicking(".shown [role=status] ~ a"),
        "?split=field",
    )
    .await;
    assert_eq!(json!(everything), all);
    sorts(&browser, &world).await;
    takes_away(&browser, &world).await;

    // A split nobody has run on.
    open(&browser, &world, "?split=field").await;
    click(&browser, ".choices-links a[href*=\"split=quiet\"]").await;
    let empty =
        "return document.querySelector('.empty h2')?.textContent === 'No results on quiet yet'";
    browser
        .until("the other split says what to do", empty)
        .await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// By every column, one way and the other; the heads stay in sight.
async fn sorts(browser: &Browser, world: &Product) {
    let columns = format!("&columns={ALL_COLUMNS}");
    open(browser, world, &format!("?split=field{columns}")).await;
    let names: Vec<&str> = ["model"]
        .into_iter()
        .chain(ALL_COLUMNS.split(','))
        .collect();
    for (at, name) in names.iter().enumerate() {
        let head = format!(
            "document.querySelector('thead th:nth-child({}) a.head').click()",
            at + 2
        );
        let mut orders = Vec::new();
        for turn in 0..2 {
            browser.eval(&head).await;
            // The second time, the other way round.
            let before = orders.last().cloned().unwrap_or(Value::Null);
            let sorted = format!(
                "const head = document.querySelector('th[aria-sort]'); \
                 return ({turn} === 0 || head.ariaSort !== {before}) && [...head.parentElement.children].indexOf(head) === {} && \
                   new RegExp('sort=-?{name}(&|$)').test(location.search) && \
                   location.search.includes('sort=-') === (head.ariaSort === 'descending')",
                at + 1
            );
            browser.until(&format!("sorted by {name}"), &sorted).await;
            assert_eq!(browser.eval(AGREE).await, json!(13), "by {name}");
            let order = "return document.querySelector('th[aria-sort]').ariaSort";
            orders.push(browser.eval(order).await);
        }
        assert_ne!(orders[0], orders[1], "{name} is sorted both ways");
    }
    let stays = "const frame = document.querySelector('.ranking-frame'); \
                 frame.style.maxHeight = '300px'; frame.scrollIntoView(); frame.scrollTop = 300; \
                 const head = document.querySelector('thead th').getBoundingClientRect(); \
                 return frame.scrollTop > 100 && head.top >= 0 && head.top < innerHeight / 2";
    assert_eq!(browser.eval(stays).await, json!(true), "in its frame");
    open(browser, world, "?split=field").await;
    let stays = "scrollTo(0, document.querySelector('.ranked tr:nth-child(6)').getBoundingClientRect().top); \
                 return Math.round(document.querySelector('thead th').getBoundingClientRect().top)";
    assert_eq!(browser.eval(stays).await, json!(0), "in the page");
}

/// The citation names exactly this view.
async fn takes_away(browser: &Browser, world: &Product) {
    let query =
        "?split=field&gamma=1.50&convention=reference&seen=exclude&sort=-solved&columns=solved";
    open(browser, world, query).await;
    assert!(browser.eval(AGREE).await.is_u64());
    click(browser, ".cite > summary").await;
    let cited = browser.text(".cite .command").await;
    assert!(cited.contains(&format!("{}/{query}", world.url)), "{cited}");
    assert!(cited.contains("reference convention"), "{cited}");
}

/// What an address shows does not depend on JavaScript.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_shows_the_same_without_javascript() {
    let world = world().await;
    let addresses = [
        "/?split=field",
        "/?split=field&gamma=3.50&convention=reference&published=off",
        "/?split=field&kind=imported&seen=exclude&sort=-turns",
        "/?split=field&text=a&provider=Kiln&columns=solved,tokens",
        "/figures?split=field&gamma=1.50",
    ];
    let mut shown: Vec<Vec<String>> = Vec::new();
    for javascript in [true, false] {
        let browser = Browser::open(Look { javascript, ..DESK }).await;
        let mut texts = Vec::new();
        for address in addresses {
            browser.go(&format!("{}{address}", world.url)).await;
            if javascript {
                browser.hydrated().await;
            }
            let place = if address.starts_with("/figures") {
                "#solved"
            } else {
                ".ranking"
            };
            texts.push(browser.text(place).await);
        }
        shown.push(texts);
        browser.close().await;
    }
    for ((with, without), address) in shown[0].iter().zip(&shown[1]).zip(addresses) {
        assert_eq!(with, without, "{address}");
    }
}

/// On a phone each row is a card; also the longest number of tasks stays inside.
#[tokio::test(flavor = "multi_thread")]
async fn rows_fit_on_a_phone() {
    const LEAVING: &str = "
        return [...document.querySelectorAll('.ranked td[data-label=\"Tasks\"]')].filter(cell => {
            cell.textContent = '98 / 100';
            const text = document.createRange();
            text.selectNodeContents(cell);
            return text.getBoundingClientRect().right > cell.getBoundingClientRect().right + 0.5;
        }).length";
    let world = world().await;
    let browser = Browser::open(PHONE).await;
    browser.go(&format!("{}/?split=field", world.url)).await;
    assert_eq!(browser.eval(LEAVING).await, json!(0));
    browser.picture("leaderboard-cards-390").await;
    browser.close().await;
}

/// The line of a ticked run has a colour, also where it was grey.
#[tokio::test(flavor = "multi_thread")]
async fn ticked_runs_have_a_colour_in_the_chart() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/?split=field", world.url)).await;
    browser.hydrated().await;
    let stroke = "const row = document.querySelector('.ranked tr:last-child'); \
                  const line = document.querySelector(`.plot polyline[data-line=\"${row.dataset.line}\"]`); ";
    let read = format!("{stroke} return getComputedStyle(line).stroke");
    let tick = format!(
        "{stroke} row.querySelector('.pick').click(); return getComputedStyle(line).stroke"
    );
    let grey = browser.eval(&read).await;
    let ticked = browser.eval(&tick).await;
    assert_ne!(ticked, grey);
    assert_eq!(browser.eval(&tick).await, grey, "no longer ticked");
    browser.close().await;
}

/// A heading that was clicked would cover the first row with its explanation.
#[tokio::test(flavor = "multi_thread")]
async fn a_sorted_table_shows_its_first_row() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/?split=field", world.url)).await;
    browser.hydrated().await;
    let head = browser.find(".ranking thead a[href*='sort=-solved']").await;
    head.click().await.unwrap();
    browser
        .until(
            "it is sorted",
            "return location.search.includes('sort=-solved')",
        )
        .await;
    let tips = "return [...document.querySelectorAll('.ranking .term-tip')] \
                .filter(tip => getComputedStyle(tip).display !== 'none').length";
    assert_eq!(
        browser.eval(tips).await,
        json!(0),
        "while the pointer is still there"
    );
    browser.close().await;
}

/// On paper nobody can look into a folded menu.
#[tokio::test(flavor = "multi_thread")]
async fn a_print_names_its_split() {
    let world = world().await;
    for look in [DESK, PHONE] {
        let browser = Browser::open(look).await;
        browser.go(&format!("{}/?split=field", world.url)).await;
        browser.hydrated().await;
        browser
            .cdp("Emulation.setEmulatedMedia", json!({"media": "print"}))
            .await;
        let shown = "return ['.ranking-settings > summary', '#gamma-exact'] \
                     .map(name => document.querySelector(name)) \
                     .map(part => part.checkVisibility() && (part.innerText || part.value))";
        let shown = browser.eval(shown).await;
        assert_eq!(shown, json!(["field · 25 tasks · paper", "1.00"]));
        browser.close().await;
    }
}

/// Many rows are in the first screen, on a desk and on a phone.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_screen_shows_rows() {
    let world = world().await;
    for (look, height, least) in [(DESK, 900, 10), (PHONE, 844, 5)] {
        let browser = Browser::open(look).await;
        browser.go(&format!("{}/?split=field", world.url)).await;
        browser.hydrated().await;
        let seen = format!(
            "return [...document.querySelectorAll('.ranked tr')] \
             .filter(row => row.getBoundingClientRect().bottom <= {height}).length"
        );
        let seen = browser.eval(&seen).await;
        assert!(seen.as_u64().unwrap() >= least, "{seen} at {height} px");
        browser.close().await;
    }
}

/// Without its program the page still ranks for another γ.
#[tokio::test(flavor = "multi_thread")]
async fn gamma_works_where_the_program_does_not_come() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    browser.cdp("Network.enable", json!({})).await;
    browser
        .cdp("Network.setBlockedURLs", json!({"urls": ["*.wasm"]}))
        .await;
    browser.go(&format!("{}/?split=field", world.url)).await;
    let shown = "return document.querySelector('.gamma button').checkVisibility()";
    browser.until("the button is there", shown).await;
    let slide = "const slider = document.querySelector('#gamma'); slider.value = '1.5'; \
                 slider.dispatchEvent(new Event('input', {bubbles: true}));";
    browser.eval(slide).await;
    click(&browser, ".gamma button").await;
    let ranked = "return Number(new URL(location).searchParams.get('gamma')) === 1.5";
    browser.until("it is ranked for that γ", ranked).await;
    browser.close().await;
}

/// Two to six runs are compared, also after coming back with some ticked.
#[tokio::test(flavor = "multi_thread")]
async fn only_two_to_six_runs_are_compared() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/?split=field", world.url)).await;
    browser.hydrated().await;
    let tick = |count: usize| {
        format!(
            "const picks = [...document.querySelectorAll('.pick')]; \
             picks.forEach((pick, at) => {{ if (pick.checked !== at < {count}) pick.click(); }}); \
             const bar = document.querySelector('.compare-bar'); \
             return [bar.querySelector('button').disabled, bar.querySelector('strong').textContent]"
        )
    };
    for (count, expect) in [
        (0, json!([true, ""])),
        (1, json!([true, "1 selected"])),
        (7, json!([true, "7 selected"])),
        (2, json!([false, "2 selected"])),
    ] {
        assert_eq!(browser.eval(&tick(count)).await, expect);
    }
    // Another view says the same of the same ticks.
    write(&browser, "#gamma-exact", "1.5", "change").await;
    until_address(&browser, "?split=field&gamma=1.50").await;
    let said = "return document.querySelector('.compare-count').textContent";
    assert_eq!(browser.eval(said).await, json!("2 selected"));
    browser.close().await;
}
