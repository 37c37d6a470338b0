use secrecy::{ExposeSecret, SecretString};
use swe_ci_engine::Error;
use swe_ci_views::credentials;

/// An error, and the field of the form that shows it.
#[derive(Debug)]
pub(super) struct FieldError {
    pub field: &'static str,
    pub error: Error,
}

pub(super) fn at_field(field: &'static str) -> impl Fn(Error) -> FieldError {
    move |error| FieldError { field, error }
}

/// Checks a new password that was typed twice.
pub(super) fn check_new_password(
    field: &'static str,
    password: &SecretString,
    again: &SecretString,
    name: &str,
) -> Result<(), FieldError> {
    let wrong = |says: &str| Error::Invalid(says.to_owned());
    let (password, again) = (password.expose_secret(), again.expose_secret());
    credentials::check_password(password, name).map_err(|says| at_field(field)(wrong(says)))?;
    match password == again {
        true => Ok(()),
        false => Err(at_field("again")(wrong(
            "the passwords differ; type both again",
        ))),
    }
}
