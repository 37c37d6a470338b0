//! The master key that seals the providers' keys: where it is, how it is
//! created, what it does. It is never stored with the sealed keys.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use secrecy::{ExposeSecret, ExposeSecretMut, SecretSlice, SecretString};
use sha2::{Digest, Sha256};
use swe_ci_base::error::{Error, Result};
use swe_ci_base::files::read_limited;

/// In the data folder.
const FILE: &str = "secret.key";

/// The environment variable that can hold it instead.
const VARIABLE: &str = "SWE_CI_SECRET";

const BYTES: usize = 32;

/// Seals and opens values (AES-256-GCM, a random nonce each). A value is sealed
/// together with its name, so that rows cannot be swapped.
pub struct MasterKey {
    id: String,
    /// Safe with a random nonce for each value: there are far fewer than 2^32.
    cipher: LessSafeKey,
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({})", self.id)
    }
}

impl MasterKey {
    /// From its base64 text.
    pub fn parse(text: &SecretString) -> Result<Self> {
        let bytes = BASE64_STANDARD.decode(text.expose_secret().trim());
        let bytes: SecretSlice<u8> = bytes.unwrap_or_default().into();
        let bytes = bytes.expose_secret();
        if bytes.len() != BYTES {
            return Err(Error::Invalid(format!(
                "a master key is {BYTES} random bytes in base64, as `openssl rand -base64 {BYTES}` prints them"
            )));
        }
        let digest = Sha256::digest(bytes);
        Ok(Self {
            id: digest[..4].iter().map(|b| format!("{b:02x}")).collect(),
            cipher: UnboundKey::new(&AES_256_GCM, bytes)
                .map(LessSafeKey::new)
                .map_err(|_| anyhow!("the cipher rejects the master key"))?,
        })
    }

    /// Identifies it: the first digits of its sha256.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn seal(&self, name: &str, value: &SecretString) -> Result<String> {
        let mut text = value.expose_secret().as_bytes().to_vec();
        let mut nonce = [0; NONCE_LEN];
        fill_random(&mut nonce)?;
        self.cipher
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(name),
                &mut text,
            )
            .map_err(|_| anyhow!("the key `{name}` cannot be sealed"))?;
        Ok(BASE64_STANDARD.encode([&nonce[..], &text].concat()))
    }

    /// None if the value was damaged, or sealed under another name.
    pub fn open(&self, name: &str, sealed: &str) -> Option<SecretString> {
        let bytes = BASE64_STANDARD.decode(sealed).ok()?;
        let (nonce, text) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let opened = self.cipher.open_in_place(nonce, Aad::from(name), &mut text);
        Some(str::from_utf8(opened.ok()?).ok()?.into())
    }
}

/// The available master keys: the one in the operator's environment, or those
/// of a file in the data folder, one a line, the newest first. The file has two
/// only during a rotation, or after one that was interrupted.
#[derive(Debug)]
pub struct Secrets {
    from_environment: Option<SecretString>,
    file: PathBuf,
}

impl Secrets {
    pub fn new(from_environment: Option<SecretString>, data: &Path) -> Self {
        Self {
            from_environment,
            file: data.join(FILE),
        }
    }

    /// The master key that sealed the stored keys.
    pub fn find(&self, id: &str) -> Result<MasterKey> {
        let mut others = Vec::new();
        for text in self.texts()? {
            let master = self.parse(&text)?;
            if master.id == id {
                return Ok(master);
            }
            others.push(master.id);
        }
        let place = self.place();
        let found = if others.is_empty() {
            format!("{place} is not there")
        } else {
            format!("{place} holds {}", others.join(" and "))
        };
        Err(Error::Invalid(format!(
            "the stored keys are sealed with the master key {id}, and {found}; put that master key back, or remove all keys and set them again"
        )))
    }

    /// The master key to start with, created at first use.
    pub fn any(&self) -> Result<MasterKey> {
        match self.texts()?.first() {
            Some(text) => self.parse(text),
            None => self.add(),
        }
    }

    /// Creates a master key and puts it first in the file.
    pub fn add(&self) -> Result<MasterKey> {
        if self.from_environment.is_some() {
            return Err(Error::Invalid(format!(
                "the master key comes from {VARIABLE}: create the new one yourself and pass it on stdin"
            )));
        }
        let mut texts = self.texts()?;
        texts.insert(0, random()?);
        self.write(&texts)?;
        self.parse(&texts[0])
    }

    /// Removes all other keys from the file. If `id` is not in the file, the
    /// file stays as it is.
    pub fn keep_only(&self, id: &str) -> Result<()> {
        if self.from_environment.is_some() {
            return Ok(());
        }
        let texts = self.texts()?;
        let wanted = |text: &SecretString| self.parse(text).is_ok_and(|master| master.id == id);
        match texts.iter().find(|text| wanted(text)) {
            Some(text) if texts.len() > 1 => Ok(self.write(std::slice::from_ref(text))?),
            _ => Ok(()),
        }
    }

    fn place(&self) -> String {
        match self.from_environment {
            Some(_) => VARIABLE.to_owned(),
            None => self.file.display().to_string(),
        }
    }

    fn parse(&self, text: &SecretString) -> Result<MasterKey> {
        MasterKey::parse(text).map_err(|error| match error {
            Error::Invalid(what) => Error::Invalid(format!("{}: {what}", self.place())),
            other => other,
        })
    }

    /// Empty if there is no file yet.
    fn texts(&self) -> Result<Vec<SecretString>> {
        if let Some(from_environment) = &self.from_environment {
            return Ok(vec![from_environment.clone()]);
        }
        let mode = match std::fs::metadata(&self.file) {
            Ok(metadata) => metadata.permissions().mode(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => Err(error).context(format!("cannot open {}", self.file.display()))?,
        };
        if mode & 0o077 != 0 {
            let file = self.file.display();
            return Err(Error::Invalid(format!(
                "{file} holds the master key, and others can read it; chmod 600 {file}"
            )));
        }
        let text: SecretSlice<u8> = read_limited(&self.file, 4_096)?.into();
        let text = str::from_utf8(text.expose_secret())
            .with_context(|| format!("{} is not text", self.file.display()))?;
        Ok(text.split_whitespace().map(SecretString::from).collect())
    }

    /// Replaces the file atomically and durably. Temporary files are readable
    /// by their owner only, and stay so after the rename.
    fn write(&self, texts: &[SecretString]) -> anyhow::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            for text in texts {
                writeln!(file, "{}", text.expose_secret())?;
            }
            file.as_file().sync_all()?;
            file.persist(&self.file)?;
            std::fs::File::open(folder)?.sync_all()
        };
        write().with_context(|| format!("cannot write {}", self.file.display()))
    }
}

/// The text of a new, random master key.
fn random() -> Result<SecretString> {
    let mut bytes = SecretSlice::from(vec![0; BYTES]);
    fill_random(bytes.expose_secret_mut())?;
    Ok(BASE64_STANDARD.encode(bytes.expose_secret()).into())
}

fn fill_random(bytes: &mut [u8]) -> anyhow::Result<()> {
    let filled = SystemRandom::new().fill(bytes);
    filled.map_err(|_| anyhow!("the system provides no random numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_of(secrets: &Secrets) -> Vec<String> {
        let text = std::fs::read_to_string(&secrets.file).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_its_master_key_and_its_name_open_a_value() {
        let [ours, other] = [(); 2].map(|()| MasterKey::parse(&random().unwrap()).unwrap());
        let value = SecretString::from("sk-marked");
        let sealed = ours.seal("a", &value).unwrap();
        assert_ne!(sealed, ours.seal("a", &value).unwrap());
        assert!(!sealed.contains("marked"));
        let check = |master: &MasterKey, name: &str, sealed: &str, expect: Option<&str>| {
            let found = master.open(name, sealed);
            assert_eq!(found.as_ref().map(ExposeSecret::expose_secret), expect);
        };
        check(&ours, "a", &sealed, Some("sk-marked"));
        check(&other, "a", &sealed, None);
        check(&ours, "b", &sealed, None);
        check(&ours, "a", &sealed[..sealed.len() - 8], None);
        check(&ours, "a", "", None);
        check(&ours, "a", "no base64!", None);
        assert_eq!(format!("{ours:?}"), format!("MasterKey({})", ours.id()));
    }

    #[test]
    fn the_file_is_made_at_first_need_for_its_owner_alone() {
        let data = tempfile::tempdir().unwrap();
        let secrets = Secrets::new(None, data.path());
        let missing = secrets.find("00000000").unwrap_err().to_string();
        assert!(missing.contains("secret.key is not there"), "{missing}");
        let first = secrets.any().unwrap();
        assert_eq!(secrets.any().unwrap().id(), first.id());
        let mode = |file: &Path| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&secrets.file), 0o600);

        let wrong = secrets.find("00000000").unwrap_err().to_string();
        assert!(wrong.contains(first.id()), "{wrong}");
        std::fs::set_permissions(&secrets.file, PermissionsExt::from_mode(0o640)).unwrap();
        let open = secrets.any().unwrap_err().to_string();
        assert!(open.contains("chmod 600"), "{open}");
    }

    #[test]
    fn old_ones_stay_until_they_are_forgotten() {
        let data = tempfile::tempdir().unwrap();
        let secrets = Secrets::new(None, data.path());
        let old = secrets.any().unwrap();
        let new = secrets.add().unwrap();
        assert_eq!(file_of(&secrets).len(), 2);
        assert_eq!(secrets.any().unwrap().id(), new.id());
        for id in [old.id(), new.id()] {
            assert_eq!(secrets.find(id).unwrap().id(), id);
        }
        secrets.keep_only("00000000").unwrap();
        assert_eq!(file_of(&secrets).len(), 2, "an unknown one is elsewhere");
        secrets.keep_only(old.id()).unwrap();
        assert_eq!(secrets.any().unwrap().id(), old.id());
        assert_eq!(file_of(&secrets).len(), 1);
        // No temporary file remains.
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);
    }

    #[test]
    fn one_of_the_environment_goes_before_the_file() {
        let data = tempfile::tempdir().unwrap();
        let with = |text: &str| Secrets::new(Some(text.into()), data.path());
        let text = random().unwrap();
        let secrets = with(text.expose_secret());
        let id = secrets.any().unwrap().id().to_owned();
        assert_eq!(secrets.find(&id).unwrap().id(), id);
        assert!(!format!("{secrets:?}").contains(text.expose_secret()));
        assert!(secrets.add().unwrap_err().to_string().contains("stdin"));
        let wrong = secrets.find("00000000").unwrap_err().to_string();
        assert!(wrong.contains("SWE_CI_SECRET holds"), "{wrong}");
        for bad in ["", "hunter2", "aHVudGVyMg=="] {
            let error = with(bad).any().unwrap_err().to_string();
            assert!(
                error.starts_with("SWE_CI_SECRET: ") && error.contains("openssl"),
                "{error}"
            );
            assert!(bad.is_empty() || !error.contains(bad));
        }
        assert!(!secrets.file.exists());
    }
}
