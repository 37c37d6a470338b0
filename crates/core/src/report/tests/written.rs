//! Reports that the named runners wrote, about suites made to show their dialects.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::super::{BadReport, Cases, Outcome, Report};
use crate::test_plan::ReportFiles;

fn read(format: &ReportFiles, reports: &[&str]) -> Result<Cases, BadReport> {
    let mut cases = Cases::default();
    for report in reports {
        cases.read(format, report.as_bytes())?;
    }
    Ok(cases)
}

fn junit(reports: &[&str]) -> Result<Cases, BadReport> {
    read(&ReportFiles::Junit(Vec::new()), reports)
}

/// Each test with its outcome.
fn told(cases: &Cases) -> Vec<(String, Outcome)> {
    let (report, raw) = cases.report(1);
    assert_eq!(
        Report::parse(&raw).unwrap().tests,
        report.tests,
        "it reads back"
    );
    report
        .tests
        .into_iter()
        .map(|(id, test)| (id, test.outcome))
        .collect()
}

#[test]
fn every_dialect_tells_the_same() {
    use Outcome::{Error, Failed, Passed, Skipped};
    let check = |name: &str, report: &str, expect: &[(&str, Outcome)]| {
        let format = match name {
            "ctrf" => ReportFiles::Ctrf(Vec::new()),
            _ => ReportFiles::Junit(Vec::new()),
        };
        let expect: BTreeMap<String, Outcome> = expect
            .iter()
            .map(|(id, outcome)| ((*id).to_owned(), *outcome))
            .collect();
        let cases = read(&format, &[report]).unwrap();
        assert_eq!(
            told(&cases).into_iter().collect::<BTreeMap<_, _>>(),
            expect,
            "{name}"
        );
        let messages = cases.report(0).0.tests.into_values();
        let mut failed = messages.filter(|test| matches!(test.outcome, Failed | Error));
        assert!(failed.all(|test| !test.message.is_empty()), "{name}");
    };
    check(
        "pytest",
        include_str!("../fixtures/pytest.xml"),
        &[
            ("pytest::test_broken", Error),
            ("pytest::test_sum.TestClass::test_inner", Passed),
            ("pytest::test_sum::test_error", Error),
            ("pytest::test_sum::test_skip", Skipped),
            ("pytest::test_sum::test_sum[1-2]", Passed),
            ("pytest::test_sum::test_sum[2-4]", Failed),
            ("pytest::test_sum::test_xfail", Skipped),
        ],
    );
    check(
        "nextest",
        include_str!("../fixtures/nextest.xml"),
        &[
            ("sum::a::fails", Failed),
            ("sum::a::same", Passed),
            ("sum::b::same", Passed),
            ("sum::tests::inner", Passed),
        ],
    );
    check(
        "libtest",
        include_str!("../fixtures/libtest.xml"),
        &[
            ("test::integration::fails", Failed),
            ("test::integration::same", Passed),
        ],
    );
    check(
        "jest",
        include_str!("../fixtures/jest.xml"),
        &[
            ("sum::sum left out", Skipped),
            ("sum::sum of two 1 + 1 is 2", Passed),
            ("sum::sum of two 1 + 2 is 4", Failed),
            ("sum::sum same", Passed),
            ("sum::sum same #2", Failed),
        ],
    );
    check(
        "vitest",
        include_str!("../fixtures/vitest.xml"),
        &[
            ("broken.test.mjs", Failed),
            ("sum.test.mjs::sum > left out", Skipped),
            ("sum.test.mjs::sum > of two > 1 + 1 is 2", Passed),
            ("sum.test.mjs::sum > of two > 1 + 2 is 4", Failed),
            ("sum.test.mjs::sum > same", Passed),
            ("sum.test.mjs::sum > same #2", Failed),
        ],
    );
    check(
        "mocha",
        include_str!("../fixtures/mocha.xml"),
        &[
            (
                "hooks::\"before all\" hook for \"never\"::hooks \"before all\" hook for \"never\"",
                Failed,
            ),
            ("of two::1 + 1 is 2::sum of two 1 + 1 is 2", Passed),
            ("of two::1 + 2 is 4::sum of two 1 + 2 is 4", Failed),
            ("sum::same::sum same", Passed),
            ("sum::same::sum same #2", Failed),
        ],
    );
    check(
        "node:test",
        include_str!("../fixtures/node.xml"),
        &[
            ("sum::of two::test::1 + 1 is 2", Passed),
            ("sum::of two::test::1 + 2 is 4", Failed),
            ("sum::test::left out", Skipped),
            ("sum::test::same", Passed),
            ("sum::test::same #2", Failed),
            ("test::nod/broken.test.js", Failed),
            ("with subtests::test::one", Passed),
            ("with subtests::test::two", Failed),
        ],
    );
    check(
        "ctrf",
        include_str!("../fixtures/jest.ctrf.json"),
        &[
            ("jest/sum.test.js::sum.test.js > sum::sum left out", Skipped),
            ("jest/sum.test.js::sum.test.js > sum::sum same", Passed),
            ("jest/sum.test.js::sum.test.js > sum::sum same #2", Failed),
            (
                "jest/sum.test.js::sum.test.js > sum > of two::sum of two 1 + 1 is 2",
                Passed,
            ),
            (
                "jest/sum.test.js::sum.test.js > sum > of two::sum of two 1 + 2 is 4",
                Failed,
            ),
        ],
    );
}

#[test]
fn what_dialects_without_a_fixture_have() {
    use Outcome::{Failed, Passed, Skipped};
    let check = |report: &str, expect: &[(&str, Outcome)]| {
        let told = told(&junit(&[report]).unwrap());
        let told: Vec<_> = told
            .iter()
            .map(|(id, outcome)| (id.as_str(), *outcome))
            .collect();
        assert_eq!(told, expect, "{report}");
    };
    // Surefire: tries that did not count, suites without a frame.
    check(
        r#"<testsuite name="x.SumTest"><properties><property name="a" value="b"/></properties>
           <testcase name="flaky" classname="x.SumTest" time="1,234.5"><flakyFailure message="once"/></testcase>
           <testcase name="bad" classname="x.SumTest"><failure message="m"/><rerunFailure/></testcase></testsuite>"#,
        &[("x.SumTest::bad", Failed), ("x.SumTest::flaky", Passed)],
    );
    // GoogleTest and CTest say it by an attribute.
    check(
        r#"<testsuites><testsuite name="s"><testcase name="a" status="notrun"/>
           <testcase name="b" status="run" result="suppressed"/><testcase name="c" status="run"/></testsuite></testsuites>"#,
        &[("s::a", Skipped), ("s::b", Skipped), ("s::c", Passed)],
    );
    // PHPUnit nests, with the absolute path of its settings outside.
    check(
        r#"<testsuites><testsuite name="/app/code/phpunit.xml"><testsuite name="unit"><testsuite name="SumTest">
           <testcase name="testA with data set #0" class="SumTest"/></testsuite></testsuite></testsuite></testsuites>"#,
        &[("phpunit.xml::unit::SumTest::testA with data set #0", Passed)],
    );
    // A suite that fails outside its tests; a document behind another.
    check(
        r#"<?xml version="1.0"?><testsuite name="s"><error message="no database"/></testsuite>
           <?xml version="1.0"?><testsuite name="t"><testcase name="a&#x20;b"/></testsuite>"#,
        &[("s::outside of tests", Outcome::Error), ("t::a b", Passed)],
    );
}

#[test]
fn two_reports_of_a_test_hide_no_failure() {
    let once =
        r#"<testsuite name="s"><testcase name="a"><failure>no</failure></testcase></testsuite>"#;
    let again = r#"<testsuite name="s"><testcase name="a"/><testcase name="b"/></testsuite>"#;
    let known: BTreeSet<String> = ["s::a".to_owned(), "s::c".to_owned()].into();
    for reports in [[once, again], [again, once]] {
        let mut cases = junit(&reports).unwrap();
        let unknown = cases.hold_against(&known);
        assert_eq!(told(&cases), [("s::a".to_owned(), Outcome::Failed)]);
        assert_eq!(unknown.twice, ["s::a".to_owned()].into());
        assert_eq!(unknown.new, ["s::b".to_owned()].into());
    }
    // A suite that has it twice.
    let known: BTreeSet<String> = ["s::a".to_owned(), "s::a #2".to_owned()].into();
    let mut cases = junit(&[again, once]).unwrap();
    assert!(cases.hold_against(&known).twice.is_empty());
    assert_eq!(cases.failed(), 1);
}

#[test]
fn hostile_reports_are_refused_with_the_reason() {
    let deep = "<testsuite name='s'>".repeat(101);
    let mut many = "<testsuite name='s'>".to_owned();
    for number in 0..200_001 {
        let _ = write!(many, "<testcase name='{number}'/>");
    }
    for (report, expect) in [
        ("", "line 1: it has no element"),
        ("not XML", "line 1: it has no element"),
        ("<html/>", "<html> is no element of JUnit's"),
        (
            "<testsuite>\n<testcase name='a'>",
            "line 2: it ends within <testcase>",
        ),
        ("<testsuite>\n<testcase name='a", "line 2: "),
        ("<testsuite></testcase>", "line 1: "),
        (
            "<!DOCTYPE a [<!ENTITY b 'c'>]><testsuite/>",
            "a document type is not allowed",
        ),
        (
            "<testsuite name='s'><testcase name='a'><failure>&b;</failure></testcase></testsuite>",
            "`b`",
        ),
        ("<testsuite name='&b;'/>", "`b`"),
        (&deep, "nested more than 100 deep"),
        (&many, "more than 200000 tests"),
    ] {
        let why = junit(&[report]).unwrap_err().to_string();
        assert!(why.contains(expect), "{report:.60}: {why}");
    }
    let mut cases = Cases::default();
    let latin = cases.read(&ReportFiles::Junit(Vec::new()), b"<testsuite name='\xe4'/>");
    assert!(matches!(latin, Err(BadReport::Encoding)));
    // Long names and words are cut.
    let long = format!(
        "<testsuite><testcase name='{}'><failure>{}</failure></testcase></testsuite>",
        "n".repeat(5_000),
        "w".repeat(100_000)
    );
    let (report, _) = junit(&[&long]).unwrap().report(1);
    let (id, test) = report.tests.first_key_value().unwrap();
    assert_eq!((id.chars().count(), test.message.len()), (1_001, 4_000));
}

#[test]
fn a_summary_that_contradicts_the_list_is_refused() {
    let report = r#"{"results":{"tool":{"name":"t"},"summary":{"passed":2},"tests":[{"name":"a","status":"passed"}]}}"#;
    let why = read(&ReportFiles::Ctrf(Vec::new()), &[report]).unwrap_err();
    assert_eq!(
        why.to_string(),
        "its summary counts 2 passed tests, its list has 1"
    );
    let why = read(&ReportFiles::Ctrf(Vec::new()), &["{}"]).unwrap_err();
    assert!(why.to_string().contains("missing field `results`"));
}
