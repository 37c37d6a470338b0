//! The whole product as its users have it: the tests are in `tests/`.
