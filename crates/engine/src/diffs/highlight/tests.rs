//! Tests of the syntax colours in diffs.

use similar::TextDiff;

use super::*;

/// The coloured tokens in the hunks between two versions, as `k:def`.
fn coloured(path: &str, old: &str, new: &str) -> (String, Vec<String>) {
    let hunks = TextDiff::from_lines(old, new).unified_diff().to_string();
    let tokens = match is_coloured(path, old, new) {
        true => tokens(old, new, &hunks),
        false => Vec::new(),
    };
    let word = |word: &Coloured| {
        let text = &hunks[word.from as usize..word.to as usize];
        format!("{}:{text}", &word.token.name()[..1])
    };
    let words = tokens.iter().map(word).collect();
    assert!(tokens.is_sorted_by_key(|word| (word.from, word.to)));
    (hunks, words)
}

fn of(code: &str) -> Vec<String> {
    coloured("a.py", "", code).1
}

#[test]
fn words_of_each_kind() {
    let check = |code: &str, expect: &[&str]| assert_eq!(of(code), expect, "{code}");
    check("x = y + 1  # why\n", &["c:1", "c:# why"]);
    check(
        "x = None if not y else 0x1f\n",
        &["c:None", "k:if", "k:not", "k:else", "c:0x1f"],
    );
    check(
        "async def f(a):\n    return g(a)\n",
        &["k:async", "k:def", "f:f", "k:return"],
    );
    check(
        "class A(B, c=d):\n    pass\n",
        &["k:class", "t:A", "k:pass"],
    );
    check(
        "def f(a: int = 1, *b: list[x.Y]) -> 'Z | None': ...\n",
        &["k:def", "f:f", "c:1", "s:'Z | None'"],
    );
    check(
        "@pytest.mark.parametrize(\"a.b\", [c.d])\ndef f(a): ...\n",
        &["f:@pytest.mark.parametrize", "s:\"a.b\"", "k:def", "f:f"],
    );
    check(
        "@property\ndef f(self): ...\n",
        &["f:@property", "k:def", "f:f"],
    );
    check(
        "x = rb'\\'' + f'{a!r:>{b}} {{'\n",
        &["s:rb'\\''", "s:f'{a!r:>{b}} {{'"],
    );
    check("a not in b, a is b\n", &["k:not", "k:in", "k:is"]);
    check("a.None + b . class\n", &[]);
    check(
        "1_0.5e-3j + .5 - 0xe+1\n",
        &["c:1_0.5e-3j", "c:.5", "c:0xe", "c:1"],
    );
    check("a = (b\n     @ c)\n", &[]);
    check(
        "a = 'open\nb = '\\\n' + 1\n",
        &["s:'open", "s:'\\", "s:'", "c:1"],
    );
    // Soft keywords are keywords only in their place.
    check("match = type(print)\n", &[]);
    check(
        "match a:\n    case 1: pass\n",
        &["k:match", "k:case", "c:1", "k:pass"],
    );
}

#[test]
fn strings_of_many_lines_across_the_edges_of_hunks() {
    let quotes = "\"\"\"";
    let lines: String = (0..20).map(|i| format!("    if {i}\n")).collect();
    let old = format!("def f():\n    {quotes}\n{lines}    {quotes}\n    return 1\n");
    let new = old.replace("if 9\n", "if not 9\n");
    let (hunks, words) = coloured("a.py", &old, &new);
    // The hunk itself does not show that it is inside a string.
    assert!(!hunks.contains(quotes), "{hunks}");
    let expect: Vec<String> = ["6", "7", "8", "9", "not 9", "10", "11", "12"]
        .map(|line| format!("s:if {line}"))
        .into();
    assert_eq!(words, expect);
    // Before the change it was no string.
    let opened = new
        .replacen("def f():\n", "def f():\n    x = 1\n", 1)
        .replacen(quotes, "", 1);
    let (_, words) = coloured("a.pyi", &opened, &new);
    assert!(words.contains(&"c:1".to_owned()), "{words:?}");
}

#[test]
fn lines_that_end_oddly() {
    let check = |old: &str, new: &str, expect: &[&str]| {
        assert_eq!(coloured("a.py", old, new).1, expect, "{old:?} {new:?}");
    };
    check(
        "if a:\r\n  b = 1\r\n",
        "if a:\r\n  b = 2\r\n",
        &["k:if", "c:1", "c:2"],
    );
    check("a = '''b\r\nc'''\r\n", "", &["s:'''b", "s:c'''"]);
    check("a = 1", "a = 2", &["c:1", "c:2"]);
    check("a = 1\n", "a = 1\nb = 2", &["c:1", "c:2"]);
    check(
        "a = 1\n# b\rc\n",
        "a = 2\n# b\rc\n",
        &["c:1", "c:2", "c:# b"],
    );
    check("", "\n\n", &[]);
}

#[test]
fn text_that_is_not_ascii() {
    let code = "größe = 'naïve 🦀' # π\nclass Straße: pass\n";
    assert_eq!(
        of(code),
        ["s:'naïve 🦀'", "c:# π", "k:class", "t:Straße", "k:pass"]
    );
    assert_eq!(of("\u{feff}a = '\u{202e}'\u{a0}\n"), ["s:'\u{202e}'"]);
}

#[test]
fn files_that_are_not_python() {
    assert!(of("def f(: )\n  return 'a\nclass\nx = 1\n").contains(&"k:def".to_owned()));
    for code in [
        "\0",
        "'",
        "'''",
        "f'{",
        "f\"{'",
        "\\",
        "((",
        "\t)\n \t}",
        "$?`",
        "@",
    ] {
        of(code);
        of(&format!("def f():\n  {code}"));
    }
    assert!(coloured("a.rs", "", "def f(): pass\n").1.is_empty());
    assert!(coloured("py", "", "def f(): pass\n").1.is_empty());
    // Hunks of another file.
    let hunks = "@@ -1 +1 @@\n-def g(): pass\n+def f(): pass\n";
    let found = |old: &str, hunks: &str| tokens(old, "def f(): pass\n", hunks);
    assert_eq!(found("def g(): pass\n", hunks).len(), 6);
    assert!(found("def h(): pass\n", hunks).is_empty());
    for hunks in [
        "@@",
        "@@ -9 +9 @@\n-a\n",
        "@@ -1 +1 @@\nü",
        "?",
        "@@ -1 +1 @@\n-",
    ] {
        assert!(found("def g(): pass\n", hunks).is_empty(), "{hunks}");
    }
}

/// For any input, tokens are in order and inside the text.
#[test]
fn soup() {
    let parts = [
        "'", "\"", "\"\"\"", "\\", "\n", "\r\n", "#", "@", "f", "rb", "def ", "class ", ".", "0x",
        "1e-", "é", "🦀", "\u{feff}", " ", "\t", "(", "match ", ":", "None", "_",
    ];
    let mut seed = 1_u64;
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(parts[(seed >> 33) as usize % parts.len()]);
        }
        let mut end = 0;
        for (from, to, _) in python::words(&text) {
            assert!(end <= from && from < to, "{text:?}");
            assert!(text.get(from..to).is_some(), "{text:?}");
            end = to;
        }
    }
}

#[test]
fn long_files_stay_plain() {
    let code = "a = 1\n".repeat(LONGEST_FILE / 6 + 1);
    assert!(of(&code).is_empty());
    assert!(!of(&code[6..]).is_empty());
}
