//! Parses `iteration.jsonl` of the authors' program. The first line is the
//! base, `{"gap": 35, "pytest": {"passed": 426, …}}`; every other line is an
//! iteration, with the model usage of the two agents. A gap of -1 with an
//! empty `pytest` marks a collapsed iteration.

use serde::Deserialize;

use super::{BadLine, MAX_ITERATIONS, Record, Recorded, bad, count, json, text, tokens};
use crate::usage::Usage;

#[derive(Deserialize)]
struct Line {
    gap: i64,
    pytest: Pytest,
    architect: Option<Agent>,
    programmer: Option<Agent>,
}

/// pytest-json-report's summary; it omits outcomes that did not occur.
#[derive(Deserialize)]
struct Pytest {
    passed: Option<i64>,
    total: Option<i64>,
}

/// Counts as other programs write them.
#[derive(Deserialize)]
struct Agent {
    #[serde(default)]
    input_tokens: serde_json::Value,
    #[serde(default)]
    output_tokens: serde_json::Value,
}

impl Agent {
    fn usage(&self) -> Option<Usage> {
        Some(Usage {
            input_tokens: tokens(&self.input_tokens)?,
            output_tokens: tokens(&self.output_tokens)?,
            ..Usage::default()
        })
    }
}

/// Parses a whole file.
///
/// # Errors
/// [`BadLine`] for the first line that is not JSON of this shape, has an
/// implausible count, or contradicts itself, and when the file is empty.
pub fn parse(bytes: &[u8]) -> Result<Record, BadLine> {
    let mut lines = (1u32..)
        .zip(text(bytes)?.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let (number, first) = lines
        .next()
        .ok_or_else(|| bad(1, "the file is empty; its first line would be the base"))?;
    let base: Line = json(number, first)?;
    let mut record = Record {
        base_passed: count(number, "passed", base.pytest.passed.unwrap_or(0))?,
        gap: count(number, "gap", base.gap)?,
        iterations: Vec::new(),
    };
    for (number, line) in lines {
        if record.iterations.len() == MAX_ITERATIONS as usize {
            let problem = format!("there are more than {MAX_ITERATIONS} iterations");
            return Err(bad(number, problem));
        }
        let iteration = recorded(number, &json(number, line)?)?;
        record.iterations.push(iteration);
    }
    Ok(record)
}

fn recorded(number: u32, line: &Line) -> Result<Recorded, BadLine> {
    let counted = line.pytest.passed.or(line.pytest.total);
    let passed = match (line.gap, counted) {
        (-1, None) => None,
        (-1, Some(_)) => {
            let problem = "a gap of -1 says the code collapsed, yet `pytest` counts tests";
            return Err(bad(number, problem));
        }
        (gap, _) => {
            count(number, "gap", gap)?;
            Some(count(number, "passed", line.pytest.passed.unwrap_or(0))?)
        }
    };
    Ok(Recorded {
        passed,
        solved: line.gap == 0,
        architect: line.architect.as_ref().and_then(Agent::usage),
        programmer: line.programmer.as_ref().and_then(Agent::usage),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_real_files() {
        let record = parse(
            br#"{"gap": 10, "pytest": {"passed": 10, "failed": 10, "total": 20, "collected": 20}}
{"gap": 8, "pytest": {"passed": 12, "failed": 8}, "architect": {"execution_time": 1.5, "input_tokens": 100, "output_tokens": 7}, "programmer": {"input_tokens": null, "output_tokens": null, "execution_time": null}}
{"gap": -1, "pytest": {}, "architect": {"input_tokens": 1, "output_tokens": 2}, "programmer": {"input_tokens": 3, "output_tokens": 4}}

{"gap": 20, "pytest": {"failed": 20, "total": 20}}
{"gap": 0, "pytest": {"passed": 20}}
"#,
        )
        .unwrap();
        assert_eq!((record.base_passed, record.gap), (10, 10));
        let passed: Vec<Option<u32>> = record.iterations.iter().map(|i| i.passed).collect();
        assert_eq!(passed, [Some(12), None, Some(0), Some(20)]);
        let first = record.iterations[0];
        assert_eq!(
            first.architect.map(|u| (u.input_tokens, u.output_tokens)),
            Some((100, 7))
        );
        assert_eq!(first.programmer, None);
        let usages = record.iterations[1..].iter().map(|i| i.architect.is_some());
        assert_eq!(usages.collect::<Vec<_>>(), [true, false, false]);
        // Nothing is said of the others, or nothing that can be.
        let odd = r#"{"gap": 0, "pytest": {"passed": 9}, "architect": {"input_tokens": 7.0, "output_tokens": 9223372036854775807}, "programmer": {"input_tokens": 7.0, "output_tokens": "3"}}"#;
        let odd = parse(format!("{{\"gap\": 9, \"pytest\": {{}}}}\n{odd}\n").as_bytes());
        let odd = odd.unwrap().iterations[0];
        assert_eq!((odd.architect, odd.programmer), (None, None));
        assert!(record.iterations[3].solved && !first.solved);
    }

    #[test]
    fn errors_have_a_line() {
        let base = r#"{"gap": 1, "pytest": {"passed": 1}}"#;
        let check = |text: &str, expect: &str| {
            let problem = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(problem.contains(expect), "{text:?} → {problem}");
        };
        check("", "line 1: the file is empty");
        check("\n \n", "the file is empty");
        check("nonsense", "line 1: column 2");
        check("[]", "line 1");
        check(r#"{"gap": 1}"#, "missing field `pytest`");
        check(r#"{"gap": -1, "pytest": {}}"#, "line 1: `gap` is -1");
        check(r#"{"gap": 1, "pytest": {"passed": -3}}"#, "`passed` is -3");
        check(r#"{"gap": 1.5, "pytest": {}}"#, "line 1");
        check(
            r#"{"gap": 1, "pytest": {"passed": 99999999999}}"#,
            "0 to 10000000",
        );
        check(&format!("{base}\n{{\"gap\": 1, \"pyt"), "line 2: column 15");
        check(
            &format!("{base}\n\n{{\"gap\": -2, \"pytest\": {{}}}}"),
            "line 3: `gap` is -2",
        );
        check(
            &format!("{base}\n{{\"gap\": -1, \"pytest\": {{\"passed\": 3}}}}"),
            "line 2: a gap of -1 says",
        );
        let many = format!("{base}\n").repeat(1_002);
        check(&many, "line 1002: there are more than 1000 iterations");
        assert_eq!(parse(b"{}\n\xff").unwrap_err().problem, "it is not UTF-8");
    }

    proptest! {
        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn counts_come_through(base in 0u32..1000, gap in 0u32..1000, passes in prop::collection::vec(prop::option::of(0u32..2000), 0..30)) {
            let mut text = format!("{{\"gap\": {gap}, \"pytest\": {{\"passed\": {base}}}}}\n");
            for n in &passes {
                text += &match n {
                    Some(n) => format!("{{\"gap\": 1, \"pytest\": {{\"passed\": {n}}}}}\n"),
                    None => "{\"gap\": -1, \"pytest\": {}}\n".to_owned(),
                };
            }
            let record = parse(text.as_bytes()).unwrap();
            prop_assert_eq!((record.base_passed, record.gap), (base, gap));
            let parsed: Vec<Option<u32>> = record.iterations.iter().map(|i| i.passed).collect();
            prop_assert_eq!(parsed, passes);
        }
    }
}
