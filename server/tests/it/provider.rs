//! A fake identity provider: OpenID Connect, and GitHub's OAuth 2. It checks
//! requests as a real one does, and misbehaves on request.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD as BASE64};
use ring::rand::SystemRandom;
use ring::rsa;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fixture::{CLIENT_SECRET, PUBLIC_URL};

/// Keys of these tests alone; ring does not generate any for RSA.
static KEY: LazyLock<RsaKeyPair> = LazyLock::new(|| rsa(include_bytes!("keys/provider.pkcs8")));
static ANOTHERS_KEY: LazyLock<RsaKeyPair> =
    LazyLock::new(|| rsa(include_bytes!("keys/another.pkcs8")));

fn rsa(pkcs8: &[u8]) -> RsaKeyPair {
    RsaKeyPair::from_pkcs8(pkcs8).unwrap()
}

pub const CLIENT_ID: &str = "bench";

type Fields = HashMap<String, String>;

#[derive(Clone)]
pub struct Provider {
    /// Without a trailing slash.
    pub url: String,
    inner: Arc<Mutex<Inner>>,
}

/// The provider's answers, and its misbehaviour.
pub struct Inner {
    /// The permanent subject of a person.
    pub subject: String,
    pub login: String,
    pub email: String,
    pub verified: bool,
    pub lie: Lie,
    key: Key,
    /// The parameters of each code's request.
    codes: HashMap<String, Fields>,
    issued: u32,
    /// The number of discovery requests.
    pub described: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    Nothing,
    /// Misbehaviour of ID tokens.
    Nonce,
    Audience,
    Issuer,
    Expired,
    AnothersKey,
    Unsigned,
    NoToken,
    /// Misbehaviour of the discovery document.
    Description,
    /// The provider fails.
    Broken,
}

enum Key {
    Rsa(&'static RsaKeyPair),
    Ec(Box<EcdsaKeyPair>),
}

impl Provider {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let inner = Inner {
            subject: "42".into(),
            login: "octocat".into(),
            email: "octo@corp.example".into(),
            verified: true,
            lie: Lie::Nothing,
            key: Key::Rsa(&KEY),
            codes: HashMap::new(),
            issued: 0,
            described: 0,
        };
        let provider = Self {
            url,
            inner: Arc::new(Mutex::new(inner)),
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(description))
            .route("/jwks", get(keys))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/login/oauth/authorize", get(authorize))
            .route("/login/oauth/access_token", post(github_token))
            .route("/api/v3/user", get(user))
            .with_state(provider.clone());
        tokio::spawn(async { axum::serve(listener, router).await });
        provider
    }

    pub fn says(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    pub fn change_key(&self) {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random);
        self.says().key = Key::Ec(Box::new(key.unwrap()));
    }

    /// Opens the provider's address and agrees; returns the redirect's target.
    pub async fn visit(&self, address: &str) -> String {
        let client = swe_ci_engine::http_client().redirect(reqwest::redirect::Policy::none());
        let answer = client.build().unwrap().get(address).send().await.unwrap();
        let status = answer.status();
        let to = answer.headers().get("location").cloned();
        let text = answer.text().await.unwrap();
        assert_eq!(status, 303, "{text}");
        let to = to.unwrap().to_str().unwrap().to_owned();
        to.strip_prefix(PUBLIC_URL).unwrap().to_owned()
    }

    fn id_token(&self, parameters: &Fields) -> String {
        let says = self.says();
        let now = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_secs();
        let is = |lie: Lie| says.lie == lie;
        let (issuer, audience) = match says.lie {
            Lie::Issuer => ("https://evil.example", CLIENT_ID),
            Lie::Audience => (self.url.as_str(), "another"),
            _ => (self.url.as_str(), CLIENT_ID),
        };
        let claims = json!({
            "iss": issuer,
            "aud": audience,
            "sub": says.subject,
            "iat": now - 700,
            "exp": if is(Lie::Expired) { now - 10 } else { now + 600 },
            "nonce": if is(Lie::Nonce) { "another" } else { parameters["nonce"].as_str() },
            "preferred_username": says.login,
            "email": says.email,
            "email_verified": says.verified,
        });
        let other = Key::Rsa(&ANOTHERS_KEY);
        let key = if is(Lie::AnothersKey) {
            &other
        } else {
            &says.key
        };
        let algorithm = if is(Lie::Unsigned) {
            "none"
        } else {
            key.algorithm()
        };
        let head = json!({ "alg": algorithm, "kid": key.algorithm(), "typ": "JWT" });
        let text = [head, claims]
            .map(|part| BASE64.encode(part.to_string()))
            .join(".");
        match is(Lie::Unsigned) {
            true => format!("{text}."),
            false => format!("{text}.{}", BASE64.encode(key.sign(text.as_bytes()))),
        }
    }
}

impl Key {
    fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
        }
    }

    fn sign(&self, text: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature)
                    .unwrap();
                signature
            }
            Self::Ec(key) => key.sign(&random, text).unwrap().as_ref().to_vec(),
        }
    }

    /// In the form of a key set.
    fn public(&self) -> Value {
        let part = |bytes: &[u8]| BASE64.encode(bytes);
        let mut key = match self {
            Self::Rsa(key) => {
                let parts = rsa::PublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "n": part(&parts.n), "e": part(&parts.e) })
            }
            // An uncompressed point.
            Self::Ec(key) => {
                let point = key.public_key().as_ref();
                json!({ "kty": "EC", "crv": "P-256", "x": part(&point[1..33]), "y": part(&point[33..]) })
            }
        };
        key["kid"] = self.algorithm().into();
        key["alg"] = self.algorithm().into();
        key["use"] = "sig".into();
        key
    }
}

async fn description(State(provider): State<Provider>) -> Response {
    let mut says = provider.says();
    says.described += 1;
    if says.lie == Lie::Broken {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let url = &provider.url;
    let issuer = match says.lie {
        Lie::Description => "https://evil.example",
        _ => url,
    };
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "jwks_uri": format!("{url}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256", "ES256"],
    }))
    .into_response()
}

async fn keys(State(provider): State<Provider>) -> Json<Value> {
    Json(json!({ "keys": [provider.says().key.public()] }))
}

/// Everyone agrees at once.
async fn authorize(State(provider): State<Provider>, Query(parameters): Query<Fields>) -> Response {
    let back = parameters["redirect_uri"].clone();
    assert!(
        back.starts_with(PUBLIC_URL) && back.ends_with("/callback"),
        "{back}"
    );
    assert_eq!(parameters["client_id"], CLIENT_ID);
    assert_eq!(parameters["response_type"], "code");
    assert_eq!(parameters["code_challenge_method"], "S256");
    assert!(parameters["state"].len() >= 43, "{}", parameters["state"]);
    let mut says = provider.says();
    says.issued += 1;
    let code = format!("code-{}", says.issued);
    let to = format!("{back}?code={code}&state={}", parameters["state"]);
    says.codes.insert(code, parameters);
    Redirect::to(&to).into_response()
}

/// Redeems a code, which works once, with the secret and the verifier of the
/// challenge.
fn redeem(provider: &Provider, form: &Fields, by: (&str, &str)) -> Result<Fields, StatusCode> {
    let mut says = provider.says();
    if says.lie == Lie::Broken {
        return Err(StatusCode::BAD_GATEWAY);
    }
    assert_eq!(by, (CLIENT_ID, CLIENT_SECRET));
    let parameters = says.codes.remove(&form["code"]);
    let parameters = parameters.ok_or(StatusCode::BAD_REQUEST)?;
    let challenge = BASE64.encode(Sha256::digest(&form["code_verifier"]));
    assert_eq!(parameters["code_challenge"], challenge);
    assert_eq!(parameters["redirect_uri"], form["redirect_uri"]);
    Ok(parameters)
}

async fn token(
    State(provider): State<Provider>,
    headers: HeaderMap,
    Form(form): Form<Fields>,
) -> Response {
    let basic = headers[header::AUTHORIZATION].to_str().unwrap();
    let basic = BASE64_STANDARD.decode(basic.strip_prefix("Basic ").unwrap());
    let basic = String::from_utf8(basic.unwrap()).unwrap();
    // Both halves are form-encoded (RFC 6749, 2.3.1).
    let pair = basic.replacen(':', "=", 1);
    let pair = url::form_urlencoded::parse(pair.as_bytes()).next().unwrap();
    let parameters = match redeem(&provider, &form, (&pair.0, &pair.1)) {
        Ok(parameters) => parameters,
        Err(status) => {
            return (status, Json(json!({ "error": "invalid_grant" }))).into_response();
        }
    };
    let mut answer = json!({ "access_token": "of-no-use", "token_type": "Bearer" });
    if provider.says().lie != Lie::NoToken {
        answer["id_token"] = provider.id_token(&parameters).into();
    }
    Json(answer).into_response()
}

/// GitHub reports errors in the body, with status 200.
async fn github_token(State(provider): State<Provider>, Form(form): Form<Fields>) -> Response {
    let by = (form["client_id"].as_str(), form["client_secret"].as_str());
    match redeem(&provider, &form, by) {
        Ok(_) => {
            let token = json!({ "access_token": "gho_1", "token_type": "bearer", "scope": "" });
            Json(token).into_response()
        }
        Err(_) => Json(json!({ "error": "bad_verification_code" })).into_response(),
    }
}

async fn user(State(provider): State<Provider>, headers: HeaderMap) -> Response {
    assert_eq!(headers[header::AUTHORIZATION], "Bearer gho_1");
    assert_eq!(headers[header::USER_AGENT], "swe-ci");
    let says = provider.says();
    if says.lie == Lie::NoToken {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let id: u64 = says.subject.parse().unwrap();
    Json(json!({ "id": id, "login": says.login, "email": null })).into_response()
}
