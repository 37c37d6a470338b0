//! Walls around grading that a task can do without: its own tests need what one
//! of them takes away.

use std::collections::BTreeSet;

crate::named! {
    /// A wall that can be left away. None of them decides whether a result is
    /// honest: the audit does.
    #[derive(PartialOrd, Ord)]
    pub enum Wall {
        /// The name of the current test is hidden.
        Names = "names",
        /// Test modules are made from memory, and their files are empty.
        Sources = "sources",
        /// One that earlier editions had, and left away.
        #[serde(other)]
        Earlier = "earlier",
    }
}

impl Wall {
    /// Those of this edition.
    pub const PRESENT: [Self; 2] = [Self::Names, Self::Sources];

    pub fn all() -> BTreeSet<Self> {
        BTreeSet::from(Self::PRESENT)
    }

    /// After "without".
    pub fn words(self) -> &'static str {
        match self {
            Self::Names => "hiding the current test's name",
            Self::Sources => "hiding the tests' source",
            Self::Earlier => "a wall of earlier editions",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_of_earlier_editions_are_read() {
        let read: Vec<Wall> = serde_json::from_str(r#"["canaries","names"]"#).unwrap();
        assert_eq!(read, [Wall::Earlier, Wall::Names]);
    }
}
