//! What cannot be imported says so, names what and where, and leaves the rest
//! as it was.

use swe_ci_core::account::Visibility;
use swe_ci_core::view::TaskState;
use swe_ci_engine::testing::TinyTask;
use swe_ci_engine::{Error, PageRequest};

use crate::fixture::{Fixture, SPLIT};

const BASE: &[(&str, &str)] = &[
    ("a.py", "def f(): return 0\n"),
    (
        "tests/test_a.py",
        "import a\ndef test_f(): assert a.f() == 1\n",
    ),
];
const TARGET: &[(&str, &str)] = &[
    ("a.py", "def f(): return 1\n"),
    (
        "tests/test_a.py",
        "import a\ndef test_f(): assert a.f() == 1\n",
    ),
];

fn task(name: &str) -> TinyTask<'_> {
    TinyTask {
        name,
        versions: &[BASE, TARGET],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_task_does_not_stop_the_rest() {
    let fixture = Fixture::new().await;
    let broken_tests: &[(&str, &str)] = &[
        ("a.py", ""),
        ("tests/test_a.py", "import nothing_of_that_name\n"),
    ];
    let failing: &[(&str, &str)] = &[
        ("a.py", ""),
        ("tests/test_a.py", "def test_f(): assert False\n"),
    ];
    fixture
        .write(&[
            task("good"),
            task("corrupt-zip"),
            task("no-image"),
            task("corrupt-image"),
            TinyTask {
                name: "broken-oracle",
                versions: &[BASE, broken_tests],
            },
            TinyTask {
                name: "nothing-passes",
                versions: &[BASE, failing],
            },
        ])
        .await;
    let data = fixture.dataset().join("data");
    std::fs::write(data.join("corrupt-zip/code.zip"), "PK no zip").unwrap();
    for (name, content) in [("no-image", None), ("corrupt-image", Some("no gzip"))] {
        let image = data.join(name).join("image.tar.gz");
        std::fs::remove_file(&image).unwrap();
        if let Some(content) = content {
            std::fs::write(&image, content).unwrap();
        }
    }
    let (imported, said) = fixture.import_written().await;
    let imported = imported.unwrap();
    assert_eq!(said.len(), 6);
    let reason = |name: &str| match &imported
        .tasks
        .iter()
        .find(|t| t.task_id.as_str() == name)
        .unwrap()
        .state
    {
        TaskState::Ready => "ready".to_owned(),
        TaskState::Unusable { reason } => reason.clone(),
    };
    let check = |name: &str, expect: &str| {
        assert!(reason(name).contains(expect), "{name}: {}", reason(name));
    };
    check("good", "ready");
    check("corrupt-zip", "code.zip: it is not a zip archive");
    check("no-image", "image.tar.gz: No such file");
    check("corrupt-image", "cannot load");
    check(
        "broken-oracle",
        "do not run on the target code: pytest ended with exit code 2",
    );
    check("nothing-passes", "the target passes no test");

    // Mended and imported again: only what was bad is looked at again.
    std::fs::copy(
        data.join("good/image.tar.gz"),
        data.join("no-image/image.tar.gz"),
    )
    .unwrap();
    let (again, _) = fixture.import_written().await;
    let ready = again
        .unwrap()
        .tasks
        .iter()
        .filter(|t| t.state == TaskState::Ready)
        .count();
    assert_eq!(ready, 2);

    // All of them have the one image, whose layers are told apart.
    let disk = fixture.engine.disk_use().await.unwrap();
    let images = disk.images.unwrap();
    assert_eq!((images.images, images.missing), (1, 0));
    assert!(images.bytes > 1 << 20 && images.bytes == images.apart_bytes);
    let tasks = disk.parts.iter().find(|part| part.name == "tasks").unwrap();
    assert!(tasks.files > 0 && tasks.bytes > 0, "{tasks:?}");
    assert!(disk.free_bytes.is_some_and(|free| free > 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_metadata_file_imports_nothing() {
    let fixture = Fixture::new().await;
    fixture.write(&[task("good")]).await;
    let csv = fixture
        .dataset()
        .join("metadata")
        .join(format!("{SPLIT}.csv"));
    let text = std::fs::read_to_string(&csv).unwrap();
    std::fs::write(&csv, format!("{text}../evil,0123456,0123456,1,x\n")).unwrap();
    let (imported, said) = fixture.import_written().await;
    let error = imported.unwrap_err();
    assert!(matches!(error, Error::Invalid(_)));
    let text = error.to_string();
    assert!(
        text.contains("tiny.csv: line 3, column `task_id`: `../evil`"),
        "{text}"
    );
    assert!(said.is_empty());
    assert!(
        fixture
            .engine
            .tasks(None, &PageRequest::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(fixture.engine.splits().await.unwrap().is_empty());
    let missing = fixture
        .engine
        .import(&fixture.dataset(), "other", &|_| {})
        .await
        .unwrap_err();
    assert!(missing.to_string().contains("other.csv"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_needs_is_checked() {
    let fixture = Fixture::new().await;
    let config = swe_ci_core::run::RunConfig::human("none");
    let refused = async |config| {
        let submitted = fixture.engine.submit(config, Visibility::Public).await;
        submitted.unwrap_err().to_string()
    };
    let unknown = refused(config.clone()).await;
    assert!(unknown.contains("`none`"), "{unknown}");
    let mut bad = config;
    bad.samples = 0;
    let both = refused(bad).await;
    assert!(
        both.contains("samples: 0 is not between 1 and 100"),
        "{both}"
    );
}
