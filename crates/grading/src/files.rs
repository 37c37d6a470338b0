//! The files that go into the container: over the standard input of the
//! bootstrap, which waits there already. Putting files there through the
//! engine takes longer than a small suite.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use swe_ci_base::code::{CodeTree, Entry};

/// Contents of files that are sent together, in bytes.
const TOGETHER: usize = 64 << 10;

/// What a file is, where it belongs, and its size.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header(Kind, String, usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    File,
    /// An executable file.
    Program,
    /// The content is its target.
    Link,
}

/// Files with absolute paths.
pub(crate) struct Files(Vec<(Kind, String, Bytes)>);

impl Files {
    /// The files of trees that belong below absolute folders.
    pub fn new(parts: &[(&str, &CodeTree)]) -> Self {
        let files = parts.iter().flat_map(|(folder, tree)| {
            tree.iter().map(move |(path, entry)| {
                let (kind, content) = match entry {
                    Entry::File { bytes, executable } => match executable {
                        true => (Kind::Program, bytes.clone()),
                        false => (Kind::File, bytes.clone()),
                    },
                    Entry::Symlink { target } => (Kind::Link, target.clone().into()),
                };
                (kind, format!("{folder}/{path}"), content)
            })
        });
        Self(files.collect())
    }

    pub fn headers(&self) -> Vec<Header> {
        let files = self.0.iter();
        files
            .map(|(kind, path, content)| Header(*kind, path.clone(), content.len()))
            .collect()
    }

    /// The contents, in order, small ones together.
    pub fn contents(&self) -> impl Iterator<Item = Bytes> {
        let mut files = self.0.iter().map(|(_, _, content)| content).peekable();
        std::iter::from_fn(move || {
            let first = files.next()?;
            let fits = |together: &[u8], next: &Bytes| together.len() + next.len() <= TOGETHER;
            if !files.peek().is_some_and(|next| fits(first, next)) {
                return Some(first.clone());
            }
            let mut together = first.to_vec();
            while let Some(next) = files.next_if(|next| fits(&together, next)) {
                together.extend_from_slice(next);
            }
            Some(together.into())
        })
    }
}

/// The tree of the files below an absolute folder, given what the bootstrap
/// gets: for tests.
pub(crate) fn below(folder: &str, headers: &[Header], mut contents: &[u8]) -> Option<CodeTree> {
    let mut tree = CodeTree::default();
    for Header(_, path, size) in headers {
        let (content, rest) = contents.split_at_checked(*size)?;
        contents = rest;
        let below = path.strip_prefix(folder);
        if let Some(path) = below.and_then(|path| path.strip_prefix('/')) {
            tree.insert_file(path, content);
        }
    }
    Some(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_sent_in_order() {
        let mut code = CodeTree::default();
        let sizes = [0, 1, 10, TOGETHER - 11, TOGETHER, 3 * TOGETHER, 5];
        for (number, size) in sizes.into_iter().enumerate() {
            code.insert_file(&number.to_string(), vec![number as u8; size]);
        }
        code.set("link", Entry::Symlink { target: "0".into() });
        let files = Files::new(&[("/app/code", &code)]);
        let headers = files.headers();
        let contents: Vec<Bytes> = files.contents().collect();
        let lengths: Vec<usize> = contents.iter().map(Bytes::len).collect();
        assert_eq!(lengths, [TOGETHER, TOGETHER, 3 * TOGETHER, 6]);
        let tree = below("/app/code", &headers, &contents.concat()).unwrap();
        for (path, entry) in code.iter() {
            let Entry::File { bytes, .. } = entry else {
                assert_eq!(tree.file(path).unwrap(), b"0");
                continue;
            };
            assert_eq!(tree.file(path).unwrap(), bytes, "{path}");
        }
        let shown = serde_json::to_string(&headers[0]).unwrap();
        assert_eq!(shown, r#"["file","/app/code/0",0]"#);
    }
}
