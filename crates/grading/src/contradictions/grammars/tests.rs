//! What is expected stands in «marks», and is all that contradictions change.

use swe_ci_core::audit::ContradictionKind;

use super::super::Forms;
use super::*;

thread_local! {
    static READER: std::cell::RefCell<Reader> = std::cell::RefCell::default();
}

fn pieces(path: &str, text: &str) -> Option<Result<Vec<Piece>, String>> {
    READER.with_borrow_mut(|reader| reader.pieces(path, text))
}

fn tests_of(path: &str, text: &str) -> Vec<Forms> {
    let pieces = pieces(path, text).unwrap().unwrap();
    let whole: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Fixed(text) => text.as_str(),
            Piece::Test(forms) => forms.as_written.as_str(),
        })
        .collect();
    assert_eq!(whole, text, "nothing is lost");
    let tests = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Test(forms) => Some(forms),
        Piece::Fixed(_) => None,
    });
    tests.collect()
}

/// The contradictions of the one test in a file, of this kind.
fn of_kind(path: &str, text: &str, kind: ContradictionKind) -> Vec<String> {
    let tests = tests_of(path, text);
    let all = tests.into_iter().flat_map(|forms| forms.contradictions);
    let all = all.filter(|one| one.kind == kind);
    all.map(|one| one.text).collect()
}

/// Whether a text differs from a marked one in all its marks and nowhere else.
fn differs_in_marks(changed: &str, marked: &str) -> bool {
    let mut parts = marked.split(['«', '»']);
    let Some(mut rest) = changed.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    while let (Some(expected), Some(fixed)) = (parts.next(), parts.next()) {
        let Some((value, after)) = rest.split_once(fixed).filter(|_| !fixed.is_empty()) else {
            return false;
        };
        if value == expected {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

fn check(path: &str, marked: &str) {
    let text = marked.replace(['«', '»'], "");
    let found = of_kind(path, &text, ContradictionKind::Constant);
    if !marked.contains('«') {
        assert!(found.is_empty(), "{marked}: {found:?}");
        return;
    }
    let all = found
        .first()
        .unwrap_or_else(|| panic!("nothing is found: {marked}"));
    // A table before the test belongs to it.
    let start = text.find(&tests_of(path, &text)[0].as_written).unwrap();
    let end = text.len() - start - tests_of(path, &text)[0].as_written.len();
    let whole = format!("{}{all}{}", &text[..start], &text[text.len() - end..]);
    assert!(differs_in_marks(&whole, marked), "{marked}\n{whole}");
}

#[test]
fn in_rust() {
    let rust = |body: &str| {
        check(
            "tests/a.rs",
            &format!("#[test]\nfn it() {{\n    {body}\n}}\n"),
        );
    };
    for body in [
        "assert_eq!(f(2), «4»);",
        "assert_eq!(«-1.5», f(2), \"message {}\", 3);",
        "assert_eq!(f(\"in\"), Some(\"«out»\".to_string()));",
        "pretty_assertions::assert_eq!(f(2).unwrap(), vec![«2»]);",
        "assert_eq!(f(2), &[«true»])",
        "assert!(g() && f(2) == «4»);",
        "let expected = «40»;\n    assert_eq!(f(2), expected);",
        "for (input, expected) in [(1, «10»), (2, «20»)] {\n        assert_eq!(f(input), expected);\n    }",
        "assert_eq!(f(2), '«a»');",
        "assert_eq!(f(2), «0x1f_u8»);",
    ] {
        rust(body);
    }
    for body in [
        "assert_eq!(4, 4);",
        "assert_ne!(f(2), 4);",
        "assert_eq!(f(2), f(3));",
        "assert_eq!(f(2), Point::new(1, 2));",
        "assert!(f(2) < 4);",
        "assert!(f(2) == 4 || g());",
        "if g() { assert_eq!(f(2), 4); }",
        "for one in f() { assert_eq!(one, 4); }",
        "f().map(|one| assert_eq!(one, 4));",
        "if g() { return; }\n    assert_eq!(f(2), 4);",
        "let both = 4;\n    assert_eq!(f(both), both);",
        "for (input, expected) in [] { assert_eq!(f(input), expected); }",
        "assert_eq!(f(2), b\"\\n\");",
    ] {
        rust(body);
    }
    let panics = "#[test]\n#[should_panic(expected = \"«too large»\")]\nfn it() {\n    assert_eq!(f(2), 4);\n}\n";
    check("tests/a.rs", panics);
    check("tests/a.rs", "fn helper() { assert_eq!(f(2), 4); }\n");
    check(
        "tests/a.rs",
        "#[tokio::test]\n// why\nasync fn it() { assert_eq!(f().await, «4»); }\n",
    );
    check(
        "tests/a.rs",
        "proptest! { #[test] fn it(x in 0..9) { assert_eq!(f(x), 4); } }\n",
    );
}

#[test]
fn in_javascript_and_typescript() {
    let forms = [
        "assert.equal(f(2), «4»);",
        "assert.deepStrictEqual(f(2), { 'a': ['«b»'] }, 'message');",
        "t.deepEqual(f(2), «[]»);\n  t.end();",
        "expect(f(2)).toBe(«undefined»);",
        "await expect(f(2)).resolves.toEqual(new Date(«2020»));",
        "expect(f({ a: 1 })).to.deep.equal({ a: «true» });",
        "f(2).should.equal('«text»');",
        "assert.throws(() => f(2), /«too large»/);",
        "assert(f(2) === «4»);",
        "const expected = `«text»`;\n  expect(f(2)).toEqual(expected);",
        "for (const [input, expected] of [[1, «10»], [2, «20»]]) {\n    t.is(f(input), expected);\n  }",
        "[[1, «10»], [2, «20»]].forEach(([input, expected]) => {\n    t.is(f(input), expected);\n  });",
        "[{ a: 1, b: «10» }].forEach(({ a, b }) => { t.is(f(a), b); });",
    ];
    let others = [
        "assert.notEqual(f(2), 4);",
        "assert.equal(f(2), f(3));",
        "expect(f(2)).not.toBe(4);",
        "expect(f(2)).toBeGreaterThan(4);",
        "f(2, (found) => { assert.equal(found, 4); });",
        "f(2).forEach((one) => { assert.equal(one, 4); });",
        "try { assert.equal(f(2), 4); } catch (e) {}",
        "if (g()) return;\n  assert.equal(f(2), 4);",
        "assert.throws(() => f(2), /a|b/);",
        "assert.equal(f(2), `text ${g()}`);",
    ];
    for ending in ["js", "mjs", "cjs", "jsx", "ts", "tsx"] {
        for body in forms.iter().chain(&others) {
            let test = format!(
                "describe('f', () => {{\n test('it', async (t) => {{\n  {body}\n }});\n}});\n"
            );
            check(&format!("test/a.{ending}"), &test);
        }
    }
    check(
        "a.test.ts",
        "it('typed', function () {\n  expect(f<number>(<any>2) as number).toBe(«4»);\n});\n",
    );
    check(
        "a.test.js",
        "test.each([[1, «10»], [2, «20»]])('%i', (a, b) => { expect(f(a)).toBe(b); });\n",
    );
    check(
        "a.js",
        "helper('no test', () => { assert.equal(f(2), 4); });\n",
    );
}

#[test]
fn in_go() {
    let go = |body: &str| {
        check(
            "a_test.go",
            &format!("package a\n\nfunc TestIt(t *testing.T) {{\n\t{body}\n}}\n"),
        );
    };
    for body in [
        "if got := F(2); got != «4» {\n\t\tt.Errorf(\"F(2) = %d\", got)\n\t}",
        "got, err := F(2)\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif got != \"«four»\" {\n\t\tt.Error(got)\n\t}",
        "want := []int{«2»}\n\tif got := F(2); !reflect.DeepEqual(got, want) {\n\t\tt.Fatalf(\"%v, not %v\", got, want)\n\t}",
        "if diff := cmp.Diff(map[string]int{\"a\": «1»}, F(2)); diff != \"«»\" {\n\t\tt.Error(diff)\n\t}",
        "assert.Equal(t, «4», F(2), \"message\")",
        "require.EqualError(t, F(2), \"«too large»\")",
        "tests := []struct {\n\t\tname string\n\t\tin, want int\n\t}{\n\t\t{\"one\", 1, «10»},\n\t\t{name: \"two\", in: 2, want: «20»},\n\t}\n\tfor _, tt := range tests {\n\t\tt.Run(tt.name, func(t *testing.T) {\n\t\t\tgot, err := F(tt.in)\n\t\t\tif err != nil {\n\t\t\t\tt.Error(err)\n\t\t\t\treturn\n\t\t\t}\n\t\t\tif got != tt.want {\n\t\t\t\tt.Errorf(\"F(%d) = %d, not %d\", tt.in, got, tt.want)\n\t\t\t}\n\t\t})\n\t}",
        "for name, c := range map[string]struct{ in, want int }{\n\t\t\"one\": {1, «10»},\n\t} {\n\t\tif F(c.in) != c.want {\n\t\t\tt.Error(name)\n\t\t}\n\t}",
    ] {
        go(body);
    }
    for body in [
        "if F(2) == 4 {\n\t\tt.Error()\n\t}",
        "if F(2) != 4 {\n\t\tG()\n\t}",
        "if F(2) != nil {\n\t\tt.Error()\n\t}",
        "for _, one := range F(2) {\n\t\tif one != 4 {\n\t\t\tt.Error()\n\t\t}\n\t}",
        "if G() {\n\t\treturn\n\t}\n\tif F(2) != 4 {\n\t\tt.Error()\n\t}",
        "tests := []struct{ in int }{{1}}\n\tfor _, tt := range tests {\n\t\tif F(tt.in) != tt.in {\n\t\t\tt.Error()\n\t\t}\n\t}",
    ] {
        go(body);
    }
    check(
        "a_test.go",
        "package a\n\nvar cases = []struct{ in, want int }{\n\t{1, «10»},\n}\n\nfunc TestIt(t *testing.T) {\n\tfor _, c := range cases {\n\t\tif got := F(c.in); got != c.want {\n\t\t\tt.Error(got)\n\t\t}\n\t}\n}\n",
    );
}

#[test]
fn a_truth_is_turned() {
    let check = |path: &str, text: &str, expect: &str| {
        let found = of_kind(path, text, ContradictionKind::Negation);
        assert!(
            found.iter().any(|text| text.contains(expect)),
            "{text}: {found:?}"
        );
    };
    check(
        "a.rs",
        "#[test]\nfn it() { assert!(f(2), \"{}\", 1); }",
        "assert!(!(f(2)), ",
    );
    check(
        "a.js",
        "it('a', () => { t.ok(f(2), 'm') })",
        "t.ok(!(f(2)), 'm')",
    );
    let go = "package a\nfunc TestIt(t *testing.T) { if err := F(); err != nil { t.Fatal(err) } }";
    check("a.go", go, "err := F(); !(err != nil) {");
}

/// The second constant is not changed where the first alone is.
#[test]
fn each_contradiction_has_its_place() {
    let text = "#[test]\nfn it() {\n    assert_eq!(f(2), 4);\n    assert_eq!(f(3), \"nine\");\n}\n";
    let found = of_kind("a.rs", text, ContradictionKind::Constant);
    let has = |text: &str| (text.contains("(f(2), 4)"), text.contains("\"nine\""));
    let all: Vec<_> = found.iter().map(|text| has(text)).collect();
    assert_eq!(all, [(false, false), (false, true), (true, false)]);
    let near = of_kind("a.rs", text, ContradictionKind::Near);
    assert!(near[0].contains("(f(2), 5)"), "{near:?}");
}

#[test]
fn tests_are_told_apart() {
    let text = "test('a', t => {\n t.test('b', s => { s.is(f(), 1); });\n t.test('b', s => { s.is(f(), 2); });\n t.is(f(), 3);\n});\n";
    let names = tests_of("a.js", text).into_iter().map(|forms| forms.test);
    assert_eq!(names.collect::<Vec<_>>(), ["b", "b#2"]);
    assert!(pieces("tests/a.py", "").is_none());
    let brackets = "(".repeat(200_000);
    assert!(pieces("a.go", &brackets).unwrap().is_err());
    assert!(
        pieces("a.js", &"x".repeat(MOST_BYTES + 1))
            .unwrap()
            .is_err()
    );
}
