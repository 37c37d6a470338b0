//! The built site: a folder with `hash.txt`, `pkg/` (program and styles of
//! the browser's half, their names carrying a hash of what is in them, with
//! `.br` and `.gz` beside them) and what else there is (icons, fonts).

use std::fmt;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use leptos::config::{Env, LeptosOptions};
use tower::ServiceExt;
use tower_http::services::ServeDir;

use crate::api::Problem;

/// First part of the names of all files in `pkg/`.
const OUTPUT_NAME: &str = "swe-ci";

/// The name says what is inside, so it never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// The folder of the built site, looked at once. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Site {
    files: ServeDir,
    leptos: LeptosOptions,
}

/// The folder is not a built site.
#[derive(Debug, thiserror::Error)]
#[error("there is no built site at `{}`: {problem}", folder.display())]
pub struct SiteError {
    folder: PathBuf,
    problem: String,
}

impl Site {
    /// # Errors
    /// [`SiteError`] when the folder lacks `hash.txt` or a file it names.
    pub fn open(folder: &Path) -> Result<Self, SiteError> {
        let error = |problem: &dyn fmt::Display| SiteError {
            folder: folder.to_owned(),
            problem: problem.to_string(),
        };
        let root = folder.canonicalize().map_err(|e| error(&e))?;
        let hash_file = root.join("hash.txt");
        let hashes = std::fs::read_to_string(&hash_file)
            .map_err(|e| error(&format_args!("hash.txt cannot be read: {e}")))?;
        let built = |file: &String| root.join(file).is_file();
        if let Some(missing) = hashed_files(&hashes).find(|file| !built(file)) {
            return Err(error(&format_args!("{missing} is missing")));
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let leptos = LeptosOptions::builder()
            .output_name(OUTPUT_NAME)
            .site_root(text(&root))
            .site_pkg_dir("pkg")
            .env(Env::PROD)
            .hash_files(true)
            // Absolute: leptos looks for it beside the program otherwise.
            .hash_file(text(&hash_file).into())
            .build();
        let files = ServeDir::new(&root)
            .append_index_html_on_directories(false)
            .precompressed_br()
            .precompressed_gzip();
        Ok(Self { files, leptos })
    }

    pub(crate) fn leptos(&self) -> &LeptosOptions {
        &self.leptos
    }

    /// The file a request asks for, if there is one.
    pub(crate) async fn file(&self, request: &Parts) -> Option<Response> {
        let asked = Request::from_parts(request.clone(), Body::empty());
        let Ok(found) = self.files.clone().oneshot(asked).await;
        let mut response = match found.status() {
            StatusCode::NOT_FOUND => return None,
            StatusCode::METHOD_NOT_ALLOWED => {
                let allow = found.headers().get(header::ALLOW).cloned();
                let problem = Problem::method_not_allowed(request.method.as_str());
                let allow = allow.map(|methods| [(header::ALLOW, methods)]);
                return Some(match allow {
                    Some(allow) => (allow, problem).into_response(),
                    None => problem.into_response(),
                });
            }
            _ => found.into_response(),
        };
        let hashed = is_hashed(request.uri.path());
        let cache = if hashed { FOREVER } else { FOR_AN_HOUR };
        response.headers_mut().insert(header::CACHE_CONTROL, cache);
        // A shared cache must not give one browser what another one can read.
        let vary = HeaderValue::from_static("accept-encoding");
        response.headers_mut().insert(header::VARY, vary);
        Some(response)
    }
}

/// The files `hash.txt` names, with lines such as `js: HASH`.
fn hashed_files(hashes: &str) -> impl Iterator<Item = String> {
    let lines = hashes.lines().filter_map(|line| line.split_once(':'));
    lines.map(|(extension, hash)| {
        let (extension, hash) = (extension.trim(), hash.trim());
        format!("pkg/{OUTPUT_NAME}.{hash}.{extension}")
    })
}

/// Told from the name alone, so that a site that is built anew under a
/// running server is served right.
fn is_hashed(path: &str) -> bool {
    let name = path.strip_prefix("/pkg/").unwrap_or_default();
    let mut parts = name.splitn(3, '.');
    let own = parts.next() == Some(OUTPUT_NAME);
    let hash = parts.next().unwrap_or_default();
    own && hash.len() >= 8 && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_site_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let problem = || Site::open(folder.path()).unwrap_err().to_string();
        assert!(problem().contains("hash.txt"), "{}", problem());
        std::fs::write(folder.path().join("hash.txt"), "js:abc\ncss: def\n").unwrap();
        assert!(problem().contains("is missing"), "{}", problem());
        std::fs::create_dir(folder.path().join("pkg")).unwrap();
        for name in ["swe-ci.abc.js", "swe-ci.def.css"] {
            std::fs::write(folder.path().join("pkg").join(name), "").unwrap();
        }
        let site = Site::open(folder.path()).unwrap();
        assert!(Path::new(&*site.leptos.hash_file).is_absolute());
        let nowhere = Site::open(&folder.path().join("nowhere")).unwrap_err();
        assert!(nowhere.to_string().contains("nowhere"));
    }

    #[test]
    fn only_names_with_a_hash_last_for_ever() {
        assert!(is_hashed("/pkg/swe-ci.0123abcd.js"));
        assert!(is_hashed("/pkg/swe-ci.0123abcd.wasm"));
        for other in [
            "/pkg/swe-ci.js",
            "/pkg/other.0123abcd.js",
            "/swe-ci.0123abcd.js",
            "/favicon.svg",
        ] {
            assert!(!is_hashed(other), "{other}");
        }
    }
}
