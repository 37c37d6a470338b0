//! Joins the results of both tools.

use swe_ci_views::style::{CodeStyle, FileStyle};

use crate::{Pylint, Radon, Source, file_digest};

/// The style of a version, in total and by file, sorted by path. `radon` must
/// contain all files' contents; `pylint` is the result for this source, or why
/// Pylint did not finish.
pub fn join(
    source: &Source,
    radon: &Radon,
    pylint: Result<&Pylint, &String>,
) -> (CodeStyle, Vec<FileStyle>) {
    let file_style = |(path, bytes): (&String, &Vec<u8>)| {
        let digest = file_digest(bytes);
        let (counts, problem) = match radon.files.get(&digest) {
            Some(Ok(counts)) => (Some(*counts), None),
            Some(Err(problem)) => (None, Some(problem.clone())),
            None => (None, Some("radon did not measure it".to_owned())),
        };
        FileStyle {
            path: path.clone(),
            digest,
            radon: counts,
            problem,
            pylint: pylint.ok().and_then(|p| p.files.get(path).copied()),
        }
    };
    let files: Vec<FileStyle> = source.iter().map(file_style).collect();
    let style = CodeStyle {
        duplicated: pylint.ok().and_then(|pylint| pylint.duplicated),
        ..CodeStyle::of(&files, pylint.err().cloned())
    };
    (style, files)
}

#[cfg(test)]
mod tests {
    use swe_ci_views::style::{PylintCounts, RadonCounts};

    use super::*;

    #[test]
    fn files_with_equal_content_share_their_result() {
        let source = Source::from([
            ("a.py".into(), b"same".to_vec()),
            ("b.py".into(), b"same".to_vec()),
            ("c.py".into(), b"broken".to_vec()),
            ("d.py".into(), b"unknown".to_vec()),
        ]);
        let counts = RadonCounts {
            mi: 80.0,
            sloc: 5,
            ..RadonCounts::default()
        };
        let mut radon = Radon::default();
        radon.files.insert(file_digest(b"same"), Ok(counts));
        let broken = "line 1: SyntaxError: invalid syntax";
        let problem = Err(broken.to_owned());
        radon.files.insert(file_digest(b"broken"), problem);
        let messages = PylintCounts {
            warning: 1,
            statements: 2,
            ..PylintCounts::default()
        };
        let pylint = Pylint {
            files: source.keys().map(|path| (path.clone(), messages)).collect(),
            ..Pylint::default()
        };

        let (style, files) = join(&source, &radon, Ok(&pylint));
        assert_eq!((style.files, style.unparsed, style.sloc), (4, 2, 10));
        assert_eq!(style.mi, Some(80.0));
        assert_eq!(style.pylint_score(), Some(5.0));
        assert_eq!(files[0].digest, files[1].digest);
        assert_eq!(files[1].radon, Some(counts));
        assert_eq!(files[2].problem.as_deref(), Some(broken));
        assert!(files[3].radon.is_none() && files[3].problem.is_some());

        let mut learnt = Radon::default();
        learnt.learn(&files[..3]);
        assert_eq!(learnt.files, radon.files);

        let why = "it took over 60 s".to_owned();
        let (style, files) = join(&source, &radon, Err(&why));
        assert_eq!((style.pylint, style.problem), (None, Some(why)));
        assert!(files.iter().all(|file| file.pylint.is_none()));
        assert_eq!(style.mi, Some(80.0));
        let (style, files) = join(&Source::new(), &radon, Ok(&Pylint::default()));
        assert_eq!(
            (style.files, style.pylint_score(), files.len()),
            (0, None, 0)
        );
    }
}
