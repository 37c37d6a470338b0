//! The feed of new results (Atom, RFC 4287): the runs that were finished or
//! imported last.

use std::io;

use swe_ci_app::{PublicUrl, encode};
use swe_ci_core::run::Kind;
use swe_ci_engine::NewResult;
use swe_ci_views::leaderboard::{Row, Standing};

use super::xml::{Xml, document, element};

/// A feed requires a time, even an empty one.
const BEGINNING: &str = "1970-01-01T00:00:00Z";

/// The feed's id while the site's address is unknown.
const NAMELESS: &str = "urn:swe-ci:feed";

pub(super) fn write(results: &[NewResult], url: Option<&PublicUrl>) -> io::Result<Vec<u8>> {
    let at = |path: &str| url.map_or_else(|| path.to_owned(), |url| url.at(path));
    document(|xml| {
        let feed = xml.create_element("feed");
        let feed = feed.with_attribute(("xmlns", "http://www.w3.org/2005/Atom"));
        feed.write_inner_content(|xml| {
            let id = url.map_or_else(|| NAMELESS.to_owned(), |url| url.at("/feed.xml"));
            element(xml, "id", &id)?;
            element(xml, "title", "swe-ci: new results")?;
            element(
                xml,
                "subtitle",
                "How well coding agents maintain code: runs as they are finished or imported.",
            )?;
            element(xml, "updated", results.first().map_or(BEGINNING, updated))?;
            xml.create_element("author")
                .write_inner_content(|xml| element(xml, "name", "swe-ci"))?;
            link(xml, "alternate", "text/html", &at("/"))?;
            if url.is_some() {
                link(xml, "self", "application/atom+xml", &at("/feed.xml"))?;
            }
            results.iter().try_for_each(|result| entry(xml, result, at))
        })?;
        Ok(())
    })
}

fn entry(xml: &mut Xml, result: &NewResult, at: impl Fn(&str) -> String) -> io::Result<()> {
    let run = &result.run;
    xml.create_element("entry").write_inner_content(|xml| {
        // A run's id is a UUID and stays the same when the site moves.
        element(xml, "id", &format!("urn:uuid:{}", run.run_id))?;
        let title = format!("{} on {}", run.config.model, run.config.split);
        element(xml, "title", &title)?;
        element(xml, "updated", updated(result))?;
        element(xml, "published", updated(result))?;
        let page = at(&format!("/runs/{}", encode(&run.run_id)));
        link(xml, "alternate", "text/html", &page)?;
        xml.create_element("category")
            .with_attribute(("term", run.config.kind.name()))
            .write_empty()?;
        element(xml, "summary", &summary(result))
    })?;
    Ok(())
}

fn link(xml: &mut Xml, rel: &str, media_type: &str, href: &str) -> io::Result<()> {
    xml.create_element("link")
        .with_attributes([("rel", rel), ("type", media_type), ("href", href)])
        .write_empty()?;
    Ok(())
}

fn updated(result: &NewResult) -> &str {
    let run = &result.run;
    run.finished_at.as_deref().unwrap_or(&run.created_at)
}

/// "EvoScore 0.42 [0.31, 0.52] at γ = 1, rank 3 on the split demo (paper
/// convention), 40 of 40 tasks scored."
fn summary(result: &NewResult) -> String {
    let origin = match result.run.config.kind {
        Kind::Human => " The human baseline: the real history, replayed.",
        Kind::Measured => "",
        Kind::Imported => " Made elsewhere, and scored here from the files.",
    };
    let Some(Standing {
        convention, row, ..
    }) = &result.standing
    else {
        return match &result.unranked {
            Some(why) => format!("Not ranked: {why}.{origin}"),
            None => format!("No task could be scored.{origin}"),
        };
    };
    format!(
        "EvoScore {} at γ = 1, rank {} on the split {} ({} convention), {} of {} tasks scored.{origin}",
        score(row),
        row.rank,
        result.run.config.split,
        convention.name(),
        row.tasks,
        row.tasks_total,
    )
}

fn score(row: &Row) -> String {
    let digits = |value: f64| format!("{value:.2}").replace('-', "\u{2212}");
    match row.intervals.map(|i| i.evoscore) {
        Some(interval) => format!(
            "{} [{}, {}]",
            digits(row.evoscore),
            digits(interval.low),
            digits(interval.high)
        ),
        None => digits(row.evoscore),
    }
}
