//! HTML written as text, for tables of thousands of cells that never change:
//! as parts of a view each cell would be made, and looked at again when the
//! page comes alive, one by one.

/// Text as it may stand between tags and in attributes.
#[must_use]
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_stays_text() {
        let check = |text, expect| assert_eq!(escape(text), expect);
        check("plain ä", "plain ä");
        check(
            "<a href=\"x\" title='y'>&amp;",
            "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;",
        );
    }
}
