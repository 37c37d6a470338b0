//! The state the server's handlers share.

use axum::extract::FromRef;
use leptos::config::LeptosOptions;
use swe_ci_app::PublicUrl;
use swe_ci_engine::Engine;
use tokio_util::sync::CancellationToken;

use crate::client_address::TrustedProxies;
use crate::identity_providers::Providers;
use crate::site::Site;

/// The state every request handler shares. Cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    /// Handlers use it bound to the request's actor: `crate::extract::ActorEngine`.
    pub engine: Engine,
    pub site: Site,
    /// The site's public URL, if configured.
    pub public_url: Option<PublicUrl>,
    /// The identity providers people may sign in with.
    pub providers: Providers,
    /// The proxies in front of this server: they tell the client's address.
    pub trusted_proxies: TrustedProxies,
    /// Whether visitors see only the sign-in page.
    pub closed: bool,
    /// Cancelled when the server stops; it ends streams.
    pub shutdown: CancellationToken,
}

impl App {
    /// Whether readers reach the site only over https.
    pub(crate) fn is_secure(&self) -> bool {
        let url = self.public_url.as_ref();
        url.is_some_and(|url| url.as_str().starts_with("https://"))
    }
}

impl FromRef<App> for LeptosOptions {
    fn from_ref(app: &App) -> Self {
        app.site.leptos()
    }
}
