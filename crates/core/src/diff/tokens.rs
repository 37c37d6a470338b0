//! The syntax of words in the code, so that a page can colour them.

use serde::{Deserialize, Serialize};

crate::named! {
    /// The kinds of words that have a colour; all others are plain.
    pub enum Token {
        Keyword = "keyword",
        String = "string",
        Comment = "comment",
        /// A number, or a named value such as `None`.
        Constant = "constant",
        /// The name of a function in its definition, and its decorators.
        Function = "function",
        /// The name of a class in its definition.
        Type = "type",
    }
}

/// A word in the text of hunks: its range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coloured {
    pub from: u32,
    pub to: u32,
    pub token: Token,
}

/// The compact form of words for the browser: for each, its distance from the
/// last, and its length combined with its token. It takes a third of the plain
/// form, and a page has thousands of words.
pub(super) mod packed {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::{Coloured, Deserialize, Serialize, Token};

    const KINDS: u64 = Token::ALL.len() as u64;

    pub fn serialize<S: Serializer>(words: &[Coloured], to: S) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        let pack = |word: &Coloured| {
            let gap = word.from.saturating_sub(last);
            let length = u64::from(word.to.saturating_sub(word.from));
            last = word.to;
            [u64::from(gap), length * KINDS + word.token as u64]
        };
        let packed: Vec<u64> = words.iter().flat_map(pack).collect();
        packed.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Coloured>, D::Error> {
        let packed: Vec<u64> = Vec::deserialize(from)?;
        let mut last = 0_u32;
        let unpack = |pair: &[u64; 2]| {
            let [gap, length] = *pair;
            let token = usize::try_from(length % KINDS).ok()?;
            let from = last.checked_add(u32::try_from(gap).ok()?)?;
            last = from.checked_add(u32::try_from(length / KINDS).ok()?)?;
            Some(Coloured {
                from,
                to: last,
                token: *Token::ALL.get(token)?,
            })
        };
        let (pairs, odd) = packed.as_chunks();
        let words = pairs.iter().map(unpack).collect::<Option<Vec<_>>>();
        words
            .filter(|_| odd.is_empty())
            .ok_or_else(|| D::Error::custom("invalid packed words"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Words(#[serde(with = "packed")] Vec<Coloured>);

    #[test]
    fn packed_and_unpacked() {
        for (index, token) in Token::ALL.into_iter().enumerate() {
            assert_eq!(token as usize, index);
        }
        let word = |from, to, token| Coloured { from, to, token };
        let words = Words(vec![
            word(3, 6, Token::Keyword),
            word(7, 8, Token::Type),
            word(8, u32::MAX, Token::Comment),
        ]);
        let text = serde_json::to_string(&words).unwrap();
        assert!(text.starts_with("[3,18,1,11,0,"), "{text}");
        assert_eq!(serde_json::from_str::<Words>(&text).unwrap(), words);
        for wrong in ["[1]", "[1,2,3]", "[4294967296,1]", "[4294967295,6]"] {
            assert!(serde_json::from_str::<Words>(wrong).is_err(), "{wrong}");
        }
    }
}
