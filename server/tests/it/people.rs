//! The users of a site: their browsers' cookies, and their accounts.

use axum::body::Body;
use axum::http::Request;
use secrecy::{ExposeSecret, SecretString};
use swe_ci_views::account::{AccountRole, Actor, TokenScope};

use crate::fixture::{Answer, TestApp};

pub const PASSWORD: &str = "correct horse battery";

/// A browser: it stores cookies and sends the origin of a form.
pub struct Browser<'a> {
    app: &'a TestApp,
    /// Name and value, as sent.
    pub cookie: Option<String>,
    /// The one that a page shows once.
    shown_once: Option<String>,
}

impl<'a> Browser<'a> {
    pub fn new(app: &'a TestApp) -> Self {
        Self {
            app,
            cookie: None,
            shown_once: None,
        }
    }

    /// A browser that has just signed in.
    pub async fn signed_in(app: &'a TestApp, name: &str) -> Self {
        let mut browser = Self::new(app);
        let answer = browser.sign_in(name, PASSWORD).await;
        assert_eq!(answer.status, 303, "{}", answer.text());
        browser
    }

    pub async fn sign_in(&mut self, name: &str, password: &str) -> Answer {
        let fields = [("name", name), ("password", password)];
        self.send("/sign-in", &fields).await
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        let request = self.request("GET", path).body(Body::empty());
        self.read(request.unwrap()).await
    }

    /// Sends a form.
    pub async fn send(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = fields.iter().map(|(name, value)| {
            let value = swe_ci_app::encode(value);
            format!("{name}={value}")
        });
        let form = form.collect::<Vec<_>>().join("&");
        let request = self
            .request("POST", path)
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded");
        self.read(request.body(Body::from(form)).unwrap()).await
    }

    /// Sends a form that makes a secret; the page that shows it.
    pub async fn send_for_secret(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let made = self.send(path, fields).await;
        assert_eq!(made.status, 303, "{}", made.text());
        assert_eq!(made.header("location"), path);
        let page = self.get(path).await;
        assert_eq!(page.header("cache-control"), "no-store");
        page
    }

    /// Sends a form with a file in it, next to an empty text field.
    pub async fn send_file(&mut self, path: &str, deed: &str, name: &str, file: &[u8]) -> Answer {
        let mut body = format!(
            "--edge\r\ncontent-disposition: form-data; name=\"deed\"\r\n\r\n{deed}\r\n\
             --edge\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"it\"\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(file);
        body.extend_from_slice(
            b"\r\n--edge\r\ncontent-disposition: form-data; name=\"toml\"\r\n\r\n\r\n--edge--\r\n",
        );
        let request = self
            .request("POST", path)
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "multipart/form-data; boundary=edge");
        self.read(request.body(Body::from(body)).unwrap()).await
    }

    fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let request = Request::builder().method(method).uri(path);
        let cookies = [&self.cookie, &self.shown_once].into_iter().flatten();
        let cookies: Vec<&str> = cookies.map(String::as_str).collect();
        match cookies.is_empty() {
            true => request,
            false => request.header("cookie", cookies.join("; ")),
        }
    }

    async fn read(&mut self, request: Request<Body>) -> Answer {
        let answer = self.app.read(request).await;
        for cookie in answer.headers.get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            let own = match name {
                "swe_ci_shown_once" => &mut self.shown_once,
                _ => &mut self.cookie,
            };
            *own = (!value.is_empty()).then(|| pair.to_owned());
        }
        answer
    }
}

/// Creates an account of this name, with [`PASSWORD`].
pub async fn account(app: &TestApp, name: &str, role: AccountRole) -> Actor {
    let (_, secret) = app.engine.invite(role, "").await.unwrap();
    let visitor = app.engine.acting_for(Actor::Visitor);
    let password = SecretString::from(PASSWORD);
    let made = visitor.accept_invitation(secret.expose_secret(), name, &password);
    Actor::Account(made.await.unwrap())
}

/// The `authorization` header of a program with this account's token.
pub async fn bearer(app: &TestApp, who: &Actor, scope: impl Into<TokenScope>) -> String {
    let own = app.engine.acting_for(who.clone());
    let (_, text) = own.make_token("of a test", scope, 90).await.unwrap();
    format!("Bearer {}", text.expose_secret())
}
