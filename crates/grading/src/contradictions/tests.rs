//! The program that makes contradictions, run by this machine's Python.

use serde_json::{Value, json};

use super::PROGRAM;
use crate::generalisation::tests::run;

/// The lines that contradictions of one kind have in place of others.
fn changed(kind: &str, test: &str) -> Vec<String> {
    let text = format!("def test():\n    {test}\n");
    let input = json!({
        "files": {"tests/test_a.py": text}, "beside": {}, "own": [], "seed": "s",
    });
    let made: Value = serde_json::from_slice(&run(&PROGRAM.concat(), &input)).unwrap();
    let pieces = made["files"]["tests/test_a.py"].as_array().unwrap();
    let forms = pieces.iter().find(|piece| piece.is_object()).unwrap();
    let all = forms["contradictions"].as_array().unwrap().iter();
    let of_kind = all.filter(|one| one["kind"] == kind);
    let texts = of_kind.map(|one| one["text"].as_str().unwrap());
    let lines = texts.map(|text| {
        text.trim()
            .lines()
            .last()
            .unwrap_or_default()
            .trim()
            .to_owned()
    });
    lines.collect()
}

#[test]
fn near_contradictions_are_where_no_tolerance_is_told() {
    let check = |test: &str, expect: &[&str]| {
        let found = changed("near", test);
        let is_one = |found: &String| expect.iter().any(|one| found.contains(one));
        let all = found.iter().all(is_one) && found.len() == usize::from(!expect.is_empty());
        assert!(all, "{test}: {found:?}");
    };
    check("assert f() == 90", &["== 91", "== 89"]);
    check("assert f() == [1.25, 'a']", &["[1.26, 'a']", "[1.24, 'a']"]);
    check("assert f() == 0.5", &["0.6", "0.4"]);
    check("assert 'some text' in f()", &["in f()"]);
    check("pytest.raises(KeyError, f)", &["ArithmeticError, "]);
    for test in [
        "assert f() == pytest.approx(90)",
        "self.assertAlmostEqual(f(), 90)",
        "assert f() == Decimal('1.5')",
        "assert f() == 'text'",
        "assert f() is True",
        "assert 'a' in f()",
        "check(f(), 90)",
    ] {
        check(test, &[]);
    }
}

#[test]
fn one_letter_of_a_text_is_another() {
    let texts = changed("constant", "assert f() == 'abcdefgh'");
    let differing = texts.iter().map(|line| {
        let text = line.split('\'').nth(1).unwrap();
        text.chars()
            .zip("abcdefgh".chars())
            .filter(|(a, b)| a != b)
            .count()
    });
    let mut differing: Vec<usize> = differing.collect();
    differing.sort_unstable();
    assert_eq!(differing, [1, 8], "{texts:?}");
}

/// Blocks of a file take turns, and what divides them stays.
#[test]
fn blocks_of_data_are_changed() {
    let input = json!({
        "files": {}, "beside": {}, "own": [], "seed": "s",
        "data": {"tests/a.txt": "# Title\nhello\n.\nHELLO\n", "tests/b.json": "{\"key\": \"a\\nword\"}"},
    });
    let made: Value = serde_json::from_slice(&run(&PROGRAM.concat(), &input)).unwrap();
    let texts = |path: &str| {
        let forms = made["files"][path][0]["contradictions"].as_array().unwrap();
        let texts = forms
            .iter()
            .map(|form| form["text"].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    let [inputs, expected] = &texts("tests/a.txt")[..2] else {
        panic!("{made}")
    };
    assert!(inputs.starts_with("# Title\n") && inputs.ends_with("\n.\nHELLO\n"));
    assert!(expected.starts_with("# Title\nhello\n.\n") && !expected.contains("HELLO"));
    let json = &texts("tests/b.json")[0];
    assert!(
        json.starts_with("{\"key\": \"a\\n") && !json.contains("word"),
        "{json}"
    );
    let words = made["words"]["tests/b.json"][0].as_array().unwrap();
    assert_eq!(words.len(), 1, "{made}");
}
