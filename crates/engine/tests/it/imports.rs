//! A failed import names what is wrong and where, and leaves the rest as it
//! was.

use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_base::digest::sha256_hex;
use swe_ci_core::finding::Unranked;
use swe_ci_core::task::TaskId;
use swe_ci_core::wall::Wall;
use swe_ci_engine::testing::{self, TinyTask};
use swe_ci_engine::{Config, Engine, Error, ImportOptions, ImportSource, PageRequest, TasksWanted};
use swe_ci_testing::hub::{self, ScriptedHub};
use swe_ci_views::account::Visibility;
use swe_ci_views::preparation::TaskFinding;
use swe_ci_views::view::TaskState;

use crate::fixture::{self, Fixture, SPLIT};

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
            task("no-checkout"),
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
    let archive = data.join("no-checkout/code.zip");
    swe_ci_base::files::zip_folder(&data.join("good"), &archive).unwrap();
    for (name, content) in [("no-image", None), ("corrupt-image", Some("no gzip"))] {
        let image = data.join(name).join("image.tar.gz");
        std::fs::remove_file(&image).unwrap();
        if let Some(content) = content {
            std::fs::write(&image, content).unwrap();
        }
    }
    let (imported, said) = fixture.import_written().await;
    let imported = imported.unwrap();
    let results = said.iter().filter(|line| line.starts_with('['));
    assert_eq!(results.count(), 7);
    for step in ["code and image", "tests on the base"] {
        assert!(said.contains(&format!("good: {step}")), "{said:?}");
    }
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
    check("no-checkout", "is not a git checkout");
    let unpacked = std::fs::read_dir(fixture.folder.path().join("data/tasks/no-checkout"));
    assert_eq!(unpacked.unwrap().count(), 0, "nothing uses it");
    check("no-image", "image.tar.gz: No such file");
    check("corrupt-image", "cannot load");
    check(
        "broken-oracle",
        "do not run on the target code: pytest could not load tests/test_a.py: ModuleNotFoundError in tests/test_a.py, line 1",
    );
    check("nothing-passes", "the target passes no test");

    // Repaired and imported again: only the bad tasks are prepared again.
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

    // All tasks share one image, so its layers count once.
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
    std::fs::write(
        &csv,
        format!("{text}../evil,0123456,0123456,1,x,platform\n"),
    )
    .unwrap();
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
            .tasks(&TasksWanted::default(), &PageRequest::default())
            .await
            .unwrap()
            .page
            .items
            .is_empty()
    );
    assert!(fixture.engine.splits().await.unwrap().is_empty());
    let missing = fixture
        .engine
        .import(
            fixture.dataset().as_path(),
            "other",
            &testing::once(),
            &|_| {},
        )
        .await
        .unwrap_err();
    assert!(missing.to_string().contains("other.csv"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_needs_of_a_run_are_checked() {
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

/// One of its tests has another name every time.
fn flaky_task(name: &'static str) -> TinyTask<'static> {
    const TARGET: &[(&str, &str)] = &[
        ("a.py", "def f(): return 1\n"),
        (
            "tests/test_a.py",
            "import a, time, pytest\n\
             RUN = time.time_ns()\n\
             def test_f(): assert a.f() == 1\n\
             @pytest.mark.parametrize('n', [RUN])\n\
             def test_named_by_the_clock(n): pass\n\
             def test_sure(): pass\n",
        ),
    ];
    TinyTask {
        name,
        versions: &[BASE, TARGET],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn flaky_tests_are_not_part_of_the_suite() {
    let fixture = Fixture::new().await;
    fixture.write(&[flaky_task("moody"), task("steady")]).await;
    let options = ImportOptions {
        parallel: Some(2),
        ..ImportOptions::default()
    };
    let (imported, said) = fixture.import_with(&options).await;
    assert_eq!(imported.unwrap().tasks.len(), 2);
    assert!(
        said.iter()
            .any(|line| line.contains("tests of changing names")),
        "{said:?}"
    );
    let found = async |name: &str| {
        let id = TaskId::new(name).unwrap();
        fixture.engine.task(&id).await.unwrap()
    };
    let moody = found("moody").await;
    let names: Vec<&str> = moody
        .tests
        .iter()
        .map(|test| test.node_id.as_str())
        .collect();
    assert_eq!(
        names,
        ["tests/test_a.py::test_f", "tests/test_a.py::test_sure"]
    );
    assert_eq!(moody.preparation.suite_seconds.len(), 5);
    let titles = moody.preparation.findings.iter().map(TaskFinding::title);
    assert_eq!(titles.collect::<Vec<_>>(), ["tests of changing names"]);
    assert_eq!(moody.summary.findings, 1);
    let steady = found("steady").await;
    assert_eq!(steady.preparation.findings, []);

    // Ready tasks are left as they are, unless requested otherwise.
    let only = |again| ImportOptions {
        only: vec![TaskId::new("steady").unwrap()],
        again,
        ..testing::once()
    };
    for (again, runs) in [(false, 5), (true, 1)] {
        let (imported, _) = fixture.import_with(&only(again)).await;
        assert_eq!(imported.unwrap().tasks.len(), 1);
        let prepared = found("steady").await.preparation;
        assert_eq!(prepared.suite_seconds.len(), runs, "again: {again}");
    }
    let stranger = ImportOptions {
        only: vec![TaskId::new("stranger").unwrap()],
        ..testing::once()
    };
    let error = fixture.import_with(&stranger).await.0.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("tiny.csv lists no task `stranger`"),
        "{error}"
    );
}

/// No suite is refused that passes plainly.
#[tokio::test(flavor = "multi_thread")]
async fn walls_that_a_suite_does_not_bear_are_left_away() {
    let fixture = Fixture::new().await;
    // Replacing functions of pytest is none of them.
    let conftest = "import _pytest.runner, pytest\n\
        call = _pytest.runner.call_and_report\n\
        _pytest.runner.call_and_report = lambda *a, **k: call(*a, **k)\n\
        @pytest.fixture(autouse=True, params=['x', 'y'])\n\
        def backend(request): return request.param\n";
    let tests = "import os, a\n\
        def test_f(): assert a.f() == 1\n\
        def test_name(): assert '::test_name[' in os.environ['PYTEST_CURRENT_TEST']\n";
    let with = |code| {
        let files = [("a.py", code), ("tests/conftest.py", conftest)];
        [files[0], files[1], ("tests/test_a.py", tests)]
    };
    let (base, target) = (with("def f(): return 0\n"), with("def f(): return 1\n"));
    let task = TinyTask {
        name: "odd",
        versions: &[&base, &target],
    };
    fixture.import(&[task]).await.unwrap();
    let task = fixture.engine.task(&TaskId::new("odd").unwrap()).await;
    let task = task.unwrap();
    let summary = task.summary;
    assert_eq!(summary.state, TaskState::Ready);
    assert_eq!((summary.base_passed, summary.target_passed), (2, 4));
    let left_away = Vec::from_iter(summary.left_away);
    assert_eq!(left_away, [Wall::Names]);
    let findings = task.preparation.findings.iter();
    let texts: Vec<String> = findings.map(TaskFinding::text).collect();
    let part =
        "without hiding the current test's name, because 2 tests come out otherwise behind it";
    assert!(texts.iter().any(|text| text.contains(part)), "{texts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_comes_from_a_hub_once() {
    let there = Fixture::new().await;
    there.write(&[task("one"), task("two")]).await;
    let hub = ScriptedHub::serve(&there.dataset(), Some("hf_secret"))
        .await
        .unwrap();
    let archive = "data/one/image.tar.gz";
    hub.cut(archive, 1);
    let data = there.folder.path().join("elsewhere");
    let config = |token: &str| Config {
        hub_endpoint: Some(hub.url.clone()),
        hub_token: Some(token.into()),
        ..testing::config(data.clone(), 1)
    };
    let from: ImportSource = "hf:tiny/set".parse().unwrap();
    let import = async |token: &str, split: &str| {
        let engine = Engine::open(config(token)).await.unwrap();
        let imported = engine
            .import(from.clone(), split, &testing::once(), &|_| {})
            .await;
        (engine, imported)
    };
    let (_, refused) = import("hf_wrong", SPLIT).await;
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("HF_TOKEN") && !text.contains("hf_wrong"),
        "{text}"
    );
    let (_, unknown) = import("hf_secret", "none").await;
    let text = unknown.unwrap_err().to_string();
    assert!(text.contains("no split `none`; there are: tiny"), "{text}");
    let stranger = ImportOptions {
        only: vec![TaskId::new("stranger").unwrap()],
        ..testing::once()
    };
    let engine = Engine::open(config("hf_secret")).await.unwrap();
    let error = engine.import(from.clone(), SPLIT, &stranger, &|_| {}).await;
    let text = error.unwrap_err().to_string();
    assert!(text.contains("lists no task `stranger`"), "{text}");
    drop(engine);

    // Administrators see what it takes before they start it in the background.
    let engine = Engine::open(config("hf_secret")).await.unwrap();
    let room = engine.import_room("tiny/set", SPLIT).await.unwrap();
    let data_files = walk(&there.dataset().join("data"));
    assert_eq!((room.tasks, room.bytes), (2, data_files));
    engine.start_import("tiny/set", SPLIT).await.unwrap();
    let again = engine.start_import("tiny/set", SPLIT).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    let work = async || engine.import_work().await.unwrap();
    let result = fixture::done_by_a_worker(&engine, work).await;
    assert_eq!(result, "2 of 2 tasks can be run");
    assert_eq!(
        engine.import_room("tiny/set", SPLIT).await.unwrap().bytes,
        0
    );
    drop(engine);

    let (engine, imported) = import("hf_secret", SPLIT).await;
    let imported = imported.unwrap();
    assert_eq!((imported.tasks.len(), imported.missing.len()), (2, 0));
    assert!(
        imported
            .tasks
            .iter()
            .all(|task| task.state == TaskState::Ready)
    );
    let split = engine.split(SPLIT).await.unwrap();
    let origin = split.origin();
    assert!(
        origin.contains("tiny/set") && origin.contains(hub::COMMIT),
        "{origin}"
    );
    // The interrupted download was resumed, and nothing was fetched twice.
    let files = walk(&there.dataset());
    assert_eq!(hub.sent(), files);
    let (_, again) = import("hf_secret", SPLIT).await;
    assert_eq!(again.unwrap().tasks.len(), 2);
    assert_eq!(hub.sent(), files);
}

/// Bytes of all files below a folder, except those outside the dataset.
fn walk(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let size = |entry: std::fs::DirEntry| match entry.path().is_dir() {
        true => walk(&entry.path()),
        false => entry.metadata().unwrap().len(),
    };
    entries.map(size).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_was_given_back_comes_back() {
    let fixture = Fixture::new().await;
    fixture.write(&[task("one")]).await;
    // An image of its own, so that no other test misses it; and the only one that the
    // data folder knows.
    let record = fixture.folder.path().join("data/images");
    std::fs::remove_dir_all(&record).unwrap();
    let data = fixture.dataset().join("data/one");
    let image = testing::own_image(&fixture.engine, &data).await.unwrap();
    fixture.import_written().await.0.unwrap();
    let engine = &fixture.engine;
    assert_eq!(
        engine.keep_within(0).await.unwrap(),
        [],
        "it was used just now"
    );
    let make_old = || {
        for entry in std::fs::read_dir(&record).unwrap().map(Result::unwrap) {
            let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
            let file = std::fs::File::options()
                .write(true)
                .open(entry.path())
                .unwrap();
            file.set_modified(long_ago).unwrap();
        }
    };
    make_old();
    assert_eq!(engine.keep_within(u64::MAX).await.unwrap(), []);
    let plan = engine.eviction_plan(0).await.unwrap();
    assert_eq!(plan.evicted.len(), 1);
    assert_eq!(plan.evicted[0].name, image);
    assert!(plan.freed() > 0 && plan.freed() <= plan.cached_bytes);
    assert_eq!(engine.disk_use().await.unwrap().images.unwrap().missing, 0);
    assert_eq!(engine.keep_within(0).await.unwrap(), plan.evicted);
    assert_eq!(engine.disk_use().await.unwrap().images.unwrap().missing, 1);
    let run = fixture.replay().await;
    assert_eq!(
        run.evolution_list[0].ending,
        Some(swe_ci_core::step::Ending::Solved)
    );
    assert_eq!(engine.disk_use().await.unwrap().images.unwrap().missing, 0);

    // The images of finished runs are the ones that nothing else uses, and a
    // check of the run needs them.
    make_old();
    engine.start_eviction(0).await.unwrap();
    let result = fixture::done(async || engine.eviction().unwrap()).await;
    assert!(result.starts_with("1 evicted, "), "{result}");
    let log = engine.audit(&PageRequest::default(), Some("disk")).await;
    assert_eq!(log.unwrap().items[0].detail, result);
    let id = &run.summary.run_id;
    let verified = engine.verify(id, None, 1, &|_| ()).await.unwrap();
    assert!(verified.holds(), "{verified:?}");
    assert_eq!(engine.disk_use().await.unwrap().images.unwrap().missing, 0);

    // An export loads it too.
    make_old();
    assert_eq!(engine.keep_within(0).await.unwrap().len(), 1);
    let exported = fixture.folder.path().join("exported");
    engine.export(SPLIT, &exported, &|_| ()).await.unwrap();
    // Elsewhere it is the same dataset.
    let there = Fixture::new().await;
    let options = testing::once();
    let imported = there
        .engine
        .import(exported.as_path(), SPLIT, &options, &|_| ());
    imported.await.unwrap();
    let digest = async |engine: &Engine| engine.split(SPLIT).await.unwrap().digest;
    assert_eq!(digest(&there.engine).await, digest(engine).await);

    // Without any archive left it could not return, so it stays.
    make_old();
    std::fs::remove_dir_all(&data).unwrap();
    for entry in std::fs::read_dir(&record).unwrap().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|end| end == "gz") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    assert_eq!(engine.keep_within(0).await.unwrap(), []);
    fixture.remove_image(&image);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_import_takes_nothing_from_earlier_runs() {
    let fixture = Fixture::new().await;
    fixture.import(&[task("one")]).await.unwrap();
    let id = fixture.replay().await.summary.run_id;
    let engine = &fixture.engine;
    let read = async || {
        let run = engine.run(&id).await.unwrap();
        let evolution = &run.evolution_list[0];
        let change = engine
            .code_change(&evolution.evolution_id, 1)
            .await
            .unwrap();
        let verified = engine.verify(&id, None, 1, &|_| ()).await.unwrap();
        assert!(verified.holds(), "{verified:?}");
        (fixture::golden(evolution), format!("{change:?}"))
    };
    let before = read().await;
    assert!(before.1.starts_with("Known"), "{before:?}");

    // No commit of the first history is in this one.
    let more: &[(&str, &str)] = &[("a.py", "def f(): return 2\n"), BASE[1]];
    let other = TinyTask {
        name: "one",
        versions: &[more, TARGET],
    };
    fixture.write(&[other]).await;
    let source = fixture.dataset();
    std::fs::copy(
        source.join("metadata").join(format!("{SPLIT}.csv")),
        source.join("metadata/other.csv"),
    )
    .unwrap();
    let of_split = async |split: &str| {
        let wanted = TasksWanted {
            split: Some(split.into()),
            ..TasksWanted::default()
        };
        let found = engine.tasks(&wanted, &PageRequest::default()).await;
        found.unwrap().page.items.remove(0)
    };
    let listed = of_split(SPLIT).await;
    let options = testing::once();
    let imported = engine.import(source.as_path(), "other", &options, &|_| ());
    imported.await.unwrap();
    assert_eq!(of_split(SPLIT).await, listed, "the other split's task");
    let unranked = async || engine.run(&id).await.unwrap().unranked;
    assert_eq!(unranked().await, None);
    let detail = engine.task(&listed.task_id).await.unwrap();
    assert_eq!(detail.splits, ["other"]);
    assert_eq!(detail.other_revisions[0].base_sha, listed.base_sha);
    assert_eq!(read().await, before);

    // Into the same split.
    let (imported, _) = fixture.import_written().await;
    imported.unwrap();
    assert_ne!(of_split(SPLIT).await, listed);
    let tasks = 1;
    assert_eq!(unranked().await, Some(Unranked::OtherRevisions { tasks }));
    assert_eq!(read().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_of_another_processor_is_named_as_such() {
    let fixture = Fixture::new().await;
    fixture.write(&[task("good"), task("foreign")]).await;
    let image = fixture.dataset().join("data/foreign/image.tar.gz");
    std::fs::remove_file(&image).unwrap();
    std::fs::write(&image, image_of("s390x")).unwrap();
    let (imported, said) = fixture.import_written().await;
    let imported = imported.unwrap();
    let ready = imported
        .tasks
        .iter()
        .filter(|task| task.state == TaskState::Ready);
    assert_eq!(ready.count(), 1, "the import goes on: {said:?}");
    let why = "foreign: unusable: its image is for the processor s390x, the container engine's is ";
    assert!(said.iter().any(|line| line.contains(why)), "{said:?}");
    let foreign = imported
        .tasks
        .iter()
        .find(|task| task.task_id.as_str() == "foreign");
    let foreign = fixture
        .engine
        .task(&foreign.unwrap().task_id)
        .await
        .unwrap();
    fixture.remove_image(&foreign.image_digest);
}

/// An archive of an image for a processor, whose shell no processor executes.
fn image_of(processor: &str) -> Vec<u8> {
    let mut layer = CodeTree::default();
    let shell = Entry::File {
        bytes: b"\x7fELF, but of another machine".to_vec().into(),
        executable: true,
    };
    layer.insert(std::path::Path::new("bin/sh"), shell).unwrap();
    let layer = layer.to_tar("").unwrap();
    let config = serde_json::json!({
        "architecture": processor,
        "os": "linux",
        "config": { "Env": ["PATH=/bin"] },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", sha256_hex(&layer))] },
    });
    let manifest = serde_json::json!([{ "Config": "config.json", "Layers": ["a/layer.tar"] }]);
    let mut archive = CodeTree::default();
    archive.insert_file("a/layer.tar", layer);
    archive.insert_file("config.json", config.to_string());
    archive.insert_file("manifest.json", manifest.to_string());
    archive.to_tar("").unwrap()
}
