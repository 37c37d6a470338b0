//! What the site is for, from end to end: somebody is invited, submits a model,
//! watches, pauses, resumes, looks into it, publishes; everybody sees it.

use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::json;
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::Role;
use swe_ci_engine::testing::TinyTask;
use swe_ci_testing::scripted::{Conversation, Script, ScriptedLlm, Turn};

use crate::accounts::{fill, first_link, judged, make_account, press};
use crate::axe::equip;
use crate::browser::{Browser, DESK};
use crate::clicks::Clicks;
use crate::collector::{Collector, attribute, within};
use crate::product::Product;

const KEY: &str = "sk-journey-58b1";
/// Whoever submits chooses the name, and everybody reads it.
const MODEL: &str = "<img src=x onerror=\"window.hit=1\">";
const TESTS: (&str, &str) = (
    "tests/test_tiny.py",
    "import tiny\ndef test_one(): assert tiny.one() == 1\ndef test_two(): assert tiny.two() == 2\n",
);
const BASE: &str = "def one(): return 1\ndef two(): return 0\n";
const TARGET: &str = "def one(): return 1\ndef two(): return 2\n";
/// What an agent writes may be anything.
const DOCUMENT: &str = "<requirements><requirement>\
    <location>tiny.py</location>\
    <description>&lt;script&gt;window.hit = 1&lt;/script&gt; two() gives 0</description>\
    <contract>two() gives 2</contract><acceptance>test_two passes</acceptance>\
    </requirement></requirements>";

/// Long enough that the run can be paused while it is at work. What it is tried
/// on before has other files.
const MEND: &str = "sleep 3; echo '<script>window.hit = 1</script>'; cd /app/code; \
    if [ -f tiny.py ]; then sed -i 's/two(): return 0/two(): return 2/' tiny.py; \
    else echo 'print()' >> tally/__init__.py; fi";

pub fn mend(conversation: &Conversation) -> Turn {
    match (conversation.role, conversation.turn) {
        (Role::Architect, 0) => Turn::write("/app/requirement.xml", DOCUMENT),
        (Role::Programmer, 0) => Turn::bash(MEND),
        _ => Turn::say("Done."),
    }
}

pub async fn product() -> Product {
    product_with(&[]).await
}

async fn product_with(options: &[&str]) -> Product {
    let versions: [&[(&str, &str)]; 2] =
        [&[("tiny.py", BASE), TESTS], &[("tiny.py", TARGET), TESTS]];
    let task = TinyTask {
        name: "two",
        versions: &versions,
    };
    let mut product = Product::with_split("tiny", &[task]).await;
    // The scripted LLM is on this machine.
    let options = [&["--allow-private-endpoints"], options].concat();
    product.start_with(&options).await;
    product
}

pub async fn open(browser: &Browser, product: &Product, path: &str) {
    browser.go(&format!("{}{path}", product.url)).await;
    browser.hydrated().await;
}

/// The administrator comes by the link that is printed, and invites somebody.
async fn invited(browser: &Browser, product: &Product) -> String {
    browser.go(&first_link(product)).await;
    browser.hydrated().await;
    make_account(browser, "root").await;
    open(browser, product, "/accounts").await;
    let submitter = "const role = document.querySelector('#field-role'); role.value = 'submitter'";
    browser.eval(submitter).await;
    fill(browser, &[("field-note", "Ada")]).await;
    press(browser, "Create a link").await;
    let shown = "return document.getElementById('shown-once').value";
    let link = browser.eval(shown).await;
    link.as_str().expect("a link is shown").to_owned()
}

/// Stores a key and fills in the form; the id of the run.
async fn submitted(browser: &Browser, product: &Product, llm: &ScriptedLlm) -> String {
    open(browser, product, "/keys").await;
    fill(browser, &[("field-name", "journey"), ("field-value", KEY)]).await;
    press(browser, "Store the key").await;
    let mut wrong = looked_at(browser, "keys").await;
    open(browser, product, "/runs/new").await;
    press(browser, "Check and start").await;
    wrong.extend(looked_at(browser, "new-run-refused").await);
    open(browser, product, "/runs/new").await;
    wrong.extend(looked_at(browser, "new-run").await);
    assert_eq!(wrong, Vec::<String>::new());
    let url = llm.url(Protocol::Chat);
    let fields = [
        ("field-model", MODEL),
        ("field-endpoint.url", &url),
        ("field-endpoint.model", "scripted-1"),
    ];
    fill(browser, &fields).await;
    let chosen = "const choose = (name, value) => { document.getElementById('field-' + name).value = value };
        choose('endpoint.key', 'journey'); choose('visibility', 'private')";
    browser.eval(chosen).await;
    press(browser, "Check and start").await;
    browser.hydrated().await;
    let path = browser.eval("return location.pathname").await;
    let path = path.as_str().unwrap();
    path.strip_prefix("/runs/")
        .expect("a run's page")
        .to_owned()
}

/// What axe has against a page, wide and light, narrow and dark; keeps pictures.
pub async fn looked_at(browser: &Browser, name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (width, scheme) in [(390, "dark"), (1440, "light")] {
        browser.resize(width).await;
        // Without the fading from one scheme to the other.
        let wishes = [
            ("prefers-color-scheme", scheme),
            ("prefers-reduced-motion", "reduce"),
        ];
        browser.emulate(&wishes).await;
        wrong.extend(judged(browser, &format!("{name}-{width}-{scheme}")).await);
    }
    wrong
}

pub async fn says(browser: &Browser, what: &str, text: &str) {
    let script = format!("return document.querySelector('main').textContent.includes('{text}')");
    browser.until(what, &script).await;
}

/// Nothing that anybody wrote was taken for a part of the page.
async fn unharmed(browser: &Browser) {
    assert_eq!(browser.eval("return window.hit ?? 0").await, json!(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn from_an_invitation_to_the_leaderboard() {
    let llm = ScriptedLlm::start(Script::with(mend), KEY).await.unwrap();
    let collector = Collector::start().await;
    let mut product = product_with(&["--otlp-endpoint", &collector.url]).await;
    let (admin, browser) = (Browser::open(DESK).await, Browser::open(DESK).await);
    let link = invited(&admin, &product).await;
    equip(&browser).await;
    browser.go(&link).await;
    browser.hydrated().await;
    make_account(&browser, "ada").await;
    says(&browser, "the first steps are shown", "First steps").await;
    let run = submitted(&browser, &product, &llm).await;
    let page = format!("/runs/{run}");
    says(&browser, "it is tried first", "Preflight passed").await;

    // Paused while it works, it stands still; resumed, it goes on to its end.
    let running = "return document.querySelector('main').textContent.includes('programmer')";
    browser.until("the programmer is at work", running).await;
    press(&browser, "Pause").await;
    says(&browser, "it is paused", "paused").await;
    product
        .until("nothing is at work", || async {
            product.run(&run).await["evolution_list"][0]["progress"] == "queued"
        })
        .await;
    assert_eq!(product.run(&run).await["iterations"], 0);
    browser.hydrated().await;
    press(&browser, "Resume").await;
    browser.hydrated().await;
    product.until_finished(&run).await;
    let over = "return document.querySelector('.hero .tags').textContent.includes('finished')";
    browser.until("its page follows", over).await;
    unharmed(&browser).await;
    let mut wrong = looked_at(&browser, "own-run").await;

    // Nobody else sees it yet.
    let visitor = Browser::open(DESK).await;
    open(&visitor, &product, &page).await;
    assert_eq!(visitor.text("h1").await, "Not found");
    open(&visitor, &product, "/?split=tiny").await;
    assert!(!visitor.text("main").await.contains("onerror"));

    // What was asked, done and said.
    let evolution = product.run(&run).await["evolution_list"][0]["evolution_id"].clone();
    let iteration = format!("{page}/{}/1", evolution.as_str().unwrap());
    open(&browser, &product, &iteration).await;
    browser
        .eval("document.querySelectorAll('main details').forEach(d => d.open = true)")
        .await;
    let text = browser.text("main").await;
    for part in [
        "two() gives 2",
        "<script>window.hit = 1</script>",
        "test_two",
        "return 2",
    ] {
        assert!(text.contains(part), "the iteration lacks {part}: {text}");
    }
    unharmed(&browser).await;
    wrong.extend(looked_at(&browser, "own-iteration").await);
    open(&browser, &product, &format!("{iteration}?diff=split")).await;
    wrong.extend(looked_at(&browser, "own-iteration-split").await);
    open(&browser, &product, &format!("{iteration}/programmer")).await;
    assert!(browser.text("main").await.contains("sleep 3"));
    unharmed(&browser).await;
    wrong.extend(looked_at(&browser, "conversation").await);
    assert_eq!(wrong, Vec::<String>::new());

    open(&browser, &product, &page).await;
    // It asks first.
    browser
        .eval("[...document.querySelectorAll('.steer-more')].find(d => d.innerText.startsWith('Publish')).open = true")
        .await;
    press(&browser, "Publish the run").await;
    browser.hydrated().await;
    open(&visitor, &product, "/?split=tiny").await;
    assert!(visitor.text("main").await.contains(MODEL));
    unharmed(&visitor).await;

    // An administrator has its tests run again, and the page follows.
    equip(&admin).await;
    open(&admin, &product, &page).await;
    admin
        .eval("[...document.querySelectorAll('.steer-more')].find(d => d.innerText.startsWith('Verify')).open = true")
        .await;
    press(&admin, "Verify it").await;
    says(&admin, "its tests ran again", "Verification done: ").await;
    let wrong = looked_at(&admin, "verified-run").await;
    assert_eq!(wrong, Vec::<String>::new());

    // An operator: what a clean-up would free, counted from the first page.
    open(&admin, &product, "/").await;
    let mut clicks = Clicks::of(&admin);
    clicks
        .click(
            ".account-menu summary",
            ".account-menu[open] a[href='/disk']",
        )
        .await;
    clicks
        .click(".account-menu a[href='/disk']", "#clean-up-title")
        .await;
    clicks
        .click("form[action='/disk'] button", "main [role=status]")
        .await;
    assert_eq!(clicks.count, 3);
    for browser in [visitor, browser, admin] {
        browser.close().await;
    }

    // A stopped server has sent its last span.
    product.stop();
    traced(&collector, &run);
}

/// The traces lead from the form to the evolution, and from there by its steps to
/// the model; they hold no conversation and no key.
fn traced(collector: &Collector, run: &str) {
    let spans = collector.spans();
    let is = |key: &'static str, value: &str| {
        let value = Some(value.to_owned());
        move |span: &&Span| attribute(span, key) == value
    };
    let mut submitted = spans.iter().filter(is("path", "/runs/new"));
    assert!(submitted.any(|span| is("method", "POST")(&span)));
    let evolutions: Vec<_> = spans.iter().filter(|s| s.name == "evolution").collect();
    assert!(!evolutions.is_empty());
    assert!(evolutions.iter().all(is("run", run)), "{evolutions:#?}");

    let asked: Vec<_> = spans.iter().filter(|s| s.name == "ask the model").collect();
    for role in ["architect", "programmer"] {
        let of_role = |span: &&&Span| within(&spans, span) == [role, "evolution"];
        let mut answered = asked.iter().filter(of_role).filter(|span| {
            attribute(span, "gen_ai.request.model").as_deref() == Some("scripted-1")
                && attribute(span, "http.response.status_code").as_deref() == Some("200")
                && attribute(span, "gen_ai.usage.output_tokens").is_some()
        });
        assert!(answered.next().is_some(), "{role}: {asked:#?}");
    }
    let tested = spans.iter().any(|span| {
        let around = within(&spans, span);
        span.name == "wait for a command" && around.iter().rev().take(2).eq(["evolution", "test"])
    });
    assert!(tested, "no command of a test step");
    let all = format!("{spans:?}");
    for secret in [KEY, "two() gives", "sleep 3"] {
        assert!(!all.contains(secret), "a span holds {secret}");
    }
}
