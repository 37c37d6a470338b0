//! The built site: a folder with `hash.txt`, `pkg/HASH/` (the browser's program
//! and styles, with `.br` and `.gz` variants) and other files (icons, fonts).
//! `hash.txt` names the current HASH. A program of the feature `embedded-site`
//! carries the folder.

#[cfg(any(test, feature = "embedded-site"))]
mod embedded;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use leptos::config::{Env, LeptosOptions};
use swe_ci_app::Scripts;
use tower::ServiceExt;
use tower_http::services::ServeDir;

use crate::problem::Problem;

/// The common prefix of the program's and the styles' file names.
const OUTPUT_NAME: &str = "swe-ci";

/// Without it no page can be read.
const STYLES: &str = "swe-ci.css";
/// Without these pages work as documents, without what moves.
const SCRIPTS: [&str; 2] = ["swe-ci.js", "swe-ci_bg.wasm"];

/// How often the server looks for scripts that were not built yet.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The folder's name is a hash of its content, so the content never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// The built site. A first build serves pages before their scripts are built: the
/// server then looks for them until they are there. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Site {
    files: Files,
    built: Arc<RwLock<Built>>,
}

/// Where the files of the site are.
#[derive(Debug, Clone)]
enum Files {
    Folder {
        root: PathBuf,
        serve: Box<ServeDir>,
    },
    /// In this program.
    #[cfg(any(test, feature = "embedded-site"))]
    Embedded(embedded::Find),
}

/// One build of the site.
#[derive(Debug, Clone)]
struct Built {
    leptos: LeptosOptions,
    has_scripts: bool,
    looked: Instant,
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
    /// [`SiteError`] when the folder lacks `hash.txt` or the style sheet.
    pub fn open(folder: &Path) -> Result<Self, SiteError> {
        let error = |problem: String| SiteError {
            folder: folder.to_owned(),
            problem,
        };
        let root = folder.canonicalize().map_err(|e| error(e.to_string()))?;
        let serve = ServeDir::new(&root)
            .append_index_html_on_directories(false)
            .precompressed_br()
            .precompressed_gzip();
        let serve = Box::new(serve);
        Self::of(Files::Folder { root, serve }).map_err(error)
    }

    /// The site that this program carries, if it was built with one.
    pub fn embedded() -> Option<Self> {
        #[cfg(feature = "embedded-site")]
        let site = Self::of(Files::Embedded(embedded::find)).ok();
        #[cfg(not(feature = "embedded-site"))]
        let site = None;
        site
    }

    /// A site without files, for answers that need none.
    pub(crate) fn empty() -> Self {
        let built = Built {
            leptos: LeptosOptions::builder().output_name(OUTPUT_NAME).build(),
            has_scripts: false,
            looked: Instant::now(),
        };
        Self {
            files: Files::Folder {
                root: PathBuf::new(),
                serve: Box::new(ServeDir::new("")),
            },
            built: Arc::new(RwLock::new(built)),
        }
    }

    /// # Errors
    /// The missing part, in words.
    fn of(files: Files) -> Result<Self, String> {
        let built = Arc::new(RwLock::new(Built::read(&files)?));
        Ok(Self { files, built })
    }

    /// Where leptos finds the build.
    pub(crate) fn leptos(&self) -> LeptosOptions {
        self.built().leptos
    }

    /// The program of the islands, once it is built; until then pages are
    /// documents.
    pub(crate) fn scripts(&self) -> Option<Scripts> {
        let built = self.built();
        let [glue, module] = SCRIPTS.map(|file| format!("/{}/{file}", built.leptos.site_pkg_dir));
        built.has_scripts.then_some(Scripts { glue, module })
    }

    pub(crate) fn has_scripts(&self) -> bool {
        self.built().has_scripts
    }

    fn built(&self) -> Built {
        let built = self.built.read().unwrap_or_else(PoisonError::into_inner);
        if built.has_scripts || built.looked.elapsed() < LOOK_AGAIN {
            return built.clone();
        }
        drop(built);
        let mut built = self.built.write().unwrap_or_else(PoisonError::into_inner);
        built.looked = Instant::now();
        if let Ok(now) = Built::read(&self.files) {
            *built = now;
        }
        built.clone()
    }

    /// The file at the request's path, if there is one.
    pub(crate) async fn file(&self, request: &Parts) -> Option<Response> {
        let served = self.files.serve(request).await;
        let mut response = match served.status() {
            StatusCode::NOT_FOUND => return None,
            StatusCode::METHOD_NOT_ALLOWED => {
                let allow = served.headers().get(header::ALLOW).cloned();
                let problem = Problem::method_not_allowed(request.method.as_str());
                let allow = allow.map(|methods| [(header::ALLOW, methods)]);
                return Some((allow, problem).into_response());
            }
            _ => served,
        };
        let hashed = is_hashed(request.uri.path());
        let cache = if hashed { FOREVER } else { FOR_AN_HOUR };
        response.headers_mut().insert(header::CACHE_CONTROL, cache);
        // A shared cache must not send an encoding the client cannot read.
        let vary = HeaderValue::from_static("accept-encoding");
        response.headers_mut().insert(header::VARY, vary);
        Some(response)
    }
}

impl Files {
    async fn serve(&self, request: &Parts) -> Response {
        match self {
            Self::Folder { serve, .. } => {
                let request = Request::from_parts(request.clone(), Body::empty());
                let Ok(served) = serve.clone().oneshot(request).await;
                served.into_response()
            }
            #[cfg(any(test, feature = "embedded-site"))]
            Self::Embedded(find) => embedded::response(*find, request),
        }
    }

    fn has(&self, path: &str) -> bool {
        match self {
            Self::Folder { root, .. } => root.join(path).is_file(),
            #[cfg(any(test, feature = "embedded-site"))]
            Self::Embedded(find) => find(path).is_some(),
        }
    }

    fn read(&self, path: &str) -> std::io::Result<String> {
        match self {
            Self::Folder { root, .. } => std::fs::read_to_string(root.join(path)),
            #[cfg(any(test, feature = "embedded-site"))]
            Self::Embedded(find) => {
                let content = find(path).ok_or(std::io::ErrorKind::NotFound)?;
                Ok(String::from_utf8_lossy(&content).into_owned())
            }
        }
    }
}

impl Built {
    /// # Errors
    /// The missing part, in words.
    fn read(files: &Files) -> Result<Self, String> {
        let hash = files
            .read("hash.txt")
            .map_err(|e| format!("hash.txt cannot be read: {e}"))?;
        let pkg = format!("pkg/{}", hash.trim());
        let is_built = |file: &str| files.has(&format!("{pkg}/{file}"));
        if !is_built(STYLES) {
            return Err(format!("{pkg}/{STYLES} is missing"));
        }
        let leptos = LeptosOptions::builder()
            .output_name(OUTPUT_NAME)
            .site_pkg_dir(pkg.as_str())
            .env(Env::PROD)
            .build();
        Ok(Self {
            leptos,
            has_scripts: SCRIPTS.into_iter().all(is_built),
            looked: Instant::now(),
        })
    }
}

/// Decided by the path alone, so that it works when the site is rebuilt under a
/// running server.
fn is_hashed(path: &str) -> bool {
    let inside = path.strip_prefix("/pkg/").unwrap_or_default();
    let hash = inside.split_once('/').map_or("", |(hash, _)| hash);
    hash.len() >= 8 && hash.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_built_site_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let problem = || Site::open(folder.path()).unwrap_err().to_string();
        assert!(problem().contains("hash.txt"), "{}", problem());
        std::fs::write(folder.path().join("hash.txt"), "abcdef01\n").unwrap();
        let missing = "pkg/abcdef01/swe-ci.css is missing";
        assert!(problem().contains(missing), "{}", problem());
        let nowhere = Site::open(&folder.path().join("nowhere")).unwrap_err();
        assert!(nowhere.to_string().contains("nowhere"));
    }

    #[test]
    fn scripts_join_when_they_are_built() {
        let folder = tempfile::tempdir().unwrap();
        let build = |hash: &str, files: &[&str]| {
            let pkg = folder.path().join("pkg").join(hash);
            std::fs::create_dir_all(&pkg).unwrap();
            for file in files {
                std::fs::write(pkg.join(file), "").unwrap();
            }
            std::fs::write(folder.path().join("hash.txt"), format!("{hash}\n")).unwrap();
        };
        build("00000000", &[STYLES]);
        let site = Site::open(folder.path()).unwrap();
        assert!(!site.has_scripts());
        build("abcdef01", &[STYLES, SCRIPTS[0], SCRIPTS[1]]);
        // As if a second had passed.
        let earlier = Instant::now().checked_sub(LOOK_AGAIN).unwrap();
        site.built.write().unwrap().looked = earlier;
        assert!(site.has_scripts());
        assert_eq!(&*site.leptos().site_pkg_dir, "pkg/abcdef01");
    }

    #[tokio::test]
    async fn an_embedded_site_is_served_as_a_folder_is() {
        let find: embedded::Find = |path| {
            let content: &[u8] = match path {
                "hash.txt" => b"abcdef01\n",
                "pkg/abcdef01/swe-ci.css" => b"body{}",
                _ => return None,
            };
            Some(content.into())
        };
        let site = Site::of(Files::Embedded(find)).unwrap();
        assert!(!site.has_scripts());
        let file = async |path: &str| {
            let request = Request::get(path).body(()).unwrap();
            site.file(&request.into_parts().0).await
        };
        let styles = file("/pkg/abcdef01/swe-ci.css").await.unwrap();
        assert_eq!(styles.headers()[header::CACHE_CONTROL], FOREVER);
        assert_eq!(styles.headers()[header::VARY], "accept-encoding");
        assert!(file("/pkg/abcdef01/swe-ci.js").await.is_none());
    }

    #[test]
    fn only_paths_with_a_hash_are_immutable() {
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
