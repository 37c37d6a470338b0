//! The model usage of an attempt, and of all attempts of an evolution.

use std::collections::BTreeMap;
use std::sync::Arc;

use swe_ci_core::agent::Budget;
use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::step::{Role, Truncation};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_gateway::Ledger;
use swe_ci_store::StepRow;

#[derive(Debug, Default)]
pub(super) struct ModelUsage {
    pub usage: Option<Usage>,
    pub traffic: Option<Traffic>,
    /// Artifact with the recorded exchanges.
    pub trajectory: Option<String>,
    pub layer: Option<String>,
    /// Why the provider is at fault, if it is.
    pub trouble: Option<String>,
    /// Of the model's last answer.
    pub truncation: Option<(Truncation, Vec<u64>)>,
    /// Requests the gateway refused, by the tools they asked the provider to
    /// execute.
    pub refused_tools: BTreeMap<String, u32>,
}

impl ModelUsage {
    /// What the gateway refused in a step, worth knowing to a reader of its
    /// iteration.
    pub fn findings(&self, role: Role) -> Vec<Finding> {
        let finding = |(tool, requests): (&String, &u32)| {
            let text = format!(
                "the {} asked the model's provider for `{tool}`; the gateway refused it ({requests} ×)",
                role.name()
            );
            Finding::note(FindingKind::HostedTool, text)
        };
        self.refused_tools.iter().map(finding).collect()
    }
}

/// The account of an evolution with what its steps have taken; `None` without a
/// limit. An attempt that others ended takes nothing from the agent.
pub(super) fn evolution_ledger(budget: Budget, steps: &[StepRow]) -> Option<Arc<Ledger>> {
    if budget.is_unlimited() {
        return None;
    }
    let ledger = Ledger::of_evolution(budget);
    let own = steps
        .iter()
        .filter(|step| !step.outcome.is_ended_by_others());
    for step in own {
        let traffic = step.traffic.unwrap_or_default();
        ledger.charge(
            step.usage.unwrap_or_default(),
            traffic.requests,
            traffic.micro_usd,
        );
    }
    Some(Arc::new(ledger))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::finding::Grade;

    #[test]
    fn refused_tools_are_findings_of_their_step() {
        let tools = [("mcp", 1), ("web_search", 12)];
        let usage = ModelUsage {
            refused_tools: tools.map(|(name, n)| (name.to_owned(), n)).into(),
            ..ModelUsage::default()
        };
        let findings = usage.findings(Role::Architect);
        let texts: Vec<&str> = findings.iter().map(|f| f.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "the architect asked the model's provider for `mcp`; the gateway refused it (1 ×)",
                "the architect asked the model's provider for `web_search`; the gateway refused it (12 ×)",
            ]
        );
        assert!(
            findings
                .iter()
                .all(|f| f.grade == Grade::Note && f.kind == FindingKind::HostedTool)
        );
        assert!(ModelUsage::default().findings(Role::Programmer).is_empty());
    }
}
