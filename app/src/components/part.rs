//! A part of a long list, with links to the parts beside it.

use std::ops::Range;

use leptos::prelude::*;

use crate::format;

/// The shown part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The position of its first item, from 0.
    pub from: usize,
    /// Items of a full part.
    size: usize,
    /// Items of the list.
    all: usize,
}

impl Part {
    /// The part of `size` items, 1 or more, that begins at `from`; the last one
    /// when the list is shorter.
    pub fn new(from: usize, size: usize, all: usize) -> Self {
        let last = all.saturating_sub(1) / size * size;
        Self {
            from: from.min(last),
            size,
            all,
        }
    }

    pub fn range(self) -> Range<usize> {
        self.from..(self.from + self.size).min(self.all)
    }

    /// Items of the list.
    pub fn all(self) -> usize {
        self.all
    }

    fn is_all(self) -> bool {
        self.range() == (0..self.all)
    }

    fn previous(self) -> Option<usize> {
        (self.from > 0).then(|| self.from.saturating_sub(self.size))
    }

    fn next(self) -> Option<usize> {
        let next = self.from + self.size;
        (next < self.all).then_some(next)
    }

    /// " Here: 101 to 200."; nothing for a whole list.
    pub fn here(self) -> Option<String> {
        let number = |n: usize| format::thousands(n as u64);
        let Range { start, end } = self.range();
        (!self.is_all()).then(|| format!(" Here: {} to {}.", number(start + 1), number(end)))
    }
}

/// "Previous tests" and "Next tests"; nothing for a whole list.
#[component]
pub fn PartLinks(
    part: Part,
    /// The items of the list, in the plural.
    items: &'static str,
    /// The address of the part that begins at a position.
    #[prop(into)]
    href: Callback<usize, String>,
) -> impl IntoView {
    let link = move |from: Option<usize>, text: &str, rel: &'static str| {
        let text = format!("{text} {items}");
        from.map(|from| view! { " "<a href=href.run(from) rel=rel>{text}</a> })
    };
    view! {
        {link(part.previous(), "Previous", "prev")}
        {link(part.next(), "Next", "next")}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_list() {
        let check = |from, all, range: Range<usize>, previous, next| {
            let part = Part::new(from, 100, all);
            let links = (part.previous(), part.next());
            assert_eq!((part.range(), links), (range, (previous, next)), "{part:?}");
        };
        check(0, 0, 0..0, None, None);
        check(0, 100, 0..100, None, None);
        check(0, 101, 0..100, None, Some(100));
        check(100, 1_000, 100..200, Some(0), Some(200));
        // Between two parts, and after the end.
        check(50, 120, 50..120, Some(0), None);
        check(700, 120, 100..120, Some(0), None);
        assert_eq!(Part::new(0, 100, 100).here(), None);
        assert_eq!(
            Part::new(1_000, 100, 1_050).here().as_deref(),
            Some(" Here: 1001 to 1050.")
        );
    }
}
