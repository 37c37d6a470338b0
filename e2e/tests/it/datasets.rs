//! A split made from a repository, from the plan to its page, and its tasks
//! looked through.

use swe_ci_engine::testing::commit_history;

use crate::accounts::{first_link, make_account, press};
use crate::axe::equip;
use crate::browser::{Browser, DESK};
use crate::journey::{looked_at, open, product};
use crate::product::PATIENCE;

const TESTS: &str = "import lib\n\ndef test_old(): assert lib.old() == 1\n\ndef test_new(): assert lib.new() == 2\n";

/// A repository whose two commits are worth a task.
fn repository(folder: &std::path::Path) {
    let filler: String = (0..30).map(|n| format!("VALUE_{n} = {n}\n")).collect();
    let files = |source: String| {
        let files = [
            (
                "pyproject.toml",
                "[project]\nname = 'lib'\nversion = '1'\n".to_owned(),
            ),
            ("lib.py", source),
            ("tests/test_lib.py", TESTS.to_owned()),
        ];
        files.map(|(path, text)| (path.to_owned(), text)).to_vec()
    };
    let old = "def old(): return 1\n";
    let versions = [
        (1_700_000_000, files(old.to_owned())),
        (
            1_710_000_000,
            files(format!("{old}{filler}def new(): return 2\n")),
        ),
    ];
    commit_history(folder, &versions).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: builds environments"]
async fn a_plan_leads_to_a_split() {
    let product = product().await;
    let repository_folder = product.folder.path().join("lib");
    repository(&repository_folder);
    let browser = Browser::open(DESK).await;
    equip(&browser).await;
    browser.go(&first_link(&product)).await;
    browser.hydrated().await;
    make_account(&browser, "root").await;

    open(&browser, &product, "/datasets/new").await;
    let mut wrong = looked_at(&browser, "new-dataset").await;
    a_mistake_is_pointed_at(&browser).await;
    let plan = format!(
        "split = 'mine'\\n[[source]]\\ngit = '{}'\\nbranch = 'main'\\n[collect]\\nmin_age_years = 0.1\\nlicences = 'any'\\n\
         [spans]\\nmin_modified_lines = 10\\nmin_source_lines = 10\\n[filter]\\nmin_gap = 1\\nrepeats = 1",
        repository_folder.display()
    );
    browser
        .eval(&format!(
            "document.getElementById('field-plan').value = \"{plan}\""
        ))
        .await;
    press(&browser, "Begin").await;
    browser.hydrated().await;
    // The page follows by itself.
    browser.eval("window.stayed = true").await;
    browser
        .until_within(
            5 * PATIENCE,
            "the split is there",
            "return window.stayed && document.querySelector('main').innerText.includes('Its split can be run.')",
        )
        .await;
    wrong.extend(looked_at(&browser, "curation").await);
    open(&browser, &product, "/datasets/mine").await;
    assert_eq!(browser.text("h1").await, "mine");
    wrong.extend(looked_at(&browser, "dataset").await);
    open(&browser, &product, "/datasets").await;
    wrong.extend(looked_at(&browser, "datasets").await);
    open(&browser, &product, "/disk").await;
    wrong.extend(looked_at(&browser, "disk").await);
    open(&browser, &product, "/workers").await;
    let text = browser.text("main").await;
    assert!(text.contains("working"), "{text}");
    wrong.extend(looked_at(&browser, "workers").await);
    // The images were used just now, so all of them stay.
    open(&browser, &product, "/disk?keep=0B").await;
    let text = browser.text("main").await;
    assert!(text.contains("Nothing would go: "), "{text}");
    open(&browser, &product, "/datasets/import").await;
    wrong.extend(looked_at(&browser, "import").await);

    // Two splits have one task each: narrowed by what is typed.
    open(&browser, &product, "/tasks").await;
    wrong.extend(looked_at(&browser, "tasks").await);
    // In the browser alone: ordered, and all of them again.
    browser.eval("window.stayed = true").await;
    browser
        .eval("document.querySelector('a.sort[href*=lines]').click()")
        .await;
    let ordered = "return window.stayed && document.querySelector('tbody th a').innerText.startsWith('lib__') && document.querySelector('[aria-sort=descending]') !== null";
    browser.until("the longest comes first", ordered).await;
    browser
        .eval("document.querySelector('nav[aria-label=Main] a[href=\"/runs\"]').click()")
        .await;
    browser
        .until("the runs come", "return location.pathname === '/runs'")
        .await;
    browser
        .eval("document.querySelector('nav[aria-label=Main] a[href=\"/tasks\"]').click()")
        .await;
    let back = "return location.pathname === '/tasks' && document.querySelectorAll('tbody tr').length === 2";
    browser.until("the tasks come back", back).await;
    browser
        .eval("document.querySelector('.narrowing').open = true")
        .await;
    wrong.extend(looked_at(&browser, "tasks-narrowing").await);
    browser
        .eval("document.querySelector('[name=q]').value = 'lib__'")
        .await;
    press(&browser, "Show").await;
    browser.hydrated().await;
    let rows = browser
        .eval("return document.querySelectorAll('tbody tr').length")
        .await;
    assert_eq!(rows, 1);
    let link = "document.querySelector('tbody th a').click()";
    browser.eval(link).await;
    browser
        .until(
            "the task comes",
            "return location.pathname.startsWith('/tasks/lib__')",
        )
        .await;
    browser.hydrated().await;
    wrong.extend(looked_at(&browser, "task-prepared").await);
    // Chromium drops requests when an interface of the machine comes or goes, as
    // those of the containers that install packages do. The page asked again.
    let complaints = browser.complaints().await.into_iter();
    wrong.extend(complaints.filter(|text| !text.contains("net::ERR_NETWORK_CHANGED")));
    browser.close().await;
    assert_eq!(wrong, Vec::<String>::new());
}

/// The message of the parser keeps its lines, in letters of one width: its caret
/// stands below the mistake.
async fn a_mistake_is_pointed_at(browser: &Browser) {
    browser
        .eval("document.getElementById('field-plan').value = \"split = 'mine'\\nnonsense = =\"")
        .await;
    press(browser, "Begin").await;
    browser.hydrated().await;
    let problem = browser.text("#field-plan-problem").await;
    let lines: Vec<&str> = problem.lines().collect();
    let mistake = lines.iter().position(|line| line.contains("nonsense = ="));
    let mistake = mistake.unwrap_or_else(|| panic!("the line is not shown: {problem}"));
    let caret = lines.get(mistake + 1).and_then(|line| line.find('^'));
    assert_eq!(caret, lines[mistake].rfind('='), "{problem}");
    let font = "return getComputedStyle(document.querySelector('#field-plan-problem')).fontFamily";
    let font = browser.eval(font).await;
    assert!(font.as_str().unwrap().contains("mono"), "{font}");
    // The console says that the answer was a refusal, and nothing else.
    let complaints = browser.complaints().await;
    let refusal =
        "/datasets/new - Failed to load resource: the server responded with a status of 4";
    let of_refusal = |complaint: &String| complaint.contains(refusal);
    assert!(complaints.iter().all(of_refusal), "{complaints:?}");
}
