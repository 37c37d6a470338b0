//! Walls around grading that a task can do without: its own tests need what one
//! of them takes away, or do what it is there to notice.

use std::collections::BTreeSet;

crate::named! {
    /// A wall that can be left away. None of them decides alone whether a result
    /// is honest: the audit does.
    #[derive(PartialOrd, Ord)]
    pub enum Wall {
        /// pytest's functions and classes are watched, and the platform's own.
        Runner = "runner",
        /// The files of the tests stay what they are while the code runs.
        Files = "files",
        /// A test runs once, reports while it runs, and fails if it raises an
        /// exception; pytest's exit code fits the results.
        Results = "results",
        /// Tests of known results stand among the task's.
        Canaries = "canaries",
        /// The name of the current test is hidden.
        Names = "names",
        /// Test modules are made from memory, and their files are empty.
        Sources = "sources",
        /// An exception that is many kinds at once is told.
        Exceptions = "exceptions",
    }
}

impl Wall {
    pub fn all() -> BTreeSet<Self> {
        BTreeSet::from(Self::ALL)
    }

    /// After "without".
    pub fn words(self) -> &'static str {
        match self {
            Self::Runner => "watching the test runner",
            Self::Files => "watching the test files",
            Self::Results => "cross-checking results",
            Self::Canaries => "canaries",
            Self::Names => "hiding the current test's name",
            Self::Sources => "hiding the tests' source",
            Self::Exceptions => "looking at exceptions of many kinds",
        }
    }
}
