//! The two programs, run by this machine's Python on sources of the tests' own.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::asking::{PROGRAM, answers as answers_of};
use super::{Answer, Question};
use crate::READ_BOOTSTRAP;
use crate::contradictions::PROGRAM as MAKER;

pub(crate) fn run(program: &str, input: &Value) -> Vec<u8> {
    let mut python = Command::new("python3");
    python
        .args(["-c", READ_BOOTSTRAP])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut python = python.spawn().unwrap();
    let input = format!("{}\n{program}{input}\n", program.len());
    python
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let done = python.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    done.stdout
}

/// The questions about a file of tests, and the calls that are not asked.
fn questions(text: &str) -> (Vec<Value>, Value) {
    let input = json!({
        "files": {"tests/test_a.py": text}, "beside": {}, "own": ["shop"], "seed": "s",
    });
    let mut made: Value = serde_json::from_slice(&run(&MAKER.concat(), &input)).unwrap();
    let Value::Array(questions) = made["questions"].take() else {
        panic!("{made}")
    };
    (questions, made["not_asked"].take())
}

/// The questions as the tests have them, by function.
fn as_written(questions: &[Value]) -> Vec<String> {
    let line = |question: &Value| {
        let [function, statements, expression] =
            ["/function", "/forms/0/0", "/forms/0/1"].map(|at| question.pointer(at).unwrap());
        let statements = statements.as_str().unwrap().replace('\n', "; ");
        let parts = [
            function.as_str().unwrap(),
            &statements,
            expression.as_str().unwrap(),
        ];
        parts.join(" | ")
    };
    let mut lines: Vec<String> = questions.iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn calls_that_are_compared_with_a_constant_are_asked() {
    let check = |body: &str, expect: &[&str]| {
        let head = "import json\nimport unittest\nimport pytest\nimport shop\nfrom shop.till import Cart, total as add\n";
        let (asked, not_asked) = questions(&format!("{head}{body}"));
        assert_eq!(as_written(&asked), expect, "{body}");
        assert_eq!(not_asked, json!({}), "{body}");
    };
    check(
        "def test(): assert shop.price(3) == 9",
        &["shop.price |  | shop.price(3)"],
    );
    check(
        "def test(): assert 9 == add([1, 2])",
        &["shop.till.total |  | add([1, 2])"],
    );
    // An object, what was done to it, and nothing else.
    check(
        "def test():\n  n = 1\n  cart = Cart('x')\n  assert cart.put('tea', 2) == 2\n  cart.put('milk')\n  assert cart.size() == 3",
        &[
            "shop.till.Cart.put | cart = Cart('x') | cart.put('tea', 2)",
            "shop.till.Cart.size | cart = Cart('x'); cart.put('tea', 2) == 2; cart.put('milk') | cart.size()",
        ],
    );
    check(
        "class TestA(unittest.TestCase):\n  async def test(self):\n    seen = await add(5)\n    self.assertEqual(seen, 7)",
        &["shop.till.total | seen = await add(5) | seen"],
    );
    // Rows of parameters and of loops, without what is expected.
    check(
        "@pytest.mark.parametrize('n, expected', [(1, 2), pytest.param(3, 4, id='x')])\ndef test(n, expected): assert shop.twice(n) == expected",
        &[
            "shop.twice | n = 1 | shop.twice(n)",
            "shop.twice | n = 3 | shop.twice(n)",
        ],
    );
    check(
        "ROWS = (('a', 1), ('b', 2))\ndef test():\n  for text, code in ROWS:\n    assert shop.code(text) == code",
        &[
            "shop.code | text = 'a' | shop.code(text)",
            "shop.code | text = 'b' | shop.code(text)",
        ],
    );
    check(
        "class TestA(unittest.TestCase):\n  def test(self): self.assertTrue(shop.even(3) == False and add([1]) == 1)",
        &[
            "shop.even |  | shop.even(3)",
            "shop.till.total |  | add([1])",
        ],
    );
    check(
        "def same(one, other): assert one == other\ndef test(): same(shop.price(3), 9)",
        &["shop.price |  | shop.price(3)"],
    );
    check(
        "class TestA(unittest.TestCase):\n  def test(self):\n    assert shop.code('a') in (1, 2)\n    self.assertIn(add([3]), [3])",
        &[
            "shop.code |  | shop.code('a')",
            "shop.till.total |  | add([3])",
        ],
    );
    check(
        "def called(text): return json.dumps(shop.code(text))\ndef test(): assert called('a') == '1'",
        &["called |  | called('a')"],
    );
}

/// An answer of the package's says nothing of other code that passes the test.
#[test]
fn only_constants_are_expected_of_all_code() {
    let check = |body: &str, expect: Value| {
        let (asked, _) = questions(&format!("import shop\nSIX = 6\nMADE = shop.six()\n{body}"));
        assert_eq!(asked[0]["expected"], expect, "{body}");
    };
    check("def test(): assert shop.f(2) == 6", json!(["", "6"]));
    check("def test(): assert shop.f(2) == SIX", json!(["", "SIX"]));
    check(
        "def test():\n  six = 6\n  assert shop.f(2) == six",
        json!(["six = 6", "six"]),
    );
    check("def test(): assert shop.f(2) in [6]", json!(["", "6"]));
    check("def test(): assert shop.f(2) in [6, 7]", Value::Null);
    check(
        "def near(one, other): assert abs(one - other) < 9\ndef test(): near(shop.f(2), 6)",
        Value::Null,
    );
    check("def test(): assert shop.f(2) == MADE", Value::Null);
    check(
        "def test():\n  six = shop.six()[-1]\n  assert shop.f(2) == six",
        Value::Null,
    );
    check(
        "def test():\n  six = shop.SIX\n  assert shop.f(2) == six",
        Value::Null,
    );
    check(
        "def test():\n  shelf = shop.Shelf()\n  six = shelf.size\n  assert shop.f(2) == six",
        Value::Null,
    );
    check(
        "import unittest\nclass TestA(unittest.TestCase):\n  def test(self): self.assertAlmostEqual(shop.f(2), 6)",
        Value::Null,
    );
}

#[test]
fn a_row_is_found_by_its_place() {
    let check = |decorators: &str, ids: &[&str], expect: [Option<&str>; 2]| {
        let body = "def test(a, b): assert shop.f(a, b) == 6\n";
        let (asked, _) = questions(&format!("import pytest\nimport shop\n{decorators}{body}"));
        let order: Vec<String> = ids
            .iter()
            .map(|row| format!("tests/test_a.py::test{row}"))
            .collect();
        let found = [("1", "4"), ("2", "3")].map(|(a, b)| {
            let statements = |text: &str| {
                text.contains(&format!("a = {a}")) && text.contains(&format!("b = {b}"))
            };
            let one = asked
                .iter()
                .find(|q| statements(q["forms"][0][0].as_str().unwrap()));
            let mut question: Question = serde_json::from_value(one.unwrap().clone()).unwrap();
            question.find_row(&order);
            question.id
        });
        let found = found.each_ref().map(|id| {
            let id = id.as_deref()?;
            id.strip_prefix("tests/test_a.py::test")
        });
        assert_eq!(found, expect, "{decorators}");
    };
    let one = "@pytest.mark.parametrize('a, b', [(1, 4), (2, 3)])\n";
    check(one, &["[1-4]", "[2-3]"], [Some("[1-4]"), Some("[2-3]")]);
    // Something else makes rows too.
    check(one, &["[1-4-x]", "[2-3-x]", "[1-4-y]"], [None, None]);
    let scoped = "@pytest.mark.parametrize('a, b', [(1, 4), (2, 3)], scope='module')\n";
    check(scoped, &["[1-4]", "[2-3]"], [None, None]);
    let two = "@pytest.mark.parametrize('a', [1, 2])\n@pytest.mark.parametrize('b', [3, 4])\n";
    let ids = ["[3-1]", "[3-2]", "[4-1]", "[4-2]"];
    check(two, &ids, [Some("[4-1]"), Some("[3-2]")]);
}

#[test]
fn other_calls_are_counted() {
    let check = |body: &str, expect: Value| {
        let (asked, not_asked) = questions(&format!("import pytest\nimport shop\n{body}"));
        assert_eq!(
            (as_written(&asked), not_asked),
            (Vec::new(), expect),
            "{body}"
        );
    };
    check(
        "def test(cart): assert cart.size(3) == 9",
        json!({"needs a fixture": 1}),
    );
    check(
        "def test(n): assert shop.price(n) == 9",
        json!({"needs a fixture": 1}),
    );
    check(
        "class TestA:\n  def test(self): assert self.cart.size(1) == 9",
        json!({"needs the test's object": 1}),
    );
    check(
        "def test(): assert shop.price(True) == 9",
        json!({"no literal input": 1}),
    );
    check(
        "def test(): assert len('abc') == 3",
        json!({"no call of the package": 1}),
    );
    check(
        "from hypothesis import given\n@given(1)\ndef test(n): assert shop.price(3) == 9",
        json!({"inputs that differ from run to run": 1}),
    );
    check(
        "def test():\n  if True:\n    assert shop.price(3) == 9",
        json!({"inside a block that may not be reached": 1}),
    );
    // No comparison with a constant.
    check("def test(): assert shop.price(3)", json!({}));
    check(
        "def test(): assert shop.price(3) == shop.price(2) + 1",
        json!({}),
    );
    let many: String = (0..12)
        .map(|n| format!("def test_{n}(): assert shop.price({n}) == 9\n"))
        .collect();
    let (asked, not_asked) = questions(&format!("import shop\n{many}"));
    assert_eq!(
        (asked.len(), not_asked),
        (10, json!({"one of many of its function": 2}))
    );
}

/// One input of each form, to another of its type; never a number of another call.
#[test]
fn one_input_changes_a_little() {
    let text =
        "import shop\ndef test(): assert round(shop.price(8, 'tea', b'x', None, 0.0), 2) == 9";
    let (asked, _) = questions(text);
    let forms = asked[0]["forms"].as_array().unwrap();
    assert!(forms.len() > 7, "{forms:?}");
    let parts = |form: &Value| -> Vec<String> {
        let inside = form[1].as_str().unwrap().strip_prefix("round(shop.price(");
        let (inside, rest) = inside.unwrap().split_once(')').unwrap();
        assert_eq!(rest, ", 2)");
        inside.split(", ").map(str::to_owned).collect()
    };
    let own = parts(&forms[0]);
    for form in &forms[1..] {
        let changed = parts(form);
        let differ: Vec<usize> = (0..5).filter(|at| changed[*at] != own[*at]).collect();
        let [at] = differ[..] else { panic!("{form}") };
        assert_ne!(own[at], "None");
        let is_text = |text: &str| text.ends_with('\'');
        assert_eq!(is_text(&changed[at]), is_text(&own[at]), "{form}");
        assert!(
            !is_text(&own[at]) || changed[at].len() == own[at].len(),
            "{form}"
        );
    }
}

/// The answers to expressions that may use the names of a file.
fn answers(file: &str, expressions: &[&str]) -> Vec<Option<Answer>> {
    let folder = tempfile::tempdir().unwrap();
    let tests = folder.path().join("tests");
    std::fs::create_dir(&tests).unwrap();
    std::fs::write(tests.join("test_a.py"), file).unwrap();
    let asked = expressions
        .iter()
        .map(|expression| json!(["tests/test_a.py", "", expression]));
    let input = json!({
        "code": folder.path(), "seconds": 60, "seconds_each": 2, "copies": true,
        "questions": asked.collect::<Vec<_>>(),
    });
    let output = run(PROGRAM, &input);
    answers_of(&output, expressions.len())
}

#[test]
fn answers_are_equal_where_values_are() {
    let file = "import datetime, decimal, fractions\nclass Own: pass\nclass Text(str): pass\n\
                zone = datetime.timezone(datetime.timedelta(hours=2))\n";
    let pairs = [
        ("1", "True", true),
        ("1", "1.0", true),
        ("1", "'1'", false),
        ("0.1 + 0.2", "0.3", true),
        ("0.3", "0.3001", false),
        ("0.5", "decimal.Decimal('0.50')", true),
        ("fractions.Fraction(1, 2)", "0.5", true),
        ("'a'", "Text('a')", true),
        ("'a'", "b'a'", false),
        ("'a' * 999", "'a' * 998", false),
        ("{1: 2, 3: 4}", "{3: 4, 1: 2}", true),
        ("{'a', 'b'}", "frozenset('ba')", true),
        ("[1, 2]", "(1, 2)", false),
        ("[1, [2]]", "[1, [3]]", false),
        (
            "datetime.datetime(2020, 1, 1, 2, tzinfo=zone)",
            "datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)",
            true,
        ),
        ("float('inf')", "float('-inf')", false),
    ];
    let expressions: Vec<&str> = pairs
        .iter()
        .flat_map(|(one, other, _)| [*one, *other])
        .collect();
    let all = answers(file, &expressions);
    for ((one, other, equal), answers) in pairs.iter().zip(all.chunks(2)) {
        assert!(
            answers.iter().all(|a| matches!(a, Some(Answer::Is(_)))),
            "{one} {other}"
        );
        assert_eq!(
            answers[0] == answers[1],
            *equal,
            "{one} {other} {answers:?}"
        );
    }
    let other = answers(file, &["Own()", "[Own()]", "iter([])", "1 / 0"]);
    let raised = Some(Answer::Raised("ZeroDivisionError".into()));
    let unknown = Some(Answer::Other);
    assert_eq!(other, [unknown.clone(), unknown.clone(), unknown, raised]);
}

/// Each question has a process of its own: those that hang, end it or change what
/// all use are no answer, and no answer to others.
#[test]
fn a_question_that_is_not_answered_harms_no_other() {
    let file = "import os, signal, sys, time\nseen = []\nasync def later(): return 7\n\
                def stay():\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    time.sleep(600)\n";
    let is = |text: &str| Some(Answer::Is(text.into()));
    let all = answers(
        file,
        &[
            "stay()",
            "os._exit(0)",
            "os.kill(0, 9)",
            "seen.append(1)",
            "len(seen)",
            "sys.exit()",
            "os.closerange(0, 99)",
            "print('[0, {\"is\": \"1\"}]')",
            "await later()",
            "6",
        ],
    );
    assert_eq!(all[..3], [None, None, None]);
    let raised = Some(Answer::Raised("SystemExit".into()));
    assert_eq!(all[3..6], [is("None"), is("0"), raised]);
    assert_eq!(all[7..], [is("None"), is("7"), is("6")]);
    let broken = answers("import nothing_of_this_name\n", &["1"]);
    assert_eq!(broken, [None]);
}
