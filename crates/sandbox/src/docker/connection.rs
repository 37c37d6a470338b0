//! Where the container engine is, and which one it is.

use std::fmt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::Docker;
use super::error::engine_error;
use crate::SandboxError;
use crate::bubblewrap::{Bubblewrap, Store};

/// Where Docker listens, unless `DOCKER_HOST` says otherwise.
const DOCKER_SOCKET: &str = "/var/run/docker.sock";
/// Where Podman listens, below the folder of a user or of the system.
const PODMAN_SOCKET: &str = "podman/podman.sock";
/// The name of Podman among the components of its version.
const PODMAN: &str = "Podman Engine";

/// What asks for more than bubblewrap does.
const NOT_BY_BUBBLEWRAP: &str = "bubblewrap runs images, and neither builds, pulls, saves nor \
    shares them, and installs no agent programs: do that where Docker or Podman runs; \
    docs/engines.md tells how";

/// The container engine that an operator asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The first that answers, in the order of this list.
    Auto,
    /// Docker, or whatever `DOCKER_HOST` names.
    #[default]
    Docker,
    Podman,
    /// No engine at all.
    Bubblewrap,
}

/// What makes containers.
#[derive(Debug)]
pub(crate) enum Connection {
    Api(bollard::Docker),
    Bubblewrap(Bubblewrap),
}

impl FromStr for EngineChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "docker" => Ok(Self::Docker),
            "podman" => Ok(Self::Podman),
            "bubblewrap" => Ok(Self::Bubblewrap),
            _ => Err("it is one of auto, docker, podman, bubblewrap".into()),
        }
    }
}

/// The engine behind the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineFacts {
    pub name: String,
    pub version: String,
    pub podman: bool,
    /// It may lack the right to hold a container's limits.
    pub rootless: bool,
}

impl fmt::Display for EngineFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl Docker {
    /// Connects to this engine. `runtime_folder` is the folder of the user's
    /// sockets (`XDG_RUNTIME_DIR`); when absent, the usual one.
    #[must_use]
    pub fn with_engine(self, choice: EngineChoice, runtime_folder: Option<PathBuf>) -> Self {
        let runtime_folder = runtime_folder.or(self.runtime_folder);
        Self {
            choice,
            runtime_folder,
            ..self
        }
    }

    /// What makes containers here. Fails when nothing does; the next call tries again.
    pub(crate) fn connection(&self) -> Result<&Connection, SandboxError> {
        if let Some(connection) = self.connection.get() {
            return Ok(connection);
        }
        let connection = self.connect()?;
        Ok(self.connection.get_or_init(|| connection))
    }

    /// The engine's API.
    ///
    /// # Errors
    /// When no engine answers. The next call tries again.
    pub fn api(&self) -> Result<&bollard::Docker, SandboxError> {
        match self.connection()? {
            Connection::Api(api) => Ok(api),
            Connection::Bubblewrap(_) => Err(SandboxError::Engine(NOT_BY_BUBBLEWRAP.into())),
        }
    }

    /// Whether it can build images, install programs and share both.
    pub fn builds_images(&self) -> bool {
        !matches!(self.connection(), Ok(Connection::Bubblewrap(_)))
    }

    /// The images that this process unpacks itself, where no engine has them.
    pub(crate) fn unpacked(&self) -> Result<Option<&Store>, SandboxError> {
        Ok(match self.connection()? {
            Connection::Api(_) => None,
            Connection::Bubblewrap(engine) => Some(&engine.store),
        })
    }

    fn connect(&self) -> Result<Connection, SandboxError> {
        let podman = || {
            self.podman_sockets()
                .into_iter()
                .find(|socket| answers(socket))
        };
        let found = match self.choice {
            EngineChoice::Docker => bollard::Docker::connect_with_defaults(),
            EngineChoice::Auto if answers(Path::new(DOCKER_SOCKET)) => {
                bollard::Docker::connect_with_defaults()
            }
            EngineChoice::Auto | EngineChoice::Podman if let Some(socket) = podman() => {
                bollard::Docker::connect_with_host(&format!("unix://{}", socket.display()))
            }
            EngineChoice::Podman => return Err(self.none_found("")),
            EngineChoice::Auto | EngineChoice::Bubblewrap => {
                let opened = Bubblewrap::open(&self.data.join("bubblewrap"));
                return match opened {
                    Ok(engine) => Ok(Connection::Bubblewrap(engine)),
                    Err(error) if self.choice == EngineChoice::Auto => {
                        Err(self.none_found(&format!("; bubblewrap: {error:#}")))
                    }
                    Err(error) => Err(SandboxError::Engine(format!("{error:#}"))),
                };
            }
        };
        found.map(Connection::Api).map_err(|e| {
            SandboxError::Engine(format!(
                "it is not available ({e}); `swe-ci doctor` tells more"
            ))
        })
    }

    /// Of the user, and of the system.
    fn podman_sockets(&self) -> Vec<PathBuf> {
        let user = rustix::process::getuid().as_raw();
        let usual = || PathBuf::from(format!("/run/user/{user}"));
        let of_user = self.runtime_folder.clone().unwrap_or_else(usual);
        let folders = [of_user, "/run".into()];
        folders.map(|folder| folder.join(PODMAN_SOCKET)).into()
    }

    fn none_found(&self, besides: &str) -> SandboxError {
        let docker = (self.choice == EngineChoice::Auto).then(|| PathBuf::from(DOCKER_SOCKET));
        let places = docker.into_iter().chain(self.podman_sockets());
        let places: Vec<String> = places.map(|place| place.display().to_string()).collect();
        let places = places.join(", ");
        SandboxError::Engine(format!(
            "none answers at {places}; start Podman's with `systemctl --user start podman.socket`, \
             or, without systemd, `podman system service --time=0 &`{besides}"
        ))
    }

    /// The engine's name and version, asked for once.
    pub async fn facts(&self) -> Result<&EngineFacts, SandboxError> {
        let asked = || async {
            let api = match self.connection()? {
                Connection::Api(api) => api,
                Connection::Bubblewrap(engine) => {
                    return Ok(EngineFacts {
                        name: "bubblewrap".into(),
                        version: engine.version.clone(),
                        podman: false,
                        rootless: true,
                    });
                }
            };
            let version = api.version().await;
            let version = version.map_err(|e| engine_error("tell its version", &e))?;
            let info = api.info().await;
            let info = info.map_err(|e| engine_error("describe itself", &e))?;
            let options = info.security_options.unwrap_or_default();
            let of_docker = options.iter().any(|option| option.contains("rootless"));
            let mut components = version.components.into_iter().flatten();
            let podman = components.any(|part| part.name == PODMAN);
            Ok(EngineFacts {
                name: if podman { "Podman" } else { "Docker" }.into(),
                version: version.version.unwrap_or_default(),
                podman,
                rootless: podman || of_docker,
            })
        };
        self.facts.get_or_try_init(asked).await
    }
}

/// Whether somebody listens there who lets this user in.
fn answers(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::Instance;

    #[test]
    fn podman_is_found_where_its_user_runs_it() {
        let folder = tempfile::tempdir().unwrap();
        let docker = Docker::new(Instance("here".into()), folder.path());
        let docker = docker.with_engine(EngineChoice::Podman, Some(folder.path().into()));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let _inside = runtime.enter();
        let message = docker.connect().unwrap_err().to_string();
        assert!(message.contains("podman system service"), "{message}");
        let socket = &docker.podman_sockets()[0];
        assert!(socket.starts_with(folder.path()));
        std::fs::create_dir(socket.parent().unwrap()).unwrap();
        let _listener = UnixListener::bind(socket).unwrap();
        docker.connect().unwrap();
    }

    #[test]
    fn engines_have_names() {
        for (name, expect) in [
            ("auto", EngineChoice::Auto),
            ("docker", EngineChoice::Docker),
            ("podman", EngineChoice::Podman),
            ("bubblewrap", EngineChoice::Bubblewrap),
        ] {
            assert_eq!(name.parse(), Ok(expect));
        }
        assert!(
            "Docker"
                .parse::<EngineChoice>()
                .unwrap_err()
                .contains("podman")
        );
    }
}
