//! Access to values of TOML files that may be absent or of another type.

use toml::{Table, Value};

/// The value at a path of keys, with dots between them.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// The entries of a table; none for another value.
pub(crate) fn table(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_table).into_iter().flatten()
}

/// The strings of a list; other items are skipped.
pub(crate) fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str)
}

/// A parsed file, or the parser's message.
pub(crate) fn parsed(text: &str) -> Result<Value, String> {
    let table: Result<Table, _> = text.parse();
    table
        .map(Value::from)
        .map_err(|error| error.message().to_owned())
}
