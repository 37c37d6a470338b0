//! Tests of reading the driver's results.

use swe_ci_views::style::RadonCounts;

use super::*;
use crate::Source;

const TOOLS: &str = r#"{"python":"3.11.2","astroid":"4.0.4","pylint":"4.0.4","radon":"6.0.1"}"#;
const RADON_COUNTS: &str = r#"{"mi":50.5,"sloc":3,"comments":1,"blocks":2,"complexity":4,"complexity_most":3,"volume":8.0}"#;
const PYLINT_COUNTS: &str =
    r#"{"fatal":0,"error":1,"warning":2,"refactor":0,"convention":0,"statements":14}"#;

fn sources(paths: &[&str]) -> Source {
    let named = paths.iter().map(|path| (*path).to_owned());
    named.map(|path| (path.clone(), path.into())).collect()
}

fn radon(files: &str) -> String {
    format!(r#"{{"tools":{TOOLS},"files":{{{files}}}}}"#)
}

fn pylint(files: &str, total: &str, note: &str) -> String {
    format!(
        r#"{{"tools":{TOOLS},"counts":{{"files":{{{files}}},"total":{total},"global_note":{note},"duplicated":2.5}}}}"#
    )
}

#[test]
fn radon_results_are_keyed_by_content() {
    let text = radon(&format!(
        r#""a.py":{{"counts":{RADON_COUNTS}}},"b/c.py":{{"problem":"line 1: bad"}}"#
    ));
    let read = read_radon(text.as_bytes(), &sources(&["a.py", "b/c.py"])).unwrap();
    assert_eq!(read.tools.python, "3.11.2");
    let of = |path: &str| read.files[&crate::file_digest(path.as_bytes())].clone();
    let counts = RadonCounts {
        mi: 50.5,
        sloc: 3,
        comments: 1,
        blocks: 2,
        complexity: 4,
        complexity_most: 3,
        volume: 8.0,
    };
    assert_eq!(of("a.py"), Ok(counts));
    assert_eq!(of("b/c.py"), Err("line 1: bad".to_owned()));
    assert!(read_radon(radon("").as_bytes(), &Source::new()).is_ok());
}

#[test]
fn impossible_radon_results_are_refused() {
    let check = |text: &str, expect: &str| {
        let error = read_radon(text.as_bytes(), &sources(&["a.py"])).unwrap_err();
        assert!(error.contains(expect), "{error}\n{text}");
    };
    let with = |old: &str, new: &str| {
        assert!(RADON_COUNTS.contains(old), "{old}");
        let counts = RADON_COUNTS.replace(old, new);
        radon(&format!(r#""a.py":{{"counts":{counts}}}"#))
    };
    check(
        &with(r#""sloc":3"#, r#""sloc":-3"#),
        "files.a.py.counts.sloc: invalid value",
    );
    check(
        &with(r#""sloc":3"#, r#""sloc":3.5"#),
        "files.a.py.counts.sloc",
    );
    check(
        &with(r#""sloc":3"#, r#""sloc":4294967296"#),
        "files.a.py.counts.sloc",
    );
    check(&with(r#""sloc":3,"#, ""), "missing field `sloc`");
    check(
        &with(r#""sloc":3"#, r#""sloc":3,"lloc":3"#),
        "unknown field `lloc`",
    );
    check(&with("50.5", "NaN"), "files.a.py.counts.mi: expected value");
    check(
        &with("50.5", "Infinity"),
        "files.a.py.counts.mi: expected value",
    );
    check(&with("50.5", "1e999"), "number out of range");
    check(&with("50.5", "100.1"), "a.py: mi is 100.1");
    check(&with("50.5", "-0.1"), "a.py: mi is -0.1");
    check(&with("8.0", "-8"), "a.py: volume is -8");
    check(
        &with(r#"_most":3"#, r#"_most":5"#),
        "a.py: complexity_most is 5",
    );
    check(
        &with(r#""blocks":2"#, r#""blocks":0"#),
        "a.py: complexity is 4",
    );
    let problem = |text: &str| radon(&format!(r#""a.py":{{"problem":"{text}"}}"#));
    check(&problem(""), "a.py: its problem");
    check(&problem(r"a\nb"), "a.py: its problem");
    check(&problem(&"é".repeat(301)), "a.py: its problem");
    check(&radon(""), "a.py: not measured");
    check(&problem("x").replace("a.py", "b.py"), "a.py: not measured");
    check(&problem("x").replace("a.py", "A.py"), "A.py: measured but");
    check(&radon(r#""a.py":{}"#), "files.a.py");
    check(&radon(r#""a.py":{"other":1}"#), "files.a.py");
    check(&format!("{} {{}}", problem("x")), "trailing characters");
    check("", "the result of radon cannot be read: EOF");
    check("[1]", "cannot be read");
    let tools = |old: &str, new: &str| problem("x").replace(old, new);
    check(
        &tools(r#""pylint":"4.0.4""#, r#""pylint":"4.1.0""#),
        "Pylint is 4.1.0 instead of 4.0.4",
    );
    check(
        &tools(r#""astroid":"4.0.4""#, r#""astroid":"4""#),
        "astroid is 4 instead of 4.0.4",
    );
    check(&tools("6.0.1", "6.0"), "radon is 6.0 instead of 6.0.1");
    check(&tools("3.11.2", "2.7.18"), "\"2.7.18\" is not a version");
    check(
        &tools("3.11.2", "3.11 <b>"),
        "\"3.11 <b>\" is not a version",
    );
    let long = vec![b' '; 1 + (64 << 20)];
    let error = read_radon(&long, &Source::new()).unwrap_err();
    assert!(error.contains("more than 67108864"), "{error}");
}

#[test]
fn pylint_results_must_add_up() {
    let files = format!(r#""a.py":{PYLINT_COUNTS}"#);
    let read = |text: &str| read_pylint(text.as_bytes(), &sources(&["a.py"]));
    let found = read(&pylint(&files, PYLINT_COUNTS, "5.0")).unwrap();
    assert_eq!(found.files["a.py"].statements, 14);
    assert_eq!(found.files["a.py"].score(), Some(5.0));
    assert_eq!(found.tools.pylint, "4.0.4");
    assert!(read(&pylint(&files, PYLINT_COUNTS, "5.0000000001")).is_ok());
    let nothing = PYLINT_COUNTS.replace("14", "0").replace('2', "0");
    let empty = pylint(&format!(r#""a.py":{nothing}"#), &nothing, "null");
    assert!(read(&empty).is_ok());

    let check = |text: &str, expect: &str| {
        let error = read(text).unwrap_err();
        assert!(error.contains(expect), "{error}\n{text}");
    };
    check(
        &pylint(&files, PYLINT_COUNTS, "5.00000001"),
        "global_note: Some(5.00000001)",
    );
    check(&pylint(&files, PYLINT_COUNTS, "null"), "global_note: None");
    check(&pylint(&files, PYLINT_COUNTS, "NaN"), "counts.global_note");
    let more = PYLINT_COUNTS.replace(r#""warning":2"#, r#""warning":3"#);
    check(
        &pylint(&files, &more, "5.0"),
        "warning: 3 in all, and 2 in the files",
    );
    let less = PYLINT_COUNTS.replace(r#""fatal":0"#, r#""fatal":-1"#);
    let files_less = format!(r#""a.py":{less}"#);
    check(
        &pylint(&files_less, PYLINT_COUNTS, "5.0"),
        "counts.files.a.py.fatal: invalid",
    );
    let unknown = PYLINT_COUNTS.replace("fatal", "mortal");
    let files_unknown = format!(r#""a.py":{unknown}"#);
    check(
        &pylint(&files_unknown, PYLINT_COUNTS, "5.0"),
        "unknown field `mortal`",
    );
    check(&pylint("", &nothing, "null"), "a.py: not measured");
    let two = format!(r#"{files},"b.py":{nothing}"#);
    check(&pylint(&two, PYLINT_COUNTS, "5.0"), "b.py: measured but");
    let problem = format!(r#"{{"tools":{TOOLS},"problem":"it crashed"}}"#);
    assert_eq!(read(&problem).unwrap_err(), "it crashed");
    check(&format!(r#"{{"tools":{TOOLS}}}"#), "neither");
}
