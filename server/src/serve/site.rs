//! The built site: a folder with `hash.txt`, `pkg/HASH/` (program and styles
//! of the browser's half, with `.br` and `.gz` beside them) and what else there
//! is (icons, fonts). `hash.txt` says which HASH is the one to use.

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

/// First part of the names of program and styles.
const OUTPUT_NAME: &str = "swe-ci";

/// Without these no page can be made whole.
const NEEDED: [&str; 3] = ["swe-ci.js", "swe-ci_bg.wasm", "swe-ci.css"];

/// The folder's name says what is inside, so it never changes.
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
    /// [`SiteError`] when the folder lacks `hash.txt` or what it stands for.
    pub fn open(folder: &Path) -> Result<Self, SiteError> {
        let error = |problem: &dyn fmt::Display| SiteError {
            folder: folder.to_owned(),
            problem: problem.to_string(),
        };
        let root = folder.canonicalize().map_err(|e| error(&e))?;
        let hash = std::fs::read_to_string(root.join("hash.txt"))
            .map_err(|e| error(&format_args!("hash.txt cannot be read: {e}")))?;
        let pkg = format!("pkg/{}", hash.trim());
        let built = |file: &str| root.join(&pkg).join(file).is_file();
        if let Some(missing) = NEEDED.into_iter().find(|file| !built(file)) {
            return Err(error(&format_args!("{pkg}/{missing} is missing")));
        }
        let leptos = LeptosOptions::builder()
            .output_name(OUTPUT_NAME)
            .site_root(root.to_string_lossy().into_owned())
            .site_pkg_dir(pkg)
            .env(Env::PROD)
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

/// Told from the address alone, so that a site that is built anew under a
/// running server is served right.
fn is_hashed(path: &str) -> bool {
    let inside = path.strip_prefix("/pkg/").unwrap_or_default();
    let hash = inside.split_once('/').map_or("", |(hash, _)| hash);
    hash.len() >= 8 && hash.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_site_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let problem = || Site::open(folder.path()).unwrap_err().to_string();
        assert!(problem().contains("hash.txt"), "{}", problem());
        std::fs::write(folder.path().join("hash.txt"), "abcdef01\n").unwrap();
        let pkg = folder.path().join("pkg/abcdef01");
        std::fs::create_dir_all(&pkg).unwrap();
        for name in NEEDED {
            let missing = format!("pkg/abcdef01/{name} is missing");
            assert!(problem().contains(&missing), "{}", problem());
            std::fs::write(pkg.join(name), "").unwrap();
        }
        let site = Site::open(folder.path()).unwrap();
        assert_eq!(&*site.leptos.site_pkg_dir, "pkg/abcdef01");
        let nowhere = Site::open(&folder.path().join("nowhere")).unwrap_err();
        assert!(nowhere.to_string().contains("nowhere"));
    }

    #[test]
    fn only_what_stands_under_a_hash_lasts_for_ever() {
        assert!(is_hashed("/pkg/0123abcd/swe-ci.js"));
        assert!(is_hashed("/pkg/0123abcd/chunk_1.wasm"));
        for other in [
            "/pkg/swe-ci.js",
            "/pkg/0123abcd",
            "/pkg/else/swe-ci.js",
            "/0123abcd/swe-ci.js",
            "/favicon.svg",
        ] {
            assert!(!is_hashed(other), "{other}");
        }
    }
}
