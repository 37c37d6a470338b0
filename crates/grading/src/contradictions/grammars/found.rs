//! What a grammar's query finds in a file of tests.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use tree_sitter::{Node, Query, QueryCursor, StreamingIterator};

use super::Grammar;
use super::places::{Leaves, Span};

/// What the query finds in a file.
#[derive(Default)]
pub(super) struct Found<'t> {
    /// Tests, by the places where they begin and end.
    pub tests: BTreeMap<(usize, usize), Test<'t>>,
    pub assertions: Vec<Assertion<'t>>,
    /// The bytes of what tests say when they fail, and of what they must end in.
    pub messages: Vec<Range<usize>>,
    pub panics: Vec<Range<usize>>,
    pub locals: Vec<(Node<'t>, Node<'t>)>,
    /// By the node within which statements are reached: the one around it, and the table.
    pub through: HashMap<usize, Loop<'t>>,
}

pub(super) struct Test<'t> {
    pub name: String,
    pub node: Node<'t>,
    pub body: Node<'t>,
    pub table: Option<Table<'t>>,
}

#[derive(Clone, Copy)]
pub(super) struct Loop<'t> {
    pub around: Node<'t>,
    pub table: Option<Table<'t>>,
}

/// Over what a loop goes, and the names of its columns.
#[derive(Clone, Copy)]
pub(super) struct Table<'t> {
    pub over: Node<'t>,
    pub row: Option<Node<'t>>,
}

pub(super) struct Assertion<'t> {
    pub at: Node<'t>,
    pub sides: Vec<Span>,
    pub expected: Option<Span>,
    pub truth: Option<Span>,
}

pub(super) fn found<'t>(
    grammar: &Grammar,
    query: &Query,
    root: Node<'t>,
    leaves: &Leaves<'_>,
) -> Found<'t> {
    let mut found = Found::default();
    let names = query.capture_names();
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(query, root, leaves.source());
    while let Some(one) = matches.next() {
        let nodes: HashMap<&str, Node<'t>> = one
            .captures()
            .iter()
            .map(|capture| (names[capture.index as usize], capture.node))
            .collect();
        let node = |name: &str| nodes.get(name).copied();
        let span = |name: &str| node(name).map(|node| leaves.span(node));
        let table = node("over").map(|over| Table {
            over,
            row: node("row"),
        });
        if let (Some(test), Some(name), Some(body)) = (node("test"), node("name"), node("body")) {
            let name = leaves.text(&leaves.span(name));
            let name = name.trim_matches(['"', '\'', '`']).to_owned();
            let range = test.byte_range();
            let test = Test {
                name,
                node: test,
                body,
                table,
            };
            found.tests.entry((range.start, range.end)).or_insert(test);
        } else if let (Some(local), Some(value)) = (node("local"), node("value")) {
            found.locals.push((local, value));
        } else if let Some(around) = node("through") {
            let inner = node("inner").unwrap_or(around);
            found.through.insert(inner.id(), Loop { around, table });
        } else if let Some(panics) = node("panics") {
            found.panics.push(panics.byte_range());
        } else if let Some(with) = node("panics.with") {
            let expected = Some(leaves.span(with));
            found.assertions.push(Assertion {
                at: with,
                sides: Vec::new(),
                expected,
                truth: None,
            });
        }
        found
            .messages
            .extend(node("message").map(|message| message.byte_range()));
        let Some(at) = node("at") else { continue };
        let arguments = |name: &str| span(name).and_then(|span| leaves.elements(&span));
        let mut sides = arguments("sides").unwrap_or_default();
        // The test itself comes first: assert.Equal(t, …).
        let is_test = |side: &Span| ["t", "tb", "b"].contains(&leaves.text(side));
        sides.drain(..usize::from(sides.len() > 2 && sides.first().is_some_and(is_test)));
        sides.truncate(2);
        let mut truths = arguments("truths").unwrap_or_default();
        truths.drain(..usize::from(truths.first().is_some_and(is_test)));
        let truth = truths.into_iter().next().or_else(|| span("fails"));
        let joined: &[&str] = if node("fails").is_some() {
            &["||"]
        } else {
            &["&&"]
        };
        let truth_only = Assertion {
            at,
            sides: Vec::new(),
            expected: None,
            truth: truth.clone(),
        };
        for part in truth.iter().flat_map(|truth| leaves.split(truth, joined)) {
            let two = leaves.split(&part, grammar.equal);
            if two.len() == 2 {
                found.assertions.push(Assertion {
                    at,
                    sides: two,
                    expected: None,
                    truth: None,
                });
            }
        }
        found.assertions.push(Assertion {
            sides,
            expected: span("expected"),
            ..truth_only
        });
    }
    found
}
