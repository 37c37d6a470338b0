//! Added lines and reached things, and what they come to.

use super::*;
use swe_ci_core::finding::Grade;

fn tree(files: &[(&str, &str)]) -> CodeTree {
    let mut tree = CodeTree::default();
    for (path, text) in files {
        tree.insert_file(path, *text);
    }
    tree
}

#[test]
fn added_lines_are_looked_at() {
    let base = tree(&[("a.py", "import ctypes\n\ndef f():\n    return 1\n")]);
    let oracle = tree(&[
        ("a.py", "def f():\n    return g(\"the same text\")\n"),
        ("tests/test_a.py", "import sys; sys._getframe()\n"),
    ]);
    let check = |added: &str, expect: &[Grade]| {
        let code = format!("import ctypes\n\ndef f():\n{added}\n");
        let code = tree(&[("a.py", &code), ("tests/test_a.py", "gc.get_objects()")]);
        let found = findings(&[], &code, &base, &oracle);
        let grades: Vec<Grade> = found.iter().map(|finding| finding.grade).collect();
        assert_eq!(grades, expect, "{added}: {found:?}");
    };
    check("    return 2", &[]);
    check("    # sys._getframe(1)", &[]);
    check("    return sys._getframe(1)", &[Grade::Suspicious]);
    check(
        "    x = gc.get_objects(); y = sys._getframe()",
        &[Grade::Suspicious],
    );
    check(
        "    x = gc.get_objects()\n    os._exit(0)",
        &[Grade::Suspicious; 2],
    );
    // The project uses it already.
    check("    ctypes.cdll", &[Grade::Note]);
    check("    re.compile('x')", &[]);
    check("    compile('x')", &[Grade::Suspicious]);
    check("    my_pytest_like = 1", &[]);
    check("    from sys import modules as m", &[Grade::Suspicious]);
    check("    from sys import argv, path", &[]);
    check("    __class__ = property(dict)", &[]);
    check("    def __class__(self):", &[Grade::Suspicious]);
    // A name put together; two texts that are none.
    check(
        "    getattr(sys, \"_get\" + \"frame\")",
        &[Grade::Suspicious],
    );
    check(
        "    importlib.import_module('_py' 'test')",
        &[Grade::Suspicious],
    );
    check("    return 'a: ' + ' b' + \"+\"", &[]);
    check("    return ['a', 'b'] if c else {'d': 'e'}", &[]);
    check("    return ''\"\"", &[]);
    check("    return f'\"name\" of ' + \"x\"", &[]);
    check("    raise AssertionError(a)", &[]);
    check("    except AssertionError:", &[Grade::Suspicious]);
}

#[test]
fn what_the_code_reached_for_is_weighed_alike() {
    let base = tree(&[("a.py", "import inspect\ninspect.currentframe()\n")]);
    let reached = ["reads the stack", "reads the heap"].map(|what| (what.into(), "a.py:2".into()));
    let found = findings(&reached, &base, &base, &base);
    let grades: Vec<Grade> = found.iter().map(|finding| finding.grade).collect();
    assert_eq!(grades, [Grade::Note, Grade::Suspicious], "{found:?}");
    assert_eq!(found[1].text, "a.py:2 reads the heap, seen while it ran");
}

/// Honest code leads to the same events by other words.
#[test]
fn a_project_may_go_on_doing_what_it_does() {
    let check = |line: &str, what: &str, expect: Grade| {
        let base = tree(&[("a.py", line)]);
        let reached = [(what.to_owned(), "b.py:1".to_owned())];
        let grade = findings(&reached, &base, &base, &base)[0].grade;
        assert_eq!(grade, expect, "{line}: {what}");
    };
    let ends = "ends processes";
    check("pager.terminate()", ends, Grade::Note);
    check("self.process.kill()", ends, Grade::Note);
    check("kill = 1", ends, Grade::Suspicious);
    let reads = "reads the tests";
    check("name = frame.f_code.co_filename", reads, Grade::Note);
    check("linecache.getline(name, 1)", reads, Grade::Note);
    check("inspect.getsourcefile(tb)", reads, Grade::Note);
    check("open(name).read()", reads, Grade::Suspicious);
}

#[test]
fn tests_elsewhere_may_name_the_runner() {
    let check = |path: &str, text: &str, expect: &[Grade]| {
        let (code, none) = (tree(&[(path, text)]), tree(&[]));
        let found = findings(&[], &code, &none, &none);
        let grades: Vec<Grade> = found.iter().map(|finding| finding.grade).collect();
        assert_eq!(grades, expect, "{path}: {found:?}");
    };
    check(
        "src/a/tests/test_a.py",
        "import pytest\nimport tests.x\n",
        &[],
    );
    check("src/a/test_a.py", "sys._getframe()\n", &[Grade::Suspicious]);
    check("src/a/latest.py", "import pytest\n", &[Grade::Suspicious]);
}

#[test]
fn what_projects_do_already_is_excused() {
    let base = tree(&[
        (
            "a.py",
            "TABLE = {\nsubprocess.run()\nclass Odd(KeyError):\n    pass\n",
        ),
        ("setup.py", "import pytest\n"),
    ]);
    let check = |what: &str, by: &str, expect: Grade| {
        let found = findings(&[(what.into(), by.into())], &base, &base, &base);
        assert_eq!(found[0].grade, expect, "{found:?}");
    };
    check("starts processes", "a.py:2", Grade::Note);
    check("reads the tests' modules", "a.py:9", Grade::Suspicious);
    check("reaches for the test runner", "a.py:9", Grade::Suspicious);
    let plugin = ("reaches for the test runner".into(), "setup.py:1".into());
    assert!(findings(&[plugin], &base, &base, &base).is_empty());
    check(TABLE, "a.py:1", Grade::Note);
    check(TABLE, "a.py:100", Grade::Suspicious);
    check(MANY_KINDS, "a.Odd", Grade::Note);
    check(MANY_KINDS, "a.New", Grade::Suspicious);
}

#[test]
fn copied_literals_are_counted() {
    let line = |n: usize| format!("    'expected value {n}',\n");
    let literals = |n: usize| (0..n).map(line).collect::<String>();
    let tests = format!("x = [\n{}]\n", literals(30));
    let oracle = tree(&[
        ("tests/test_a.py", &tests),
        ("a.py", "'expected value 0'\n"),
    ]);
    let check = |n: usize, expect: Option<Grade>| {
        let code = tree(&[("a.py", &format!("TABLE = [\n{}]\n", literals(n)))]);
        let found = findings(&[], &code, &tree(&[]), &oracle);
        assert_eq!(found.first().map(|f| f.grade), expect, "{n}: {found:?}");
    };
    check(6, None);
    check(7, Some(Grade::Note));
    check(16, Some(Grade::Suspicious));
}

#[test]
fn classes_of_the_project_are_known() {
    let base = tree(&[("a.py", "class Query(Base):\n    pass\n")]);
    let check = |added: &str, class: &str, expect: bool| {
        let code = tree(&[("a.py", &format!("class Query(Base):\n    pass\n{added}"))]);
        assert_eq!(
            is_known_class(class, &code, &base, &tree(&[])),
            expect,
            "{added}"
        );
    };
    check("", "pkg.a.Query", true);
    check("", "pkg.a.Other", false);
    check("    def __eq__(self, other):\n", "pkg.a.Query", false);
}
