//! Erosion of versions: what complexipy, Vulture and griffe find in them beside
//! each other, and how the declared dependencies changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_base::error::Result;
use swe_ci_candidates::bounds;
use swe_ci_candidates::dependencies::{DeclaredDependencies, is_declaration, required_project};
use swe_ci_measure::{Mode, Source, file_digest};
use swe_ci_views::style::Erosion;

use super::{Code, Version};
use crate::style_tools::StyleMeter;
use crate::unavailable;

/// The numbers of one version, and why some are absent.
pub(super) type VersionErosion = (Erosion, Vec<String>);

/// The erosion of each version as far as these tools and the declarations tell it;
/// the first is the base. Equal sources are measured once.
pub(super) async fn erosion(
    meter: &StyleMeter,
    versions: &[Version],
) -> Result<Vec<VersionErosion>> {
    let mut digests: Vec<&str> = Vec::new();
    let mut sources = Vec::new();
    for version in versions {
        if !digests.contains(&&*version.digest) {
            digests.push(&version.digest);
            sources.push(version.source.clone());
        }
    }
    let found = compare(
        meter,
        &sources,
        &[Mode::Complexipy, Mode::Vulture, Mode::Griffe],
    )
    .await?;
    let of_version = |version: &Version| {
        let at = digests.iter().position(|digest| *digest == version.digest);
        let (mut erosion, problems) = at.map(|at| found[at].clone()).unwrap_or_default();
        erosion.changed_dependencies = Some(f64::from(version.changed_dependencies));
        (erosion, problems)
    };
    Ok(versions.iter().map(of_version).collect())
}

/// The erosion of a source that has no base.
pub(super) async fn erosion_alone(
    meter: &StyleMeter,
    source: Arc<Source>,
) -> Result<VersionErosion> {
    let found = compare(meter, &[source], &[Mode::Complexipy, Mode::Vulture]).await?;
    Ok(found.into_iter().next().unwrap_or_default())
}

async fn compare(
    meter: &StyleMeter,
    sources: &[Arc<Source>],
    modes: &[Mode],
) -> Result<Vec<VersionErosion>> {
    let mut all = vec![VersionErosion::default(); sources.len()];
    for mode in modes {
        let found = meter.versions(*mode, sources).await.map_err(unavailable)?;
        for ((erosion, problems), figure) in all.iter_mut().zip(found) {
            let value = figure.unwrap_or_else(|why| {
                problems.push(why);
                None
            });
            match mode {
                Mode::Complexipy => erosion.cognitive_complexity = value,
                Mode::Vulture => erosion.unused_code = value,
                Mode::Griffe => erosion.broken_names = value,
                // They measure each version by itself.
                Mode::Radon | Mode::Pylint => {}
            }
        }
    }
    Ok(all)
}

/// The dependencies that some code declares. Lock files are left out: they pin
/// what others depend on.
pub(super) fn declared(code: &CodeTree) -> DeclaredDependencies {
    let mut declared = DeclaredDependencies::default();
    for (path, entry) in code.iter() {
        let (Some(source), Entry::File { bytes, .. }) = (is_declaration(path), entry) else {
            continue;
        };
        if source.is_lock() {
            continue;
        }
        match bytes.len() > bounds::BLOB {
            true => declared.add_too_long(path, &file_digest(bytes)),
            false => declared.add(path, source, bytes),
        }
    }
    declared
}

/// The number of projects whose requirements differ. A file that cannot be parsed
/// counts as one where its text differs.
pub(super) fn changed_dependencies(base: &Code, other: &Code) -> u32 {
    let places = |code: &Code| -> BTreeSet<(String, String)> {
        let places = code.dependencies.places();
        let all = places.flat_map(|(place, requirements)| {
            requirements
                .iter()
                .map(move |one| (place.to_owned(), one.clone()))
        });
        all.collect()
    };
    let (base, other) = (places(base), places(other));
    let projects = base
        .symmetric_difference(&other)
        .map(|(place, requirement)| {
            // Options, addresses, and text that cannot be parsed.
            required_project(requirement).unwrap_or_else(|| place.clone())
        });
    crate::as_u32(projects.collect::<BTreeSet<String>>().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_dependencies_by_hand() {
        let code = |files: &[(&str, &str)]| {
            let mut code = CodeTree::default();
            for (path, text) in files {
                code.insert_file(path, *text);
            }
            Code::of(&code).unwrap()
        };
        let project = |list: &str| format!("[project]\nname = 'p'\ndependencies = [{list}]\n");
        let check = |base: &[(&str, &str)], other: &[(&str, &str)], expect: u32| {
            let (base, other) = (code(base), code(other));
            assert_eq!(changed_dependencies(&base, &other), expect);
            assert_eq!(changed_dependencies(&other, &base), expect);
        };
        let base = project("'a>=1', 'b'");
        let base = [
            ("pyproject.toml", &*base),
            ("uv.lock", "[[package]]\nname = 'a'\n"),
        ];
        check(&base, &base, 0);
        // Another range of one, another project for the other, one more.
        let other = project("'a>=2', 'c', 'D-d'");
        check(&base, &[("pyproject.toml", &other)], 4);
        // The order and the spelling of a name change nothing.
        check(&base, &[("pyproject.toml", &project("'B', 'a >= 1'"))], 0);
        check(
            &[("requirements.txt", "a\nb==1\n")],
            &[("requirements.txt", "b==2\n")],
            2,
        );
        check(&[], &[("docs/requirements.txt", "a\n")], 0);
        check(&base, &[("pyproject.toml", "[project")], 3);
    }
}
