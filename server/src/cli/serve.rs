//! `swe-ci serve`: starts the server and stops it on signals.

use std::io::ErrorKind;
use std::net::SocketAddr;

use secrecy::ExposeSecret;
use swe_ci_app::PublicUrl;
use swe_ci_engine::{Engine, Error};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::output;
use super::signals::stop_on_signals;
use crate::app::App;
use crate::config::{GlobalOptions, ServeOptions, default_site};
use crate::invitation::{invitation_link, local};
use crate::logging;
use crate::serve::{self, Background};
use crate::site::Site;

pub(super) const AFTER_HELP: &str = "\
Examples:
  swe-ci serve --demo
  swe-ci serve --listen 0.0.0.0:8080 --data /srv/swe-ci --workers 8
  SWE_CI_LOG=debug swe-ci serve --log-format json

Stop it with Ctrl-C or SIGTERM: it finishes the requests under way, leaves
running steps for the next start to resume, and exits within 10 seconds. A
second Ctrl-C ends it at once, which loses nothing either.

Exit codes: 0 stopped, 1 failure (the port is taken, the data folder is
unusable, another server works on it), 2 an option is invalid.";

pub(super) async fn execute(global: &GlobalOptions, options: &ServeOptions) -> Result<(), Failure> {
    let mut config = global.engine(options.workers()).map_err(Failure::usage)?;
    config.private_endpoints = options.allow_private_endpoints;
    config.labels = options.labels.clone();
    config.audit = options.audit();
    config.measure_style = options.measure_style();
    config.mailer = options.mailer().map_err(Failure::usage)?;
    let public_url = options.public_url();
    config.public_url = public_url.as_ref().map(|url| url.as_str().to_owned());
    let providers = options.providers().map_err(Failure::usage)?;
    let site = site(options)?;
    let listener = bind(options.listen).await?;
    let address = listener.local_addr().unwrap_or(options.listen);
    let engine = Engine::open(config).await?;
    // A second server ends here: a new link would void the one of the first.
    let work = match options.workers() {
        0 => None,
        _ => Some(engine.lock_for_work().map_err(conflict_failure)?),
    };
    let shutdown = CancellationToken::new();
    stop_on_signals(shutdown.clone())?;
    if logging::has_reader(global) {
        greet(options.demo, address)?;
    }
    print_first_link(&engine, public_url.as_ref(), address).await?;
    let app = App {
        engine,
        site,
        public_url,
        providers,
        trusted_proxies: options.trusted_proxies(),
        closed: options.closed(),
        shutdown,
    };
    let background = Background {
        work,
        demo: options.demo,
        snapshot_every: options.snapshot_every(),
    };
    tracing::info!(workers = options.workers(), "serving at http://{address}");
    serve::run(listener, app, background).await?;
    tracing::info!("stopped");
    Ok(())
}

fn greet(demo: bool, address: SocketAddr) -> Result<(), Failure> {
    if demo {
        output::line(
            "The human baseline runs on the demo split while you look: the first time, the leaderboard fills within two minutes or so.",
        )?;
    }
    let address = local(address);
    output::line(format_args!("\nswe-ci is at {address} (Ctrl-C stops it)\n"))
}

/// The named site, else the one of this program, else the usual folder.
fn site(options: &ServeOptions) -> Result<Site, Failure> {
    let folder = match (options.site(), Site::embedded()) {
        (None, Some(embedded)) => return Ok(embedded),
        (Some(named), _) => named,
        (None, None) => default_site(),
    };
    let site = Site::open(&folder).map_err(|e| {
        Failure::new(e.to_string())
            .next("name its folder with --site or SWE_CI_SITE; a released program carries the site and needs neither; from source `make run` or `cargo run -p xtask -- site` builds it")
    })?;
    if !site.has_scripts() {
        tracing::warn!("the browser's program is not built: pages are served without it");
    }
    Ok(site)
}

/// Prints the link to the first account while there is none. Each start creates
/// a new link and invalidates the previous one. It is the only secret printed on
/// purpose: a person at this terminal has the data folder too. The log, which
/// may go elsewhere, only mentions it.
async fn print_first_link(
    engine: &Engine,
    public_url: Option<&PublicUrl>,
    address: SocketAddr,
) -> Result<(), Failure> {
    let Some(secret) = engine.first_invitation().await? else {
        return Ok(());
    };
    let origin = public_url.map_or_else(|| local(address), |url| url.as_str().to_owned());
    let link = invitation_link(&origin, &secret);
    tracing::info!("there is no account yet; a link to create the first one is on standard output");
    output::line(format_args!(
        "There is no account yet. Open this link to create the first one, an administrator's; it works once, until the next start or for 7 days:\n\n  {}\n",
        link.expose_secret()
    ))
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|e| {
        let elsewhere = "choose another address with --listen or SWE_CI_LISTEN";
        match e.kind() {
            ErrorKind::AddrInUse => Failure::new(format!(
                "cannot listen on {address}: another program listens there"
            ))
            .next(format!("stop that program, or {elsewhere}")),
            ErrorKind::PermissionDenied => Failure::new(format!(
                "cannot listen on {address}: the system does not allow it"
            ))
            .next(format!("ports below 1024 need a privilege; {elsewhere}")),
            _ => Failure::new(format!("cannot listen on {address}: {e}")).next(elsewhere),
        }
    })
}

fn conflict_failure(error: Error) -> Failure {
    let conflict = matches!(error, Error::Conflict(_));
    Failure::from(error).next_if(conflict, "stop the other process, give this one another folder with --data or SWE_CI_DATA, or run it without workers: --workers 0")
}
