//! Lines of the code in tracebacks.

use serde::{Deserialize, Serialize};

use crate::format::clip;

/// Names of files and functions are cut to this many characters.
const LONGEST_NAME: usize = 100;
/// The folder of the code in a container.
const CODE: &str = "/app/code/";

/// A line of the code under test, as a traceback names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// Relative to the code.
    pub file: String,
    pub line: u32,
    /// Empty where the traceback does not name one.
    pub function: String,
}

impl Frame {
    /// The deepest one of a traceback.
    pub fn deepest(traceback: &str) -> Option<Self> {
        Self::all(traceback).next()
    }

    /// The deepest one first.
    pub(super) fn all(traceback: &str) -> impl Iterator<Item = Self> {
        traceback.lines().rev().filter_map(Self::of_line)
    }

    /// A line as pytest writes it (`more.py:312: in chunked`, `more.py:312: TypeError`)
    /// or Python (`File "/app/code/more.py", line 312, in chunked`). Errors of
    /// syntax have it among the lines of the error.
    fn of_line(line: &str) -> Option<Self> {
        let line = line.strip_prefix("E ").unwrap_or(line).trim();
        let (file, number, rest) = match line.strip_prefix("File \"") {
            Some(line) => {
                let (file, rest) = line.split_once("\", line ")?;
                let (number, rest) = rest.split_once(',').unwrap_or((rest, ""));
                (file, number, rest)
            }
            None => {
                let (file, rest) = line.split_once(':')?;
                let (number, rest) = rest.split_once(':')?;
                (file, number, rest)
            }
        };
        let function = rest.trim().strip_prefix("in ").unwrap_or_default();
        Some(Self {
            file: clip(source(file)?, LONGEST_NAME),
            line: number.parse().ok()?,
            function: match function {
                "<module>" => String::new(),
                function => clip(function, LONGEST_NAME),
            },
        })
    }

    /// "src/more.py:312 chunked".
    pub fn named(&self) -> String {
        let place = format!("{}:{} {}", self.file, self.line, self.function);
        place.trim_end().to_owned()
    }

    /// "more.py:312".
    pub fn place(&self) -> String {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        format!("{name}:{}", self.line)
    }
}

/// The path of a file of the code that is no test; none of another's.
fn source(file: &str) -> Option<&str> {
    let file = file.strip_prefix(CODE).unwrap_or(file);
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_foreign = file.starts_with(['/', '.', '<'])
        || file.contains(char::is_whitespace)
        || !name.ends_with(".py");
    let is_test = name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py";
    let mut folders = file.split('/');
    let elsewhere = folders.any(|folder| matches!(folder, "tests" | "site-packages"));
    (!is_foreign && !is_test && !elsewhere).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_line_of_the_code() {
        let check = |traceback: &str, expect: Option<(&str, u32, &str)>| {
            let found = Frame::deepest(traceback);
            let found = found.as_ref();
            let found = found.map(|f| (f.file.as_str(), f.line, f.function.as_str()));
            assert_eq!(found, expect, "{traceback}");
        };
        check(
            "tests/test_more.py:30: in test_it\n    f()\nmore/more.py:312: in chunked\n    raise X\n/usr/lib/python3/abc.py:3: in f\nE   TypeError: x",
            Some(("more/more.py", 312, "chunked")),
        );
        check(
            ">   f()\n\nsrc/a.py:7: TypeError",
            Some(("src/a.py", 7, "")),
        );
        check(
            "  File \"/app/code/src/a.py\", line 7, in <module>\n    import x\nImportError: x",
            Some(("src/a.py", 7, "")),
        );
        check(
            "E     File \"/app/code/a.py\", line 2\nE       def (:\nE   SyntaxError: invalid syntax",
            Some(("a.py", 2, "")),
        );
        check("tests/test_a.py:3: AssertionError", None);
        check(
            "/venv/lib/site-packages/x.py:3: in f\nvenv/site-packages/y.py:3: in f",
            None,
        );
        check("E   assert 'a.py:3: b'", None);
        check("", None);
    }
}
