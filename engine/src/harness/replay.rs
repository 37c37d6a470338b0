//! The human baseline: the real commits between base and target, played
//! through the same loop and the same grading as any agent's work. Commits
//! are taken in at most N chunks, as even as can be; the last is the target.

use swe_ci_core::requirement::{Document, MAX_REQUIREMENTS, Requirement};

use super::{Assignment, Job};
use crate::code::CodeTree;
use crate::dataset::{CommitInfo, History};

pub const VERSION: &str = "1";

/// Leaves exactly the files of the chunk in the code folder.
const PLAY: &str = "find /app/code -mindepth 1 -maxdepth 1 -exec rm -rf {} + && cp -a /app/harness/code/. /app/code/";
const HAND_OVER: &str = "cp /app/harness/requirement.xml /app/requirement.xml";

#[derive(Debug)]
pub struct Replay {
    history: History,
    chunks: Vec<Vec<CommitInfo>>,
}

impl Replay {
    pub fn new(assignment: &Assignment, max_chunks: u32) -> anyhow::Result<Self> {
        let commits = assignment
            .history
            .between(&assignment.base_sha, &assignment.target_sha)?;
        anyhow::ensure!(
            !commits.is_empty(),
            "there is no commit between base and target to replay"
        );
        Ok(Self {
            history: assignment.history.clone(),
            chunks: chunks(commits, max_chunks),
        })
    }

    pub fn architect(&self, iteration: u32) -> anyhow::Result<Option<Job>> {
        let Some(chunk) = self.chunk(iteration) else {
            return Ok(None);
        };
        let mut files = CodeTree::default();
        files.insert_file("requirement.xml", document(chunk)?.to_xml());
        Ok(Some(job(files, HAND_OVER)))
    }

    pub fn programmer(&self, iteration: u32) -> anyhow::Result<Job> {
        let last = self.chunk(iteration).and_then(<[_]>::last);
        let last = last.ok_or_else(|| anyhow::anyhow!("the history has no chunk {iteration}"))?;
        let code = self.history.code(&last.sha)?;
        let mut files = CodeTree::default();
        for (path, entry) in code.iter() {
            files.insert(format!("code/{path}").as_ref(), entry.clone())?;
        }
        Ok(job(files, PLAY))
    }

    fn chunk(&self, iteration: u32) -> Option<&[CommitInfo]> {
        let index = usize::try_from(iteration.checked_sub(1)?).ok()?;
        self.chunks.get(index).map(Vec::as_slice)
    }
}

fn job(files: CodeTree, script: &str) -> Job {
    Job {
        files,
        command: vec!["sh".into(), "-ec".into(), script.into()],
        env: Vec::new(),
    }
}

/// Cuts commits into at most `max` runs of nearly the same length, in order.
fn chunks(commits: Vec<CommitInfo>, max: u32) -> Vec<Vec<CommitInfo>> {
    let total = commits.len();
    let count = total.min(max.max(1) as usize);
    let mut commits = commits.into_iter();
    (0..count)
        .map(|i| {
            let size = (i + 1) * total / count - i * total / count;
            commits.by_ref().take(size).collect()
        })
        .collect()
}

/// What these commits did, as requirements: one for each commit, the last one
/// standing for the rest when there are more than five.
fn document(chunk: &[CommitInfo]) -> anyhow::Result<Document> {
    let own = if chunk.len() > MAX_REQUIREMENTS {
        MAX_REQUIREMENTS - 1
    } else {
        chunk.len()
    };
    let (single, rest) = chunk.split_at(own);
    let mut requirements: Vec<Requirement> = single
        .iter()
        .map(|c| requirement(std::slice::from_ref(c)))
        .collect();
    if !rest.is_empty() {
        requirements.push(requirement(rest));
    }
    Ok(Document::new(requirements)?)
}

fn requirement(commits: &[CommitInfo]) -> Requirement {
    let subjects: Vec<&str> = commits
        .iter()
        .map(|c| {
            if c.subject().is_empty() {
                "(no message)"
            } else {
                c.subject()
            }
        })
        .collect();
    let shas: Vec<&str> = commits
        .iter()
        .map(|c| c.sha.get(..10).unwrap_or(&c.sha))
        .collect();
    Requirement {
        location: "the files these commits touch".into(),
        description: format!("The history goes on with {}.", shas.join(", ")),
        contract: subjects.join("; "),
        acceptance: format!(
            "The code is that of commit {}.",
            shas.last().copied().unwrap_or_default()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commits(count: usize) -> Vec<CommitInfo> {
        (0..count)
            .map(|i| CommitInfo {
                sha: format!("{i:040}"),
                time: 0,
                message: format!("change {i}\n\nmore"),
            })
            .collect()
    }

    #[test]
    fn chunks_are_even_and_end_at_the_target() {
        for (total, max, expect) in [
            (4, 20, vec![1, 1, 1, 1]),
            (5, 2, vec![2, 3]),
            (76, 20, vec![]),
            (1, 1, vec![1]),
            (20, 20, vec![1; 20]),
        ] {
            let cut = chunks(commits(total), max);
            let sizes: Vec<usize> = cut.iter().map(Vec::len).collect();
            assert_eq!(sizes.iter().sum::<usize>(), total);
            assert!(cut.len() <= max as usize && sizes.iter().all(|s| *s >= 1));
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            assert_eq!(
                cut.last().unwrap().last().unwrap().sha,
                format!("{:040}", total - 1)
            );
            assert!(expect.is_empty() || sizes == expect, "{sizes:?}");
        }
    }

    #[test]
    fn a_document_has_at_most_five_requirements() {
        for count in [1, 5, 6, 30] {
            let document = document(&commits(count)).unwrap();
            assert_eq!(document.requirements().len(), count.min(5));
            assert_eq!(Document::parse(&document.to_xml()).unwrap(), document);
        }
        assert!(
            document(&commits(6)).unwrap().requirements()[4]
                .contract
                .contains("change 4; change 5")
        );
    }
}
