//! Reads objects through long-lived processes of git.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::Context;

use crate::command::{cannot_run, command};
use crate::object_id::{ObjectId, ObjectKind};

/// Reads the objects of a git folder through two processes of `git cat-file`: one
/// answers with the kind and length of an object, the other adds its content.
#[derive(Debug)]
pub(crate) struct ObjectReader {
    headers: Process,
    contents: Process,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) id: ObjectId,
    pub(crate) kind: ObjectKind,
    pub(crate) length: usize,
}

impl ObjectReader {
    pub(crate) fn new(git_folder: &Path) -> Self {
        let process = |mode| Process {
            git_folder: git_folder.to_owned(),
            mode,
            running: None,
        };
        Self {
            headers: process("--batch-check"),
            contents: process("--batch"),
        }
    }

    /// The kind and length of the object that a revision names; none if it is
    /// missing or damaged.
    ///
    /// # Errors
    /// If git cannot be started.
    pub(crate) fn header(&mut self, revision: &str) -> anyhow::Result<Option<Header>> {
        // Each line is a question, and git removes a return at its end.
        if revision.contains(char::is_control) {
            return Ok(None);
        }
        self.headers.ask(|git| git.header(revision))
    }

    /// The content of an object; none if it is missing, damaged, of another kind
    /// or longer than `most`.
    ///
    /// # Errors
    /// If git cannot be started.
    pub(crate) fn content(
        &mut self,
        id: ObjectId,
        kind: ObjectKind,
        most: usize,
    ) -> anyhow::Result<Option<Vec<u8>>> {
        let content = self.contents.ask(|git| git.content(id, kind, most))?;
        Ok(content.filter(|content| id.identifies(kind, content)))
    }
}

/// A process of `git cat-file`, started when it is first needed.
#[derive(Debug)]
struct Process {
    git_folder: PathBuf,
    mode: &'static str,
    running: Option<CatFile>,
}

impl Process {
    /// Asks again if the process dies: a signal to all processes of the server
    /// may have ended it. If the second one dies, the object is damaged.
    fn ask<T>(
        &mut self,
        question: impl Fn(&mut CatFile) -> io::Result<Option<T>>,
    ) -> anyhow::Result<Option<T>> {
        for _ in 0..2 {
            let mut process = match self.running.take() {
                Some(process) => process,
                None => CatFile::start(&self.git_folder, self.mode)?,
            };
            if let Ok(answer) = question(&mut process) {
                self.running = Some(process);
                return Ok(answer);
            }
        }
        Ok(None)
    }
}

/// A running process, which ends with this value.
#[derive(Debug)]
struct CatFile {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl CatFile {
    fn start(git_folder: &Path, mode: &str) -> anyhow::Result<Self> {
        let mut git = command();
        git.env("GIT_DIR", git_folder).args(["cat-file", mode]);
        git.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = git.spawn().map_err(cannot_run)?;
        let (questions, answers) = (child.stdin.take(), child.stdout.take());
        Ok(Self {
            child,
            questions: questions.context("git has no input")?,
            answers: BufReader::new(answers.context("git has no output")?),
        })
    }

    fn header(&mut self, revision: &str) -> io::Result<Option<Header>> {
        self.questions
            .write_all(format!("{revision}\n").as_bytes())?;
        let mut answer = Vec::new();
        self.answers.read_until(b'\n', &mut answer)?;
        let answer = answer.strip_suffix(b"\n");
        let answer = answer.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(parsed(&String::from_utf8_lossy(answer)))
    }

    /// An error if the content is not wanted: the process would still send it.
    fn content(
        &mut self,
        id: ObjectId,
        kind: ObjectKind,
        most: usize,
    ) -> io::Result<Option<Vec<u8>>> {
        let Some(header) = self.header(&id.to_string())? else {
            return Ok(None);
        };
        if (header.id, header.kind) != (id, kind) || header.length > most {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut content = vec![0; header.length];
        self.answers.read_exact(&mut content)?;
        self.answers.read_exact(&mut [0])?;
        Ok(Some(content))
    }
}

impl Drop for CatFile {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parses `ID KIND LENGTH`; none for answers such as `REVISION missing`.
fn parsed(answer: &str) -> Option<Header> {
    let mut words = answer.split(' ');
    let header = Header {
        id: words.next()?.parse().ok()?,
        kind: ObjectKind::named(words.next()?)?,
        length: words.next()?.parse().ok()?,
    };
    words.next().is_none().then_some(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_process_that_died_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        testing::create(folder.path()).unwrap();
        let blob = |bytes| testing::write_object(folder.path(), ObjectKind::Blob, bytes).unwrap();
        let (a, b) = (blob(b"a"), blob(b"bb"));
        let mut reader = ObjectReader::new(folder.path());
        let mut read = |id: ObjectId| {
            assert!(reader.header(&id.to_string()).unwrap().is_some());
            let content = reader.content(id, ObjectKind::Blob, 2).unwrap().unwrap();
            for process in [&mut reader.headers, &mut reader.contents] {
                let child = &mut process.running.as_mut().unwrap().child;
                child.kill().unwrap();
                child.wait().unwrap();
            }
            content
        };
        assert_eq!(read(a), b"a");
        assert_eq!(read(b), b"bb");
        assert_eq!(read(a), b"a");
    }

    #[test]
    fn answers_that_are_no_objects() {
        let folder = tempfile::tempdir().unwrap();
        testing::create(folder.path()).unwrap();
        let id = testing::write_object(folder.path(), ObjectKind::Blob, b"a").unwrap();
        let mut reader = ObjectReader::new(folder.path());
        let missing = "1".repeat(40);
        for revision in [
            "",
            " ",
            "HEAD",
            "-x",
            "--batch",
            ":a",
            &missing,
            &format!("{id} blob 1"),
        ] {
            assert_eq!(reader.header(revision).unwrap(), None, "{revision}");
        }
        for end in ["\n", "\r", "\0", "\nHEAD", "^{commit}"] {
            assert_eq!(reader.header(&format!("{id}{end}")).unwrap(), None);
        }
        let header = reader.header(&id.to_string()).unwrap().unwrap();
        assert_eq!(
            (header.id, header.kind, header.length),
            (id, ObjectKind::Blob, 1)
        );
        let mut read = |id, kind, most| reader.content(id, kind, most).unwrap();
        for (other, kind, most) in [
            (id, ObjectKind::Tree, 1),
            (id, ObjectKind::Blob, 0),
            (missing.parse().unwrap(), ObjectKind::Blob, 1),
        ] {
            assert_eq!(read(other, kind, most), None);
            assert_eq!(read(id, ObjectKind::Blob, 1).unwrap(), b"a");
        }
    }
}
