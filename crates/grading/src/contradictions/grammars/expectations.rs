//! The tests of a file, and which of their expectations can be changed so that the test
//! and its contradiction cannot both hold.

use std::ops::Range;

use tree_sitter::{Node, Query};

use super::Grammar;
use super::changes::{Expectation, Unit};
use super::found::{Assertion, Found, Table, Test, found};
use super::places::{Leaves, Span};

/// Statements that may end a test early, and what they end instead of it.
const LEAVING: [&str; 6] = [
    "return_statement",
    "break_statement",
    "continue_statement",
    "return_expression",
    "break_expression",
    "continue_expression",
];
const FUNCTIONS: [&str; 7] = [
    "function_item",
    "closure_expression",
    "arrow_function",
    "function_expression",
    "function_declaration",
    "method_definition",
    "func_literal",
];

pub(super) fn units(
    grammar: &Grammar,
    query: &Query,
    root: Node<'_>,
    leaves: &Leaves<'_>,
) -> Vec<Unit> {
    let found = found(grammar, query, root, leaves);
    let mut units: Vec<Unit> = Vec::new();
    for (place, test) in &found.tests {
        let inside =
            |other: &&(usize, usize)| *other != place && other.0 >= place.0 && other.1 <= place.1;
        // A test that holds others has none of its own.
        if found.tests.keys().any(|other| inside(&other)) {
            continue;
        }
        let free = units.last().map_or(0, |before| before.range.end);
        let mut unit = Reader {
            grammar,
            found: &found,
            leaves,
            test,
        }
        .unit(free);
        let same = units
            .iter()
            .filter(|before| before.name == unit.name)
            .count();
        if same > 0 {
            unit.name = format!("{}#{}", unit.name, same + 1);
        }
        units.push(unit);
    }
    units
}

/// Reads one test.
struct Reader<'a, 't> {
    grammar: &'a Grammar,
    found: &'a Found<'t>,
    leaves: &'a Leaves<'a>,
    test: &'a Test<'t>,
}

impl<'t> Reader<'_, 't> {
    /// It may begin after other tests' ends.
    fn unit(&self, free: usize) -> Unit {
        let mut node = self.test.node;
        while let Some(before) = node.prev_sibling().filter(|n| n.kind() == "attribute_item") {
            node = before;
        }
        let mut range = node.start_byte()..self.test.node.end_byte();
        // Tables before the test belong to it where nothing else has them.
        for (name, value) in &self.found.locals {
            let declaration = value.parent().and_then(|n| n.parent()).unwrap_or(*value);
            let is_before = declaration.start_byte() >= free && value.end_byte() <= range.start;
            let name = self.leaves.text(&self.leaves.span(*name));
            let whole = 0..self.leaves.span(self.test.node).end;
            let own = self.leaves.span(self.test.node);
            let uses = |span: &Span| self.leaves.uses(span, name).count();
            let elsewhere = self.leaves.uses(&(0..self.leaves.len()), name).count();
            if is_before
                && uses(&own) > 0
                && elsewhere == uses(&own) + 1
                && uses(&whole) == elsewhere
            {
                range.start = declaration.start_byte().min(range.start);
            }
        }
        let inside = |r: &Range<usize>| r.start >= range.start && r.end <= range.end;
        let panics = self.found.panics.iter().find(|panics| inside(panics));
        let mut expectations = Vec::new();
        for assertion in &self.found.assertions {
            let place = assertion.at.byte_range();
            if !inside(&place) {
                continue;
            }
            match panics {
                // Any other failure would pass for the panic.
                Some(panics) if panics.contains(&place.start) => {
                    expectations.extend(
                        assertion
                            .expected
                            .clone()
                            .map(|e| Expectation::Constants(vec![e])),
                    );
                }
                Some(_) => {}
                None => {
                    if let Some(tables) = self.reached(assertion.at) {
                        self.expect(assertion, &tables, &range, &mut expectations);
                    }
                }
            }
        }
        Unit {
            name: self.test.name.clone(),
            range,
            expectations,
        }
    }

    /// Whether every run of the test comes to a statement, and through which tables.
    fn reached(&self, at: Node<'t>) -> Option<Vec<Table<'t>>> {
        let mut tables: Vec<Table<'t>> = self.test.table.into_iter().collect();
        let mut inner = at;
        loop {
            if self.leaves_before(inner) {
                return None;
            }
            let mut node = inner.parent()?;
            if node == self.test.body {
                return Some(tables);
            }
            if let Some(through) = self.found.through.get(&node.id()) {
                let rows = through.table.map(|table| self.rows(table).is_empty());
                if rows == Some(true) {
                    return None;
                }
                tables.extend(through.table);
                node = through.around;
            } else if !self.grammar.open.contains(&node.kind()) {
                return None;
            }
            inner = node;
        }
    }

    /// Whether a statement before this one, in its block, may end the test early. A
    /// branch that says why the test fails may.
    fn leaves_before(&self, statement: Node<'_>) -> bool {
        let mut before = statement.prev_named_sibling();
        while let Some(node) = before {
            if self.leaves_within(node) {
                return true;
            }
            before = node.prev_named_sibling();
        }
        false
    }

    fn leaves_within(&self, root: Node<'_>) -> bool {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let kind = node.kind();
            if LEAVING.contains(&kind) && !self.says_why(node) {
                return true;
            }
            // A function within leaves itself alone.
            if !FUNCTIONS.contains(&kind) {
                let mut cursor = node.walk();
                open.extend(node.named_children(&mut cursor));
            }
        }
        false
    }

    fn says_why(&self, leaving: Node<'_>) -> bool {
        let block = leaving.parent().map(|block| block.byte_range());
        let block = block.unwrap_or_default();
        let mut messages = self.found.messages.iter();
        messages.any(|m| block.contains(&m.start) && m.end <= leaving.start_byte())
    }

    fn expect(
        &self,
        assertion: &Assertion<'_>,
        tables: &[Table<'t>],
        range: &Range<usize>,
        expectations: &mut Vec<Expectation>,
    ) {
        let leaves = self.leaves;
        let is_constant = |side: &Span| leaves.is_constant(side);
        let expected: Vec<&Span> = match &assertion.expected {
            Some(expected) => vec![expected],
            None if assertion.sides.iter().all(is_constant) => Vec::new(),
            None => assertion.sides.iter().collect(),
        };
        let constants = expected.iter().filter(|side| is_constant(side));
        let before = expectations.len();
        expectations.extend(constants.map(|side| Expectation::Constants(vec![(*side).clone()])));
        if expectations.len() == before {
            let named = expected
                .iter()
                .filter_map(|side| self.named(leaves.name(side)?, tables, range));
            expectations.extend(named.map(Expectation::Constants).next());
        }
        expectations.extend(assertion.truth.clone().map(Expectation::Truth));
    }

    /// The constants of a name that is nothing but an expected side.
    fn named(&self, name: &str, tables: &[Table<'t>], range: &Range<usize>) -> Option<Vec<Span>> {
        let leaves = self.leaves;
        let inside =
            |node: Node<'_>| node.start_byte() >= range.start && node.end_byte() <= range.end;
        let locals =
            self.found.locals.iter().filter(|(local, value)| {
                leaves.text(&leaves.span(*local)) == name && inside(*value)
            });
        let locals: Vec<_> = locals.collect();
        let mut declared: Vec<Range<usize>> =
            locals.iter().map(|(local, _)| local.byte_range()).collect();
        let mut columns = Vec::new();
        for table in tables {
            let (over, column) = (self.over(*table), self.column(*table, name));
            if inside(over) && !column.is_empty() {
                columns.push(column);
                declared.push(over.byte_range());
                declared.extend(table.row.map(|row| row.byte_range()));
            }
        }
        let sides = self
            .found
            .assertions
            .iter()
            .flat_map(|a| a.sides.iter().chain(&a.expected));
        declared.extend(
            sides
                .filter(|side| leaves.name(side) == Some(name))
                .map(|side| leaves.bytes(side)),
        );
        declared.extend(self.found.messages.iter().cloned());
        let whole = leaves.within(range);
        let is_only_expected = leaves.uses(&whole, name).all(|at| {
            let place = leaves.bytes(&(at..at + 1));
            declared
                .iter()
                .any(|d| d.start <= place.start && place.end <= d.end)
        });
        let constants = match (locals.as_slice(), columns.as_slice()) {
            ([(_, value)], []) => vec![leaves.span(*value)],
            ([], [column]) => column.clone(),
            _ => Vec::new(),
        };
        let constants = constants.into_iter().filter(|one| leaves.is_constant(one));
        let constants: Vec<Span> = constants.collect();
        (is_only_expected && !constants.is_empty()).then_some(constants)
    }

    /// The literal that a table is.
    fn over(&self, table: Table<'t>) -> Node<'t> {
        let name = self.leaves.text(&self.leaves.span(table.over));
        let mut locals = self.found.locals.iter();
        let local = locals.find(|(local, _)| self.leaves.text(&self.leaves.span(*local)) == name);
        let value = local.map_or(table.over, |(_, value)| *value);
        match value.kind() {
            "reference_expression" => value.child_by_field_name("value").unwrap_or(value),
            _ => value,
        }
    }

    fn rows(&self, table: Table<'t>) -> Vec<Span> {
        let over = self.over(table);
        if !self.grammar.tables.contains(&over.kind()) {
            return Vec::new();
        }
        let body = over.child_by_field_name("body").unwrap_or(over);
        self.leaves
            .elements(&self.leaves.span(body))
            .unwrap_or_default()
    }

    /// The cells of a table that have this name: by their keys, or by their places.
    fn column(&self, table: Table<'t>, name: &str) -> Vec<Span> {
        let leaves = self.leaves;
        let row = table
            .row
            .or_else(|| self.over(table).child_by_field_name("type"));
        let names = row.map(|row| match row.kind() {
            "slice_type" | "array_type" | "map_type" => self.fields(row),
            _ => leaves.names(&leaves.span(row)),
        });
        let place = names
            .unwrap_or_default()
            .iter()
            .position(|one| *one == name);
        let cell = |row: Span| {
            let (_, row) = leaves.keyed(&row);
            // What has brackets may follow the name of its type.
            let row = match leaves.get(&row) {
                [first, second, ..] if second.text == "{" && first.text != "{" => {
                    row.start + 1..row.end
                }
                _ => row,
            };
            let cells = leaves.elements(&row).unwrap_or_else(|| vec![row]);
            let keyed = cells.iter().map(|cell| leaves.keyed(cell));
            let by_key = keyed.clone().find(|(key, _)| *key == Some(name));
            let has_keys = keyed.clone().any(|(key, _)| key.is_some());
            let by_place = place
                .filter(|_| !has_keys)
                .and_then(|place| keyed.clone().nth(place));
            by_key.or(by_place).map(|(_, cell)| cell)
        };
        self.rows(table).into_iter().filter_map(cell).collect()
    }

    /// The fields of the structures in a list.
    fn fields(&self, list: Node<'t>) -> Vec<&str> {
        let (mut names, mut open) = (Vec::new(), vec![list]);
        while let Some(node) = open.pop() {
            if node.kind() == "field_identifier" {
                names.push(self.leaves.text(&self.leaves.span(node)));
            }
            let mut cursor = node.walk();
            let children: Vec<_> = node.named_children(&mut cursor).collect();
            open.extend(children.into_iter().rev());
        }
        names
    }
}
