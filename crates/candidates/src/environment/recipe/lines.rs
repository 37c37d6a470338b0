//! Writes a recipe as lines of a Dockerfile and the files they copy.

use super::{ProjectInstall, Recipe};

/// Folder of the build context for the target's tree.
pub const CODE: &str = "code";
/// Folder of the build context for [`Recipe::files`].
const FOLDER: &str = "environment";
/// Folder of the code during tests.
const CODE_FOLDER: &str = "/app/code";
const METADATA: &str = include_str!("metadata.py");
const INDEX: &str = include_str!("index.py");
/// Pip has `PIP_UPLOADED_PRIOR_TO` since 26.0; the newest one that runs on the
/// interpreter is installed.
const PIP: &str = "pip>=26.0,<27";
const REPORT: &str = "pytest-json-report==1.5.0";
/// Unsets the variable because pip takes any distribution from a folder: it has
/// no upload time. Pip 26 treats an empty variable as unset too, but does not
/// document it.
const PIP_SETTINGS: &str = "unset PIP_FIND_LINKS; export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore PIP_PROGRESS_BAR=off";
const INTO_VENV: &str = "/opt/tools/bin/pip --python /opt/venv/bin/python";

impl Recipe {
    /// The lines of a Dockerfile after `FROM` [`Self::base_image`], one
    /// instruction each.
    ///
    /// They copy from the build context, to which the caller adds
    /// [`Self::files`] and the target's whole tree under [`CODE`], without its
    /// `.git`; only [`ProjectInstall::Metadata`] reads the tree. Settings that
    /// a `RUN` needs from the host (a proxy, `PIP_CERT`, `PIP_INDEX_URL`) may
    /// precede it or be build arguments.
    ///
    /// If the build fails, pass its whole output followed by the error message
    /// to [`diagnose`](crate::environment::diagnosis::diagnose).
    pub fn lines(&self) -> Vec<String> {
        let cut_off = format!("{PIP_SETTINGS} PIP_UPLOADED_PRIOR_TO={}", self.cut_off);
        let mut lines = vec![format!(
            "RUN {PIP_SETTINGS}; python3 -m venv /opt/tools && /opt/tools/bin/pip install -q '{PIP}' && \
             python3 -m venv --without-pip /opt/venv"
        )];
        if !self.system_packages.is_empty() {
            let names = self.system_packages.iter().map(|p| p.name.as_str());
            let names = names.collect::<Vec<_>>().join(" ");
            lines.push(format!(
                "RUN export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && \
                 apt-get install -qq -y --no-install-recommends {names} && rm -rf /var/lib/apt/lists/*"
            ));
        }
        lines.push("ENV PATH=/opt/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1".into());
        for (name, value) in &self.env {
            lines.push(format!("ENV {name}={}", quoted(value)));
        }
        let with_times = match &self.index_without_times {
            Some(index) => {
                lines.push(format!("COPY {FOLDER}/index.py /tmp/index.py"));
                format!("python3 /tmp/index.py {} ", quoted(index))
            }
            None => String::new(),
        };
        let wheel = match &self.project_install {
            ProjectInstall::Metadata { extras } => {
                lines.extend(self.wheel_lines(&cut_off, &with_times));
                // The shell would interpret an invalid name.
                let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
                let names = extras.iter().filter(|name| name.chars().all(is_name));
                let names: Vec<_> = names.map(String::as_str).collect();
                let extras = match names.is_empty() {
                    true => String::new(),
                    false => format!("[{}]", names.join(",")),
                };
                format!("\"$(ls /tmp/wheel/*.whl){extras}\" ")
            }
            ProjectInstall::Nothing => String::new(),
        };
        lines.push(format!(
            "COPY {FOLDER}/requirements.txt /tmp/requirements.txt"
        ));
        lines.push(format!(
            "RUN {cut_off}; {with_times}{INTO_VENV} install {wheel}-r /tmp/requirements.txt"
        ));
        lines.push(format!(
            "RUN {PIP_SETTINGS}; {INTO_VENV} list --format=freeze > /tmp/there.txt && \
             {INTO_VENV} install -c /tmp/there.txt '{REPORT}'"
        ));
        if !wheel.is_empty() {
            lines.push(format!("COPY {FOLDER}/metadata.py /tmp/metadata.py"));
            lines.push(format!(
                "RUN /opt/venv/bin/python /tmp/metadata.py /tmp/code /tmp/wheel/*.whl /opt/generated {CODE_FOLDER}"
            ));
        }
        lines.push(
            "RUN rm -rf /tmp/code /tmp/build /tmp/wheel /tmp/*.txt /tmp/*.py /opt/tools".into(),
        );
        lines.push(format!("WORKDIR {CODE_FOLDER}"));
        lines
    }

    /// Builds the wheel from a copy of the code, so that files written by the
    /// build are not taken for code.
    fn wheel_lines(&self, cut_off: &str, with_times: &str) -> [String; 2] {
        let names = "SETUPTOOLS_SCM_PRETEND_VERSION PBR_VERSION POETRY_DYNAMIC_VERSIONING_BYPASS";
        let version = self.version.as_deref().map_or(String::new(), |version| {
            let set = |name| format!(" {name}={}", quoted(version));
            names.split(' ').map(set).collect()
        });
        [
            format!("COPY {CODE} /tmp/code"),
            format!(
                "RUN {cut_off}{version}; cp -r /tmp/code /tmp/build && \
                 {with_times}/opt/tools/bin/pip wheel --no-deps -w /tmp/wheel /tmp/build && \
                 case \"$(ls /tmp/wheel)\" in *-none-any.whl) ;; \
                 *) echo \"swe-ci: the project's wheel is compiled: $(ls /tmp/wheel)\"; exit 1;; esac"
            ),
        ]
    }

    /// The files that the lines copy, as paths in the build context and texts.
    /// The caller adds the target's tree under [`CODE`].
    pub fn files(&self) -> Vec<(String, String)> {
        let requirements = self.requirements.iter().map(|r| {
            let reason = r.reason.replace(['\n', '\r'], " ");
            format!("# {reason}\n{}\n", r.spec.replace(['\n', '\r'], " "))
        });
        let mut files = vec![
            (format!("{FOLDER}/requirements.txt"), requirements.collect()),
            (format!("{FOLDER}/metadata.py"), METADATA.to_owned()),
        ];
        if self.index_without_times.is_some() {
            files.push((format!("{FOLDER}/index.py"), INDEX.to_owned()));
        }
        files
    }
}

/// Quotes a value for `ENV` and for the shell: one word without substitutions.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+!@%".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    let kept: String = value.chars().filter(|c| !"\n\r'".contains(*c)).collect();
    format!("'{kept}'")
}
