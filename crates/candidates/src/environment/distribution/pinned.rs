//! Downloads source distributions, pinned by sha256. Reads the HTML form of an
//! index, which every index and mirror serves.

use std::time::Duration;

use anyhow::{bail, ensure};
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::retry::{Backoff, Retries};
use swe_ci_hub::http;

use super::index::{Index, write};

/// Maximum bytes of a source distribution.
const MAX_BYTES: usize = 64 << 20;
const RETRIES: Retries = Retries {
    first_delay: Duration::from_secs(2),
    max_delay: Duration::from_mins(1),
    max_requested: Duration::ZERO,
    tries: 3,
};

impl Index {
    /// The bytes of `<package>-<version>.tar.gz`, whose sha256 must be `sha256`.
    pub async fn sdist(
        &self,
        package: &str,
        version: &str,
        sha256: &str,
    ) -> anyhow::Result<Vec<u8>> {
        let name = format!("{package}-{version}.tar.gz");
        let cached = self.cache.join(&name);
        if let Ok(bytes) = std::fs::read(&cached)
            && sha256_hex(&bytes) == sha256
        {
            return Ok(bytes);
        }
        let mut backoff = Backoff::new(RETRIES, 0);
        let bytes = loop {
            let error = match self.fetch(package, &name).await {
                Ok(bytes) => break bytes,
                Err(error) => error,
            };
            let Some(delay) = backoff.failed(None) else {
                let index = &self.url;
                return Err(error.context(format!(
                    "cannot fetch {name} from the package index {index}"
                )));
            };
            tracing::warn!(%name, "retrying the download: {error:#}");
            tokio::time::sleep(delay).await;
        };
        let found = sha256_hex(&bytes);
        ensure!(
            found == sha256,
            "{name} from the package index has the sha256 {found}, but {sha256} was expected; nothing was imported"
        );
        write(&cached, &bytes)?;
        Ok(bytes)
    }

    async fn fetch(&self, package: &str, name: &str) -> anyhow::Result<Vec<u8>> {
        let page = self.get_page(package, "text/html").await?;
        let page = page.error_for_status()?;
        let base = page.url().clone();
        let html = http::body(page, MAX_BYTES).await?;
        let Some(link) = link(&String::from_utf8_lossy(&html), name) else {
            bail!("the index does not list it (it may have been withdrawn)")
        };
        let response = self.get(base.join(&link)?).await?;
        Ok(http::body(response, MAX_BYTES).await?)
    }
}

/// The address of a file on an index page, without its fragment.
fn link(html: &str, name: &str) -> Option<String> {
    html.split("href=\"").skip(1).find_map(|rest| {
        let address = rest.split('"').next()?.split('#').next()?;
        let file = address.rsplit('/').next()?;
        (file == name).then(|| address.replace("&amp;", "&"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_file_on_an_index_page() {
        let html = r#"<a href="../../x/lib-1.0.tar.gz#sha256=ab" data-requires-python="&gt;=3">lib-1.0.tar.gz</a>
                      <a href="https://h/p/lib-1.1.tar.gz?a=1&amp;b=2#sha256=cd">lib-1.1.tar.gz</a>
                      <a href="https://h/p/lib-2.0.tar.gz">lib-2.0.tar.gz</a>"#;
        assert_eq!(
            link(html, "lib-1.0.tar.gz").as_deref(),
            Some("../../x/lib-1.0.tar.gz")
        );
        assert_eq!(
            link(html, "lib-2.0.tar.gz").as_deref(),
            Some("https://h/p/lib-2.0.tar.gz")
        );
        assert_eq!(link(html, "lib-3.0.tar.gz"), None);
    }

    /// An index on loopback that lists `lib-1.0.tar.gz` with this content.
    async fn serve(content: &'static str) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4_096];
                let read = stream.read(&mut request).await.unwrap();
                let page = "<a href=\"../../files/lib-1.0.tar.gz#sha256=00\">lib-1.0.tar.gz</a>";
                let is_page = request[..read].starts_with(b"GET /simple/lib/ ");
                let body = if is_page { page } else { content };
                let head = format!(
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                stream
                    .write_all(format!("{head}{body}").as_bytes())
                    .await
                    .unwrap();
            }
        });
        format!("http://{address}/simple")
    }

    #[tokio::test]
    async fn downloads_are_verified_and_cached() {
        let cache = tempfile::tempdir().unwrap();
        let index = Index::new(&serve("content").await, cache.path(), None).unwrap();
        let wrong = index
            .sdist("lib", "1.0", &sha256_hex(b"other"))
            .await
            .unwrap_err();
        assert!(
            wrong
                .to_string()
                .contains("lib-1.0.tar.gz from the package index has the sha256 ed7002b4"),
            "{wrong}"
        );
        assert_eq!(
            std::fs::read_dir(cache.path()).unwrap().count(),
            0,
            "a wrong file is not cached"
        );
        let good = sha256_hex(b"content");
        assert_eq!(index.sdist("lib", "1.0", &good).await.unwrap(), b"content");
        // Now it comes from the cache, unless the cached file was changed.
        let offline = Index::new("http://127.0.0.1:9", cache.path(), None).unwrap();
        assert_eq!(
            offline.sdist("lib", "1.0", &good).await.unwrap(),
            b"content"
        );
        std::fs::write(cache.path().join("lib-1.0.tar.gz"), "tampered").unwrap();
        assert_eq!(index.sdist("lib", "1.0", &good).await.unwrap(), b"content");
    }

    #[tokio::test]
    async fn a_file_missing_from_the_index_is_named() {
        let cache = tempfile::tempdir().unwrap();
        let index = Index::new(&serve("").await, cache.path(), None).unwrap();
        let error = format!("{:#}", index.sdist("lib", "2.0", "00").await.unwrap_err());
        assert!(
            error.contains("lib-2.0.tar.gz") && error.contains("does not list it"),
            "{error}"
        );
    }
}
