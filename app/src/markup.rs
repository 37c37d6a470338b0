//! HTML as text, for tables of thousands of cells that never change. As parts
//! of a view, each cell would be built and then hydrated one by one.

/// Escapes a text for use between tags and in attributes.
pub(crate) fn escape(text: &str) -> String {
    html_escape::encode_quoted_attribute(text).into_owned()
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
            "&lt;a href=&quot;x&quot; title=&#x27;y&#x27;&gt;&amp;amp;",
        );
    }
}
