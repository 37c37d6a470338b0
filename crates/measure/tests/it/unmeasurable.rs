//! Files that cannot be measured, or only with care.

use swe_ci_measure::{Mode, Source, file_digest, read_radon, request};

use crate::tools::Workspace;
use crate::{pylint, radon, source};

/// Checks radon's result for each of these files.
fn check(files: &[(&str, &[u8], Result<u32, &str>)]) {
    let named = files
        .iter()
        .map(|(path, bytes, _)| ((*path).into(), bytes.to_vec()));
    let source: Source = named.collect();
    let measured = radon(&source);
    for (path, bytes, expect) in files {
        match (&measured.files[&file_digest(bytes)], expect) {
            (Ok(counts), Ok(sloc)) => assert_eq!(counts.sloc, *sloc, "{path}"),
            (Err(problem), Err(expect)) => assert!(problem.contains(expect), "{path}: {problem}"),
            (result, _) => panic!("{path}: {result:?}"),
        }
    }
}

#[test]
fn each_file_has_its_own_problem() {
    let nested = |open: &str, n: usize, close: &str| {
        format!("x = {}1{}\n", open.repeat(n), close.repeat(n)).into_bytes()
    };
    let long: String = (0..2_500)
        .map(|n| format!("def f{n}(a):\n    if a:\n        return {n}\n    return a\n"))
        .collect();
    let feeds =
        b"x = 1\r\n\x0c\r\ndef f():\r\n    \"\"\"a\r\n\r\n    b\"\"\"\r\n    return 1  # c\r\n";
    check(&[
        ("fine.py", b"x = 1\n", Ok(1)),
        ("empty.py", b"", Ok(0)),
        ("unended.py", b"x = 1\ny = 2", Ok(2)),
        ("marked.py", b"\xef\xbb\xbfx = 1\n", Ok(1)),
        ("said.py", b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", Ok(1)),
        ("feeds.py", feeds, Ok(3)),
        ("long.py", long.as_bytes(), Ok(10_000)),
        (
            "syntax.py",
            b"x = 1\ndef f(:\n",
            Err("line 2: SyntaxError: invalid syntax"),
        ),
        (
            "dedent.py",
            b"if x:\n        a\n    b\n",
            Err("line 3: IndentationError"),
        ),
        (
            "latin.py",
            b"x = 1\nz = 1\ny = '\xe9'\n",
            Err("line 3: SyntaxError: not utf-8"),
        ),
        (
            "unsaid.py",
            b"y = '\xe9'\n",
            Err("SyntaxError: invalid or missing encoding"),
        ),
        (
            "unknown.py",
            b"# coding: klingon\n",
            Err("unknown encoding: klingon"),
        ),
        ("no_text.py", b"# coding: zlib\nx = 1\n", Err("LookupError")),
        (
            "null.py",
            b"x = 1\ny = '\0'\n",
            Err("line 2: SyntaxError: a null byte"),
        ),
        (
            "brackets.py",
            &nested("(", 5_000, ")"),
            Err("line 1: SyntaxError: too many nested"),
        ),
        ("minus.py", &nested("-", 5_000, ""), Err("RecursionError")),
        ("sum.py", &nested("1 + ", 5_000, ""), Err("RecursionError")),
    ]);
}

#[test]
fn the_same_content_is_measured_once() {
    let twice = source(&[
        ("a.py", "x = 1\n"),
        ("b/a.py", "x = 1\n"),
        ("c.py", "x = 2\n"),
    ]);
    assert_eq!(radon(&twice).files.len(), 2);
}

#[test]
fn pylint_counts_unparsable_files() {
    let mut unparsable = source(&[
        ("fine.py", "x = 1\n"),
        ("syntax.py", "def f(:\n"),
        ("null.py", "y = '\0'\n"),
    ]);
    unparsable.insert("latin.py".into(), b"y = '\xe9'\n".to_vec());
    let found = pylint(&unparsable).unwrap();
    for (path, errors) in [
        ("fine.py", 0),
        ("syntax.py", 1),
        ("null.py", 1),
        ("latin.py", 1),
    ] {
        assert_eq!(found.files[path].error, errors, "{path}");
    }
    assert_eq!(found.files["fine.py"].statements, 1);
}

/// A failure of Pylint itself scores 0 points, like on its command line.
#[test]
fn a_failure_of_pylint_is_fatal() {
    let sum = format!("x = {}1\n", "1 + ".repeat(5_000));
    let found = pylint(&source(&[("a.py", "x = 1\n"), ("sum.py", &sum)])).unwrap();
    assert_eq!(
        (found.files["a.py"].fatal, found.files["sum.py"].fatal),
        (0, 1)
    );
}

/// One file takes too long, and one crashes the interpreter, which has a small
/// stack here.
#[test]
fn a_crash_does_not_affect_other_files() {
    // radon takes the form feed for the end of a line, and then looks for the
    // end of the string in every line that follows.
    let lines = "line(of, a, text, that, goes, on)\n".repeat(20_000);
    let slow = format!("x = 'a\u{c}b'\n{lines}");
    let deep = format!("x = {}1{}\n", "(".repeat(5_000), ")".repeat(5_000));
    let mut files = source(&[("slow.py", &slow), ("deep.py", &deep)]);
    for n in 0..20 {
        files.insert(format!("m{n:02}.py"), format!("x = {n}\n").into());
    }
    let workspace = Workspace::new(&files);
    let request = String::from_utf8(request(Mode::Radon, &workspace.root(), &files)).unwrap();
    assert!(request.contains(r#""seconds_per_file":60"#), "{request}");
    let impatient = request.replace(r#""seconds_per_file":60"#, r#""seconds_per_file":2.5"#);
    let found = workspace.run_with(Mode::Radon, impatient.as_bytes(), |command| {
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let limited = "ulimit -s 256; exec sh \"$@\"";
        let folder = command.get_current_dir().unwrap().to_owned();
        *command = std::process::Command::new("sh");
        command
            .args(["-c", limited, "sh"])
            .args(arguments)
            .current_dir(folder);
    });
    let found = read_radon(&found.unwrap(), &files).unwrap();
    for (path, bytes) in &files {
        let result = &found.files[&file_digest(bytes)];
        match path.as_str() {
            "slow.py" => assert_eq!(result, &Err("it took over 2.5 s".to_owned())),
            "deep.py" => {
                let why = result.as_ref().unwrap_err();
                // Another machine may manage with this stack.
                assert!(why.contains("signal 11") || why.contains("nested"), "{why}");
            }
            _ => assert_eq!(result.as_ref().unwrap().sloc, 1, "{path}"),
        }
    }
}

#[test]
fn names_with_a_meaning_for_pylint_are_taken_literally() {
    let files = source(&[
        ("-x.py", "x=1\n"),
        ("--help.py", "x=1\n"),
        ("~root.py", "x=1\n"),
        ("a[b].py", "x=1\n"),
        ("ab.py", "x=1\ny=2\n"),
        ("star*.py", "x=1\n"),
        ("line\nbreak.py", "x=1\n"),
        ("pkg/__init__.py", "x=1\n"),
        ("pkg/__main__.py", "x=1\n"),
    ]);
    let found = pylint(&files).unwrap();
    for (path, counts) in &found.files {
        let expect = if path == "ab.py" { 2 } else { 1 };
        assert_eq!(counts.statements, expect, "{path}");
    }
    assert_eq!(radon(&files).files.len(), 2);
}
