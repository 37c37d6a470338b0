//! CSV tables for download, in the form of RFC 4180: commas, CRLF line ends,
//! quotes only where they are necessary.

/// Untrusted text as a cell. Spreadsheets would run some text as a formula;
/// a leading apostrophe prevents that.
pub fn text(value: &str) -> String {
    if value.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        format!("'{value}")
    } else {
        value.to_owned()
    }
}

/// A table of a header and rows.
pub fn table<Row: IntoIterator<Item = String>>(
    head: impl IntoIterator<Item = impl Into<String>>,
    rows: impl IntoIterator<Item = Row>,
) -> String {
    let mut table = String::new();
    line(&mut table, head.into_iter().map(Into::<String>::into));
    for row in rows {
        line(&mut table, row);
    }
    table
}

fn line(table: &mut String, cells: impl IntoIterator<Item = String>) {
    let quoted = |cell: String| match cell.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    let cells: Vec<String> = cells.into_iter().map(quoted).collect();
    table.push_str(&cells.join(","));
    table.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_cells() {
        let check = |value: &str, expect: &str| {
            let mut table = String::new();
            line(&mut table, [text(value), "-1".to_owned()]);
            assert_eq!(table, format!("{expect},-1\r\n"));
        };
        check("plain text", "plain text");
        check("", "");
        check("a,b", "\"a,b\"");
        check("say \"x\"", "\"say \"\"x\"\"\"");
        check("=1+1", "'=1+1");
        check("-rf,\n", "\"'-rf,\n\"");
    }
}
