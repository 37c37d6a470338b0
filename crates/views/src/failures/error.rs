//! The error in what pytest says of a test.

use crate::format::clip;
use crate::inspection::Ended;

/// Errors are compared by this many characters.
const LONGEST: usize = 160;

/// Without a line of an error, the last line tells most, and without a message the
/// outcome.
pub(super) fn error_of(ended: &Ended) -> String {
    let last = || {
        let mut lines = ended.message.lines().map(str::trim);
        let line = lines.rfind(|line| !line.is_empty())?;
        Some(clip(&without_numbers(line), LONGEST))
    };
    let error = first_error(&ended.message).or_else(last);
    error.unwrap_or_else(|| ended.outcome.name().to_owned())
}

/// pytest marks the lines of an error with `E`. Those that are indented further show
/// code.
pub(super) fn first_error(text: &str) -> Option<String> {
    let marked = || {
        text.lines()
            .filter_map(|line| line.trim().strip_prefix("E "))
    };
    let is_indented = |line: &&str| line.strip_prefix("  ").is_some_and(|l| l.starts_with(' '));
    let first = marked().find(|line| !is_indented(line));
    let line = first.or_else(|| marked().next())?;
    Some(clip(&without_numbers(line.trim()), LONGEST))
}

/// The part of a log up to the end of its first error.
pub(super) fn first_failure(log: &str) -> Option<&str> {
    let mut end = 0;
    let mut inside = false;
    for line in log.split_inclusive('\n') {
        let marked = line.starts_with("E ") || line.trim_end() == "E";
        if inside && !marked {
            break;
        }
        inside |= marked;
        end += line.len();
    }
    inside.then(|| &log[..end])
}

/// The end of the first error of a log, at most this many lines; or else of the log.
pub fn telling_lines(log: &str, most: usize) -> Vec<&str> {
    let lines: Vec<&str> = first_failure(log).unwrap_or(log).lines().collect();
    lines[lines.len().saturating_sub(most)..].to_vec()
}

/// "at 0x7f3a, line 12" → "at N, line N".
pub(super) fn without_numbers(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        plain.push_str(&rest[..start]);
        plain.push('N');
        rest = &rest[start..];
        let address = rest.strip_prefix("0x");
        let (number, is_part): (&str, fn(char) -> bool) = match address {
            Some(number) => (number, |c| c.is_ascii_hexdigit()),
            None => (rest, |c| c.is_ascii_digit()),
        };
        rest = number.trim_start_matches(is_part);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_collapse() {
        let log = "collecting\n_ ERROR _\ntests/test_a.py:1: in <module>\n    import a\nE     File \"/app/code/a.py\", line 2\nE       def (:\nE   SyntaxError: invalid syntax\n= summary =\nERROR tests/test_a.py\n";
        let first = first_failure(log).unwrap();
        assert!(first.ends_with("SyntaxError: invalid syntax\n"));
        assert_eq!(first_error(first).unwrap(), "SyntaxError: invalid syntax");
        assert_eq!(telling_lines(log, 1), ["E   SyntaxError: invalid syntax"]);
        assert_eq!(first_failure("no error\n"), None);
        assert_eq!(telling_lines("a\nb\n", 1), ["b"]);
    }

    #[test]
    fn numbers_do_not_tell_errors_apart() {
        let check = |text: &str, expect: &str| assert_eq!(without_numbers(text), expect);
        check("<C object at 0x7f3aB0> line 12.", "<C object at N> line N.");
        check("ä1ü", "äNü");
        check("", "");
        check("0x", "N");
    }
}
