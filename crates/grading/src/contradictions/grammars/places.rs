//! The leaves of a syntax tree, in order: brackets and commas alone tell the arguments
//! of a call, the rows of a table and the constants in them, in any grammar.

use std::ops::Range;

use tree_sitter::Node;

use super::Grammar;
use super::literals::{Dice, Distance, other};

/// Leaves from one to before another, by their numbers.
pub(super) type Span = Range<usize>;
/// A place in the text, and what is there instead.
pub(super) type Edit = (Range<usize>, String);

/// Signs of functions, choices and comparisons.
const NO_CONSTANT: [&str; 15] = [
    "=>", "?", "=", "|", "...", "..", "<", ">", "<=", ">=", "&&", "||", "==", "===", "!=",
];

pub(super) struct Leaf<'t> {
    pub bytes: Range<usize>,
    pub text: &'t str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Literal { is_one: bool },
    Name,
    Sign,
}

pub(super) struct Leaves<'t> {
    all: Vec<Leaf<'t>>,
    words: &'static [&'static str],
    text: &'t str,
}

impl<'t> Leaves<'t> {
    pub fn of(grammar: &Grammar, root: Node<'_>, text: &'t str) -> Self {
        let mut all = Vec::new();
        let mut cursor = root.walk();
        'tree: loop {
            let node = cursor.node();
            let is_comment = node.is_extra();
            let is_literal = grammar.literals.contains(&node.kind())
                && !(node.kind() == "template_string" && has_substitution(node));
            if is_comment {
                // What it has inside is no part of the code.
            } else if is_literal || node.child_count() == 0 {
                let kind = match (is_literal, node.is_named()) {
                    (true, _) => Kind::Literal {
                        is_one: grammar.one.contains(&node.kind()),
                    },
                    (false, true) => Kind::Name,
                    (false, false) => Kind::Sign,
                };
                let bytes = node.byte_range();
                let leaf = Leaf {
                    text: &text[bytes.clone()],
                    bytes,
                    kind,
                };
                all.extend(Some(leaf).filter(|leaf| !leaf.bytes.is_empty()));
            } else if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'tree;
                }
            }
        }
        Self {
            all,
            words: grammar.words,
            text,
        }
    }

    pub fn span(&self, node: Node<'_>) -> Span {
        self.within(&node.byte_range())
    }

    pub fn source(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The leaves within a part of the text.
    pub fn within(&self, bytes: &Range<usize>) -> Span {
        self.all
            .partition_point(|leaf| leaf.bytes.start < bytes.start)
            ..self
                .all
                .partition_point(|leaf| leaf.bytes.start < bytes.end)
    }

    pub fn bytes(&self, span: &Span) -> Range<usize> {
        match (self.all.get(span.start), self.all[..span.end].last()) {
            (Some(first), Some(last)) if !span.is_empty() => first.bytes.start..last.bytes.end,
            _ => 0..0,
        }
    }

    pub fn text(&self, span: &Span) -> &'t str {
        &self.text[self.bytes(span)]
    }

    pub fn get(&self, span: &Span) -> &[Leaf<'t>] {
        &self.all[span.clone()]
    }

    /// What signs divide, outside of all brackets. An end without anything is no part.
    pub fn split(&self, span: &Span, signs: &[&str]) -> Vec<Span> {
        let (mut parts, mut start, mut depth) = (Vec::new(), span.start, 0_usize);
        for at in span.clone() {
            let leaf = &self.all[at];
            match leaf.text {
                _ if leaf.kind != Kind::Sign => {}
                "(" | "[" | "{" | "${" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                sign if depth == 0 && signs.contains(&sign) => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.extend(Some(start..span.end).filter(|last| !last.is_empty()));
        parts
    }

    /// What is between brackets and commas; `None` if the span has no brackets around it.
    pub fn elements(&self, span: &Span) -> Option<Vec<Span>> {
        let span = match self.get(span) {
            [first, ..] if first.text == "&" => span.start + 1..span.end,
            _ => span.clone(),
        };
        let leaves = self.get(&span);
        let (first, last) = (leaves.first()?, leaves.last()?);
        let is_open = ["(", "[", "{"].contains(&first.text) && [")", "]", "}"].contains(&last.text);
        if !is_open || span.len() < 2 {
            return None;
        }
        Some(self.split(&(span.start + 1..span.end - 1), &[",", ";"]))
    }

    /// `key: value` without its key, and the key.
    pub fn keyed(&self, span: &Span) -> (Option<&'t str>, Span) {
        match self.get(span) {
            [key, colon, ..] if colon.text == ":" => (Some(key.text), span.start + 2..span.end),
            _ => (None, span.clone()),
        }
    }

    /// Whether it is made of nothing but constants.
    pub fn is_constant(&self, span: &Span) -> bool {
        let leaves = self.get(span);
        let is_empty_container = ["[]", "{}"].contains(&self.text(span));
        let mut has_literal = is_empty_container;
        for (at, leaf) in leaves.iter().enumerate() {
            let is_key = leaves.get(at + 1).is_some_and(|next| next.text == ":");
            has_literal |= matches!(leaf.kind, Kind::Literal { .. });
            let fits = match leaf.kind {
                Kind::Literal { .. } => true,
                Kind::Name => is_key || self.words.contains(&leaf.text),
                Kind::Sign => {
                    let is_word = leaf.text.starts_with(|c: char| c.is_alphabetic());
                    let is_other = NO_CONSTANT.contains(&leaf.text);
                    !is_other && (!is_word || self.words.contains(&leaf.text))
                }
            };
            if !fits {
                return false;
            }
        }
        has_literal
    }

    /// Another constant in its place, which differs in one literal; keys stay.
    pub fn other(&self, span: &Span, dice: &mut Dice, distance: Distance) -> Option<Edit> {
        if ["[]", "{}"].contains(&self.text(span)) {
            let new = other(self.text(span), false, dice, distance)?;
            return Some((self.bytes(span), new));
        }
        let leaves = self.get(span);
        let mut places: Vec<usize> = (0..leaves.len()).collect();
        dice.shuffle(&mut places);
        let mut new = places.into_iter().filter_map(|at| {
            let leaf = &leaves[at];
            let is_key = leaves.get(at + 1).is_some_and(|next| next.text == ":");
            // The length of an array is part of its type.
            let is_length = at > 0 && leaves[at - 1].text == ";";
            let Kind::Literal { is_one } = leaf.kind else {
                return None;
            };
            let new = other(leaf.text, is_one, dice, distance);
            let new = new.filter(|_| !is_key && !is_length)?;
            Some((leaf.bytes.clone(), new))
        });
        new.next()
    }

    /// The places of a name.
    pub fn uses<'a>(&'a self, span: &Span, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let is_use =
            move |at: &usize| self.all[*at].kind == Kind::Name && self.all[*at].text == name;
        span.clone().filter(is_use)
    }

    /// The name that a side is, or the field of one.
    pub fn name(&self, span: &Span) -> Option<&'t str> {
        match self.get(span) {
            [one] if one.kind == Kind::Name => Some(one.text),
            [owner, dot, field] if dot.text == "." && owner.kind == field.kind => {
                (field.kind == Kind::Name).then_some(field.text)
            }
            _ => None,
        }
    }

    /// All names in a pattern.
    pub fn names(&self, span: &Span) -> Vec<&'t str> {
        let leaves = self.get(span).iter();
        let names = leaves.filter(|leaf| leaf.kind == Kind::Name);
        names.map(|leaf| leaf.text).collect()
    }
}

fn has_substitution(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .any(|child| child.kind() == "template_substitution")
}
