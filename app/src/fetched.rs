//! Data of pages. The server fetches it and sends it with the page; the browser
//! fetches it when the address changes.

use std::future::Future;

use codee::{Decoder, Encoder};
use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::AppError;

pub type Fetched<T> = Resource<Result<T, AppError>, Json>;

/// Fetches again whenever the key changes.
pub fn fetched<A, T, F>(
    asked: impl Fn() -> A + Send + Sync + 'static,
    fetch: impl Fn(A) -> F + Send + Sync + 'static,
) -> Fetched<T>
where
    A: PartialEq + Clone + Send + Sync + 'static,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    F: Future<Output = Result<T, AppError>> + Send + 'static,
{
    Resource::new_with_options(asked, fetch, false)
}

/// JSON read from bytes, as server functions do: reading it from text would put
/// each type's parsing code into the program twice.
#[derive(Debug, Clone, Copy)]
pub struct Json;

impl<T: Serialize> Encoder<T> for Json {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, Self::Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for Json {
    type Error = serde_json::Error;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Self::Error> {
        serde_json::from_slice(text.as_bytes())
    }
}
