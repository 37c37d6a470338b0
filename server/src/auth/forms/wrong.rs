use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::credentials;
use swe_ci_engine::Error;

/// What is wrong, and the field of the form that says it.
#[derive(Debug)]
pub(super) struct At {
    pub field: &'static str,
    pub error: Error,
}

pub(super) fn at(field: &'static str) -> impl Fn(Error) -> At {
    move |error| At { field, error }
}

/// A password that is to be one from now on, and was typed twice.
pub(super) fn check_new_password(
    field: &'static str,
    password: &SecretString,
    again: &SecretString,
    name: &str,
) -> Result<(), At> {
    let wrong = |says: &str| Error::Invalid(says.to_owned());
    let (password, again) = (password.expose_secret(), again.expose_secret());
    credentials::check_password(password, name).map_err(|says| at(field)(wrong(says)))?;
    match password == again {
        true => Ok(()),
        false => Err(at("again")(wrong("this is not the same; type both again"))),
    }
}
