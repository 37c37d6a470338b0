//! Both tools' results together.

use swe_ci_core::style::{CodeStyle, FileStyle};

use crate::{Pylint, Radon, Source, file_digest};

/// What is told of a version, in all and by file, in the order of paths.
/// `radon` knows the contents of all files; `pylint` is what was read for this
/// source, or why Pylint did not come to its end.
#[must_use]
pub fn join(
    source: &Source,
    radon: &Radon,
    pylint: Result<&Pylint, &String>,
) -> (CodeStyle, Vec<FileStyle>) {
    let told = |(path, bytes): (&String, &Vec<u8>)| {
        let digest = file_digest(bytes);
        let (counts, problem) = match radon.files.get(&digest) {
            Some(Ok(counts)) => (Some(*counts), None),
            Some(Err(problem)) => (None, Some(problem.clone())),
            None => (None, Some("radon was not asked about it".to_owned())),
        };
        FileStyle {
            path: path.clone(),
            digest,
            radon: counts,
            problem,
            pylint: pylint.ok().and_then(|p| p.files.get(path).copied()),
        }
    };
    let files: Vec<FileStyle> = source.iter().map(told).collect();
    (CodeStyle::of(&files, pylint.err().cloned()), files)
}

#[cfg(test)]
mod tests {
    use swe_ci_core::style::{PylintCounts, RadonCounts};

    use super::*;

    #[test]
    fn what_is_equal_is_told_of_each_file_that_has_it() {
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
        let found = Err(broken.to_owned());
        radon.files.insert(file_digest(b"broken"), found);
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
