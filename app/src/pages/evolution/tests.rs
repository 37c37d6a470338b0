use swe_ci_core::test_history::{TestHistory, test_histories};
use swe_ci_views::view::EvolutionDetail;

/// The data of the map, computed once.
pub(super) struct Tests {
    pub detail: EvolutionDetail,
    pub test_histories: Vec<TestHistory>,
}

impl Tests {
    pub(super) fn of(detail: EvolutionDetail) -> Self {
        let test_histories =
            test_histories(&detail.base_outcomes, &detail.outcomes, &detail.same_code);
        Self {
            detail,
            test_histories,
        }
    }
}
