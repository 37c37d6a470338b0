//! Code style measured by the real Pylint and radon, in tasks' images.

use swe_ci_engine::testing::TinyTask;
use swe_ci_engine::{Error, StylesMeasured};
use swe_ci_views::style::{CodeVersion, StyleMetric};

use crate::fixture::{Fixture, SPLIT};

const TESTS: &str = "import tiny\n\n\ndef test_it():\n    assert tiny.it() == 2\n";
const BASE: &str = "\"\"\"Tiny.\"\"\"\n\n\ndef it():\n    \"\"\"It.\"\"\"\n    return 1\n";
/// Works, but is harder to read.
const CLUMSY: &str = "import os\n\n\ndef it(a=[]):\n    if a: return 3\n    return 2\n";
const NEAT: &str = "\"\"\"Tiny.\"\"\"\n\n\ndef it():\n    \"\"\"It.\"\"\"\n    return 2\n";

/// No test imports it.
const UNPARSABLE: &str = "def (:\n";

/// Enough clean code that one mistake does not cost the whole score.
const VALUES: &str = "\"\"\"Values.\"\"\"\n\nONE = 1\nTWO = 2\nTHREE = 3\nFOUR = 4\nFIVE = 5\nSIX = 6\nSEVEN = 7\nEIGHT = 8\nNINE = 9\nTEN = 10\n";

fn versions(code: &'static str) -> [(&'static str, &'static str); 5] {
    [
        ("tiny.py", code),
        ("values.py", VALUES),
        ("odd.py", UNPARSABLE),
        ("tests/test_tiny.py", TESTS),
        ("tests/helper.py", "x=1\n"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_solved_evolution_is_measured_beside_the_oracle() {
    let fixture = Fixture::keeping(&["layers"]).await;
    let (base, clumsy, neat) = (versions(BASE), versions(CLUMSY), versions(NEAT));
    fixture
        .import(&[TinyTask {
            name: "tidied",
            versions: &[&base, &clumsy, &neat],
        }])
        .await
        .unwrap();
    let engine = &fixture.engine;
    let run = fixture.replay().await;
    let id = run.evolution_list[0].evolution_id.clone();
    assert!(engine.style(&id).await.unwrap().is_none());
    let files = engine.style_files(&id, CodeVersion::Base).await;
    assert!(matches!(files, Err(Error::NotFound { .. })), "{files:?}");

    let measured = engine.measure_styles(None, &|_| {}).await.unwrap();
    assert_eq!((measured.measured, measured.failed), (1, vec![]));
    let style = engine.style(&id).await.unwrap().unwrap().unwrap();
    let described: Vec<(CodeVersion, u32, u32)> = style
        .versions
        .iter()
        .map(|v| (v.version, v.style.files, v.lines.modified()))
        .collect();
    assert_eq!(
        described[..2],
        [(CodeVersion::Base, 3, 0), (CodeVersion::Oracle, 3, 2)]
    );
    // The clumsy version solves it, and it ends there.
    let last = style.last().unwrap();
    let of = |version| &style.version(version).unwrap().style;
    let (base, oracle) = (of(CodeVersion::Base), of(CodeVersion::Oracle));
    assert_eq!((base.unparsed, oracle.unparsed), (1, 1));
    assert_eq!(base.point(), oracle.point());
    assert!(base.pylint.is_some() && base.mi.is_some());
    assert_eq!(style.tools.radon, "6.0.1");
    assert_eq!(style.tools.griffe, "2.4.1");
    // A branch more than people wrote, an import that nothing uses, and nothing
    // that breaks users or needs another package.
    let [of_oracle, of_last] = [CodeVersion::Oracle, last.version].map(|version| {
        let version = style.version(version).unwrap();
        assert_eq!(version.problems, Vec::<String>::new());
        version.erosion
    });
    let cognitive = [of_oracle, of_last].map(|erosion| erosion.cognitive_complexity);
    assert_eq!(cognitive, [Some(0.0), Some(1.0)]);
    assert!(of_last.unused_code > of_oracle.unused_code, "{of_last:?}");
    assert_eq!(of_last.broken_names, Some(0.0));
    assert_eq!(of_last.changed_dependencies, Some(0.0));
    assert_eq!(of_last.duplicated_lines, Some(0.0));
    // One test was gained.
    let lines = [of_oracle, of_last].map(|erosion| erosion.lines_per_test);
    assert_eq!(lines, [Some(1.0), Some(f64::from(last.lines.added))]);

    let leaderboard = engine.leaderboard_data(SPLIT).await.unwrap();
    let beside = leaderboard.entries[0].tasks[0].samples[0]
        .style
        .clone()
        .unwrap();
    assert_eq!(beside.own_lines, last.lines.modified());
    assert_eq!(
        (beside.own.erosion, beside.oracle.erosion),
        (of_last, of_oracle)
    );
    let against = beside.against(StyleMetric::Pylint).unwrap();
    let shown = engine.style_beside(&id).await.unwrap();
    assert!(against.is_lt(), "{style:#?}");
    assert_eq!((shown.files.len(), shown.more_files), (1, 0));
    assert_eq!(shown.files[0].path, "tiny.py");
    let messages = [&shown.files[0].own, &shown.files[0].oracle]
        .map(|file| file.as_ref().unwrap().pylint.unwrap().messages());
    assert!(messages[0] > messages[1]);
    let [own, oracle] = [&shown.files[0].own_lines, &shown.files[0].oracle_lines]
        .map(|lines| lines.as_ref().map(|lines| (lines.added, lines.deleted)));
    assert_eq!(own, Some((last.lines.added, last.lines.deleted)));
    assert_eq!(oracle, Some((1, 1)));
    assert_eq!(shown.diff.unwrap().changed(), 1);
    let oracle = engine.style_files(&id, CodeVersion::Oracle).await.unwrap();
    let changed = oracle.changed;
    assert_eq!((changed.len(), changed[0].path.as_str()), (1, "tiny.py"));
    let base = engine.style_files(&id, CodeVersion::Base).await.unwrap();
    assert_eq!(base.changed, []);
    let files = oracle.files;
    assert_eq!(files.len(), 3, "tests are no source");
    let odd = files.iter().find(|file| file.path == "odd.py").unwrap();
    assert!(odd.radon.is_none() && odd.problem.is_some());

    // Measured once for all.
    let again = engine.measure_styles(None, &|_| {}).await.unwrap();
    assert_eq!(again, StylesMeasured::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_measures_what_has_ended() {
    let fixture = Fixture::measuring().await;
    let (base, neat) = (versions(BASE), versions(NEAT));
    let versions: [&[_]; 2] = [&base, &neat];
    let tasks = ["away", "measured"].map(|name| TinyTask {
        name,
        versions: &versions,
    });
    fixture.import(&tasks).await.unwrap();
    let run = fixture.replay().await;
    let ids = ["away", "measured"].map(|name| {
        let mut all = run.evolution_list.iter();
        let one = all.find(|evolution| evolution.task_id.as_str() == name);
        one.unwrap().evolution_id.clone()
    });
    let code = fixture.folder.path().join("data/tasks/away");
    let elsewhere = code.with_extension("elsewhere");
    std::fs::rename(&code, &elsewhere).unwrap();
    let measured = async |id: &str| {
        let style = async || fixture.engine.style(id).await.unwrap();
        fixture.work_until(style).await.unwrap()
    };
    // A checkout that is away holds up no other, and is measured once it is back.
    let style = measured(&ids[1]).await;
    assert!(fixture.engine.style(&ids[0]).await.unwrap().is_none());
    std::fs::rename(&elsewhere, &code).unwrap();
    assert_eq!(measured(&ids[0]).await.versions.len(), 3);
    let described: Vec<CodeVersion> = style.versions.iter().map(|v| v.version).collect();
    assert_eq!(
        described,
        [
            CodeVersion::Base,
            CodeVersion::Oracle,
            CodeVersion::Iteration(1)
        ]
    );
    assert_eq!(style.versions[1].style, style.versions[2].style);
}

/// Sixty identical files: Pylint compares each with all the others, which takes
/// it minutes; radon takes seconds.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: Pylint on large files"]
async fn a_pylint_timeout_is_reported() {
    let fixture = Fixture::measuring_with(|config| config.style_limits.test_seconds = 20).await;
    let folder = tempfile::tempdir().unwrap();
    let alike: String = (0..1_000).map(|n| format!("VALUE_{n} = {n}\n")).collect();
    for n in 0..60 {
        std::fs::write(folder.path().join(format!("m{n}.py")), &alike).unwrap();
    }
    let measure = || fixture.engine.style_of_folder(folder.path(), None, &|_| {});
    let began = std::time::Instant::now();
    let found = measure().await.unwrap();
    let first = began.elapsed();
    assert_eq!((found.style.sloc, found.style.unparsed), (60_000, 0));
    assert!(found.style.mi.is_some());
    let described = found.style.problem.as_deref();
    assert_eq!(described, Some("Pylint: it took over 20 s"));
    assert_eq!(found.style.pylint, None);
    assert!(found.files.iter().all(|file| file.pylint.is_none()));
    // It is not tried again, which would take as long.
    let began = std::time::Instant::now();
    assert_eq!(measure().await.unwrap(), found);
    assert!(began.elapsed() < first, "measured again");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_folder_can_be_measured() {
    let fixture = Fixture::keeping(&["layers"]).await;
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in versions(CLUMSY) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let engine = &fixture.engine;
    let measure =
        async |image: Option<&str>| engine.style_of_folder(folder.path(), image, &|_| {}).await;
    let found = measure(None).await.unwrap();
    let names: Vec<&str> = found.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(names, ["odd.py", "tiny.py", "values.py"]);
    let counts = found.files[1].pylint.unwrap();
    // Missing docstrings, an unused import, a dangerous default, two statements
    // on a line.
    assert!(counts.warning >= 2 && counts.convention >= 2, "{counts:?}");
    assert_eq!(found.erosion.cognitive_complexity, Some(1.0));
    assert_eq!(found.erosion.broken_names, None, "nothing to compare with");
    assert_eq!(found.problems, Vec::<String>::new());
    let error = measure(Some("swe-ci/none:at-all")).await.unwrap_err();
    assert!(error.to_string().contains("swe-ci/none:at-all"), "{error}");
}
