use swe_ci_views::leaderboard::{Column, Sort};

pub(super) fn column(column: Column) -> &'static str {
    match column {
        Column::Rank => "Rank",
        Column::Model => "Model",
        Column::EvoScore => "EvoScore",
        Column::ZeroRegression => "Zero regression",
        Column::NetZeroRegression => "Net zero regr.",
        Column::Solved => "Solved",
        Column::Zrr => "ZRR",
        Column::Turns => "Iterations",
        Column::MiWins => "MI wins",
        Column::PylintWins => "Pylint wins",
        Column::Generalisation => "Generalisation",
        Column::Cheating => "Cheating rate",
        Column::Tokens => "Tokens",
        Column::Cost => "Cost",
        Column::TokensPerTask => "Tokens/task",
        Column::CostPerTask => "Cost/task",
        Column::TokensPerTest => "Tokens/test",
        Column::CostPerTest => "Cost/test",
        Column::AgentTime => "Agent time",
        Column::WallTime => "Wall time",
        Column::Findings => "Findings",
        Column::Tasks => "Tasks",
        Column::Released => "Released",
        Column::Finished => "Finished",
    }
}

/// The explanation of a column that is not in the glossary.
pub(super) fn hint(column: Column) -> &'static str {
    match column {
        Column::Model => "Sort by name",
        Column::TokensPerTask => "Tokens of an evolution, on average",
        Column::TokensPerTest => "All tokens for each test of the gap that passes in the end",
        Column::Released => "Release date of the model",
        Column::Finished => "End date of the run",
        _ => "",
    }
}

/// "Solved, highest first".
pub(super) fn sort(sort: Sort) -> String {
    let order = match (sort.column, sort.descending) {
        (Column::Rank, false) => "best first",
        (Column::Rank, true) => "best last",
        (Column::Model, false) => "A to Z",
        (Column::Model, true) => "Z to A",
        (Column::Released | Column::Finished, true) => "latest first",
        (Column::Released | Column::Finished, false) => "earliest first",
        (_, true) => "highest first",
        (_, false) => "lowest first",
    };
    format!("{}, {order}", column(sort.column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_in_words() {
        let check = |text: &str, expect: &str| assert_eq!(sort(text.parse().unwrap()), expect);
        check("rank", "Rank, best first");
        check("-model", "Model, Z to A");
        check("-released", "Released, latest first");
        check("turns", "Iterations, lowest first");
    }
}
