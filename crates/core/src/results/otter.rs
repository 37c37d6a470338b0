//! Parses `meta.json` and `turn_<n>/conclusion.json` of Otter, the authors'
//! later framework. One folder is one sample of one task.

use serde::Deserialize;

use super::{BadLine, Record, Recorded, bad, count, json, text};

#[derive(Deserialize)]
struct Meta {
    base_passed: i64,
    target_passed: i64,
}

#[derive(Deserialize)]
struct Conclusion {
    num_passed: Option<i64>,
    #[serde(default)]
    is_collapsed: bool,
    #[serde(default)]
    is_solved: bool,
}

/// Parses `meta.json` into a record without iterations.
///
/// # Errors
/// [`BadLine`] when it is not JSON of this shape, has an implausible count, or
/// the target passes fewer tests than the base.
pub fn meta(bytes: &[u8]) -> Result<Record, BadLine> {
    let text = text(bytes)?;
    let meta: Meta = json(1, text)?;
    let base_passed = count(1, "base_passed", meta.base_passed)?;
    let target_passed = count(1, "target_passed", meta.target_passed)?;
    let gap = target_passed.checked_sub(base_passed).ok_or_else(|| {
        bad(
            1,
            format!("the target passes {target_passed} tests, fewer than the base's {base_passed}"),
        )
    })?;
    Ok(Record {
        base_passed,
        gap,
        iterations: Vec::new(),
    })
}

/// Parses one `conclusion.json`.
///
/// # Errors
/// [`BadLine`] when it is not JSON of this shape, or has neither a count of
/// passed tests nor a collapse.
pub fn conclusion(bytes: &[u8]) -> Result<Recorded, BadLine> {
    let text = text(bytes)?;
    let conclusion: Conclusion = json(1, text)?;
    let passed = match (conclusion.is_collapsed, conclusion.num_passed) {
        (true, _) => None,
        (false, Some(n)) => Some(count(1, "num_passed", n)?),
        (false, None) => {
            let problem = "there is no `num_passed`, and `is_collapsed` is not set";
            return Err(bad(1, problem));
        }
    };
    Ok(Recorded {
        passed,
        solved: conclusion.is_solved,
        architect: None,
        programmer: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_real_files() {
        let record = meta(br#"{"base_passed": 10, "target_passed": 20, "model": "m"}"#).unwrap();
        assert_eq!((record.base_passed, record.gap), (10, 10));
        let check = |text: &str, passed, solved| {
            let turn = conclusion(text.as_bytes()).unwrap();
            assert_eq!((turn.passed, turn.solved), (passed, solved), "{text}");
        };
        check(
            r#"{"num_passed": 12, "is_collapsed": false, "is_solved": false}"#,
            Some(12),
            false,
        );
        check(r#"{"num_passed": 20, "is_solved": true}"#, Some(20), true);
        check(
            r#"{"num_passed": 0, "is_collapsed": true, "is_solved": false}"#,
            None,
            false,
        );
        check(r#"{"num_passed": null, "is_collapsed": true}"#, None, false);
    }

    #[test]
    fn errors_have_a_line() {
        let check = |result: Result<String, BadLine>, expect: &str| {
            let problem = result.unwrap_err().to_string();
            assert!(problem.contains(expect), "{problem}");
        };
        let of_meta = |text: &str| meta(text.as_bytes()).map(|r| format!("{r:?}"));
        check(of_meta(""), "line 1");
        check(
            of_meta(r#"{"base_passed": 1}"#),
            "missing field `target_passed`",
        );
        check(
            of_meta("{\n\"base_passed\": 1,\n\"target_passed\": x}"),
            "line 3",
        );
        check(
            of_meta(r#"{"base_passed": 5, "target_passed": 4}"#),
            "fewer than the base's 5",
        );
        check(
            of_meta(r#"{"base_passed": -1, "target_passed": 4}"#),
            "`base_passed` is -1",
        );
        let of_turn = |text: &str| conclusion(text.as_bytes()).map(|r| format!("{r:?}"));
        check(of_turn("{}"), "there is no `num_passed`");
        check(of_turn(r#"{"num_passed": "three"}"#), "line 1");
        check(of_turn("\u{0}"), "line 1");
    }

    proptest! {
        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = meta(&bytes);
            let _ = conclusion(&bytes);
        }
    }
}
