//! The schema, step by step. The files are compiled in by hand instead of by
//! `sqlx::migrate!`: that macro builds SQLite a second time, for the compiler.

use std::borrow::Cow;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// Version, name and text of each file in `migrations/`.
macro_rules! files {
    ($($version:literal $name:literal),* $(,)?) => {
        [$((
            $version,
            $name,
            include_str!(concat!("../../../migrations/", $version, "_", $name, ".sql")),
        )),*]
    };
}

const FILES: [(&str, &str, &str); 45] = files![
    "0001" "init",
    "0002" "results",
    "0003" "keys_and_prices",
    "0004" "agents",
    "0005" "accounts",
    "0006" "steering",
    "0007" "keys_owner",
    "0008" "verifications",
    "0009" "notifications",
    "0010" "identities",
    "0011" "preflights",
    "0012" "containers_and_marks",
    "0013" "keys_of_one_run",
    "0014" "preparation",
    "0015" "curations",
    "0016" "styles",
    "0017" "pinned_tasks",
    "0018" "finding_reviews",
    "0019" "test_command",
    "0020" "run_counts",
    "0021" "evolution_digests",
    "0022" "indexes",
    "0023" "judgements",
    "0024" "handovers",
    "0025" "regrades",
    "0026" "workers",
    "0027" "queue",
    "0028" "moved_targets",
    "0029" "needs",
    "0030" "worker_figures",
    "0031" "background_work",
    "0032" "reviews",
    "0033" "turns",
    "0034" "task_revisions",
    "0035" "unfinished",
    "0036" "evolution_audits",
    "0037" "truncation",
    "0038" "declared_iterations",
    "0039" "snapshots",
    "0040" "losses_apart",
    "0041" "audits_while_running",
    "0042" "engines",
    "0043" "results_of_others",
    "0044" "at_work",
    "0045" "impossible",
];

/// The version of the present schema.
pub(crate) const LATEST: i64 = FILES.len() as i64;

/// Brings a database from any earlier schema to the present one.
pub(crate) fn migrator() -> Migrator {
    let migrations = FILES.iter().zip(1..).map(|((_, name, sql), version)| {
        let description = Cow::Owned(name.replace('_', " "));
        let sql = sql.into_sql_str();
        Migration::new(version, description, MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(migrations.collect())
}

/// What a migration does: the first sentence of the comment that it begins with.
pub(crate) fn purpose(sql: &str) -> String {
    let comment = sql.lines().map_while(|line| line.strip_prefix("--"));
    let comment: Vec<&str> = comment.map(str::trim).collect();
    let comment = comment.join(" ");
    match comment.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => comment,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_begins_with_its_purpose() {
        for (version, _, sql) in FILES {
            let purpose = purpose(sql);
            assert!(
                purpose.len() > 10 && purpose.len() < 300,
                "{version}: {purpose}"
            );
        }
        let check = |sql: &str, expect: &str| assert_eq!(purpose(sql), expect);
        check("-- One. Two.\n-- Three.\nCREATE", "One.");
        check("-- One\n-- two: x.y;\n\n-- Three.", "One two: x.y;");
        check("CREATE TABLE a ();", "");
    }

    #[test]
    fn every_file_is_compiled_in_under_its_version() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let listed = FILES.map(|(version, name, _)| format!("{version}_{name}.sql"));
        assert_eq!(names, listed);
        let versions = (1..).zip(FILES);
        for (number, (version, ..)) in versions.take(FILES.len()) {
            assert_eq!(version, format!("{number:04}"));
        }
    }
}
