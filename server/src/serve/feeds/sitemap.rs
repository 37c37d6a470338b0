//! The sitemap (sitemaps.org, 0.9): every page without parameters.

use std::io;

use swe_ci_app::{PublicUrl, encode};
use swe_ci_engine::Directory;

use super::xml::{Xml, document, element};

/// Pages in one file; the protocol allows no more.
const MOST: usize = 50_000;

const NAMESPACE: (&str, &str) = ("xmlns", "http://www.sitemaps.org/schemas/sitemap/0.9");

/// The pages every site has.
const STATIC: [&str; 10] = [
    "/",
    "/figures",
    "/matrix",
    "/handover",
    "/snapshots",
    "/runs",
    "/tasks",
    "/datasets",
    "/about",
    "/api",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub path: String,
    /// The time of its latest change, RFC 3339, if known.
    pub changed: Option<String>,
}

pub(super) fn pages(directory: &Directory) -> Vec<Page> {
    let page = |path| Page {
        path,
        changed: None,
    };
    let named = |kind: &'static str, names: &[String]| {
        let paths = names.iter().map(|name| format!("/{kind}/{}", encode(name)));
        paths.map(page).collect::<Vec<_>>()
    };
    let runs = directory.runs.iter().map(|run| Page {
        path: format!("/runs/{}", encode(&run.run_id)),
        changed: run.finished_at.clone(),
    });
    let mut pages: Vec<Page> = STATIC.map(|path| page(path.to_owned())).into();
    pages.extend(named("models", &directory.models));
    pages.extend(named("tasks", &directory.tasks));
    pages.extend(runs);
    pages
}

/// All pages in one file, or, if there are too many, the list of parts; with
/// `part`, that part. `None` when there is no such part.
pub(super) fn write(
    pages: &[Page],
    url: &PublicUrl,
    part: Option<usize>,
) -> Option<io::Result<Vec<u8>>> {
    let mut parts = pages.chunks(MOST);
    let count = parts.len();
    match part {
        None if count > 1 => Some(document(|xml| index(xml, count, url))),
        None => Some(document(|xml| part_of(xml, pages, url))),
        Some(number) => {
            let part = parts.nth(number.checked_sub(1)?)?;
            Some(document(|xml| part_of(xml, part, url)))
        }
    }
}

fn part_of(xml: &mut Xml, pages: &[Page], url: &PublicUrl) -> io::Result<()> {
    let root = xml.create_element("urlset").with_attribute(NAMESPACE);
    root.write_inner_content(|xml| {
        for page in pages {
            xml.create_element("url").write_inner_content(|xml| {
                element(xml, "loc", &url.at(&page.path))?;
                match &page.changed {
                    Some(time) => element(xml, "lastmod", time),
                    None => Ok(()),
                }
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

fn index(xml: &mut Xml, parts: usize, url: &PublicUrl) -> io::Result<()> {
    let root = xml.create_element("sitemapindex").with_attribute(NAMESPACE);
    root.write_inner_content(|xml| {
        for part in 1..=parts {
            xml.create_element("sitemap").write_inner_content(|xml| {
                element(xml, "loc", &url.at(&format!("/sitemap.xml?part={part}")))
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(count: usize) -> Vec<Page> {
        let page = |number| Page {
            path: format!("/tasks/t{number}"),
            changed: None,
        };
        (0..count).map(page).collect()
    }

    fn written(count: usize, part: Option<usize>) -> Option<String> {
        let url = PublicUrl::new("https://bench.example.org".into());
        let bytes = write(&pages(count), &url, part)?.unwrap();
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn more_pages_than_one_file_allows_make_an_index() {
        let one = written(MOST, None).unwrap();
        assert_eq!(one.matches("<url>").count(), MOST);
        let index = written(MOST + 1, None).unwrap();
        assert!(index.contains("<sitemapindex") && !index.contains("<url>"));
        assert_eq!(index.matches("<sitemap>").count(), 2);
        assert!(index.contains("<loc>https://bench.example.org/sitemap.xml?part=2</loc>"));
        let last = written(MOST + 1, Some(2)).unwrap();
        assert_eq!(last.matches("<url>").count(), 1);
        assert!(last.contains("<loc>https://bench.example.org/tasks/t50000</loc>"));
        for none in [0, 3] {
            assert_eq!(written(MOST + 1, Some(none)), None);
        }
    }
}
