//! The human baseline: the real commits between base and target, run through
//! the same loop and the same grading as any agent's work. The commits are
//! split into at most N chunks of nearly equal size; the last ends at the
//! target.

use swe_ci_base::code::CodeTree;
use swe_ci_core::requirement::{Document, Expectation, MAX_REQUIREMENTS, Requirement};
use swe_ci_dataset::{CommitInfo, History, chunks};

use super::{Assignment, Job};

pub const VERSION: &str = "1";

/// Leaves exactly the files of the chunk in the code folder.
const PLAY: &str = "find /app/code -mindepth 1 -maxdepth 1 -exec rm -rf {} + && cp -a /app/harness/code/. /app/code/";
const HAND_OVER: &str = "cp /app/harness/requirement.xml /app/requirement.xml";

/// Files named in a requirement; the rest is only counted.
const NAMED_FILES: usize = 5;

#[derive(Debug)]
pub struct Replay {
    history: History,
    base_sha: String,
    chunks: Vec<Vec<CommitInfo>>,
}

impl Replay {
    pub fn new(assignment: &Assignment, max_chunks: u32) -> anyhow::Result<Self> {
        let (history, base_sha) = (assignment.history.clone(), assignment.base_sha.clone());
        let commits = history.between(&base_sha, &assignment.target_sha)?;
        anyhow::ensure!(
            !commits.is_empty(),
            "there is no commit between base and target to replay"
        );
        Ok(Self {
            history,
            base_sha,
            chunks: chunks(commits, max_chunks),
        })
    }

    pub fn architect(&self, iteration: u32) -> anyhow::Result<Option<Job>> {
        let Some(chunk) = self.chunk(iteration) else {
            return Ok(None);
        };
        let before = iteration
            .checked_sub(1)
            .and_then(|i| self.chunk(i))
            .and_then(<[_]>::last);
        let mut from = before.map_or(self.base_sha.as_str(), |c| c.sha.as_str());
        let mut requirements = Vec::new();
        for commits in parts(chunk) {
            let to = commits.last().map_or(from, |c| c.sha.as_str());
            requirements.push(requirement(commits, &self.history.changed(from, to)?));
            from = to;
        }
        let mut files = CodeTree::default();
        files.insert_file("requirement.xml", Document::new(requirements)?.to_xml());
        Ok(Some(job(files, HAND_OVER)))
    }

    pub fn programmer(&self, iteration: u32) -> anyhow::Result<Job> {
        let last = self.chunk(iteration).and_then(<[_]>::last);
        let last = last.ok_or_else(|| anyhow::anyhow!("the history has no chunk {iteration}"))?;
        let code = self.history.code(&last.sha)?;
        let mut files = CodeTree::default();
        files.put_below("code", &code);
        Ok(job(files, PLAY))
    }

    pub fn reaches(&self, iteration: u32) -> bool {
        self.chunk(iteration).is_some()
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

/// Splits a chunk into parts, one requirement each: one part per commit, the
/// last one covering the rest when there are more commits than a document may
/// hold.
fn parts(chunk: &[CommitInfo]) -> Vec<&[CommitInfo]> {
    let own = match chunk.len() {
        few @ ..=MAX_REQUIREMENTS => few,
        _ => MAX_REQUIREMENTS - 1,
    };
    let (single, rest) = chunk.split_at(own);
    let mut parts: Vec<&[CommitInfo]> = single.chunks(1).collect();
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

fn requirement(commits: &[CommitInfo], changed: &[String]) -> Requirement {
    let subjects = commits.iter().map(|commit| match commit.subject() {
        "" => "(no message)",
        subject => subject,
    });
    let subjects: Vec<&str> = subjects.collect();
    let shas: Vec<&str> = commits
        .iter()
        .map(|c| c.sha.get(..10).unwrap_or(&c.sha))
        .collect();
    Requirement {
        location: location(changed),
        description: format!("The history goes on with {}.", shas.join(", ")),
        expectation: Expectation::Tested {
            contract: subjects.join("; "),
            acceptance: format!(
                "The code is that of commit {}.",
                shas.last().copied().unwrap_or_default()
            ),
        },
    }
}

fn location(changed: &[String]) -> String {
    match changed.split_at_checked(NAMED_FILES) {
        _ if changed.is_empty() => "no file".into(),
        Some((named, more @ [_, ..])) => format!("{} and {} more", named.join(", "), more.len()),
        _ => changed.join(", "),
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
    fn a_document_has_at_most_five_requirements() {
        for count in [1, 5, 6, 30] {
            let commits = commits(count);
            let parts = parts(&commits);
            assert_eq!(parts.len(), count.min(5));
            assert_eq!(parts.concat(), commits);
        }
        let commits = commits(6);
        let last = requirement(parts(&commits)[4], &["a.py".into()]);
        let (_, contract) = last.parts()[2];
        assert!(contract.contains("change 4; change 5"));
        assert!(Document::new(vec![last]).is_ok());
    }

    #[test]
    fn the_files_of_a_requirement_are_named_or_counted() {
        let names = |count: usize| (0..count).map(|i| format!("f{i}")).collect::<Vec<_>>();
        assert_eq!(location(&names(0)), "no file");
        assert_eq!(location(&names(2)), "f0, f1");
        assert_eq!(location(&names(7)), "f0, f1, f2, f3, f4 and 2 more");
    }
}
