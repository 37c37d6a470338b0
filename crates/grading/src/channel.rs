//! The channel on which the bootstrap tells its results: lines of standard
//! output, each with its number and a seal that only the bootstrap can make.

use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha256;

/// A longer line is not the bootstrap's, in bytes.
const MAX_LINE: usize = 8 << 20;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Frame {
    Start {
        /// Names that the code adds and the image has.
        shadowing: Vec<String>,
    },
    Collected {
        ids: Vec<String>,
    },
    /// What a test's own code raised, asked below pytest's bookkeeping.
    Raised {
        id: String,
        #[serde(rename = "type")]
        exception: Option<String>,
        reached: bool,
    },
    Report(Stage),
    /// The code did not fit on the disk.
    DiskFull,
    /// Options that pytest was started without.
    Dropped {
        options: Vec<String>,
    },
    /// A file without which no test runs could not be loaded.
    Unloaded {
        file: String,
        cause: String,
    },
    Finish {
        seconds: f64,
    },
    End {
        exit: i64,
        /// Names for which the image's module was used instead of the code's.
        shadowed: Vec<String>,
    },
}

/// How setup, call or teardown of a test ended.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Stage {
    pub id: String,
    pub when: String,
    pub outcome: String,
    /// How pytest counts it; empty when it does not.
    pub category: String,
    pub text: String,
    pub seconds: f64,
}

/// A line that is not a frame of the bootstrap.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreign;

pub(crate) struct Channel {
    key: [u8; 32],
    next: u64,
    line: Vec<u8>,
    too_long: bool,
}

impl Channel {
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            key,
            next: 0,
            line: Vec::new(),
            too_long: false,
        }
    }

    /// Hands out the frames that a piece of output completes.
    pub fn push(&mut self, bytes: &[u8], mut on_frame: impl FnMut(Result<Frame, Foreign>)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + piece.len() > MAX_LINE {
                self.too_long = true;
                self.line.clear();
            }
            if !self.too_long {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                self.end_line(&mut on_frame);
            }
        }
    }

    fn end_line(&mut self, on_frame: &mut impl FnMut(Result<Frame, Foreign>)) {
        let line = std::mem::take(&mut self.line);
        let too_long = std::mem::take(&mut self.too_long);
        let line = line.trim_ascii();
        if too_long || !line.is_empty() {
            let frame = if too_long { None } else { self.open(line) };
            on_frame(frame.ok_or(Foreign));
        }
    }

    fn open(&mut self, line: &[u8]) -> Option<Frame> {
        let mut parts = line.splitn(3, |byte| *byte == b' ');
        let (number, seal, text) = (parts.next()?, parts.next()?, parts.next()?);
        let expected = self.next.to_string();
        let mut mac = <Hmac<Sha256>>::new_from_slice(&self.key).ok()?;
        mac.update(expected.as_bytes());
        mac.update(b" ");
        mac.update(text);
        mac.verify_slice(&from_hex(seal)?).ok()?;
        self.next += 1;
        let frame = serde_json::from_slice(text).ok()?;
        (number == expected.as_bytes()).then_some(frame)
    }
}

fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    (text.len() % 2 == 0 && text.is_ascii()).then(|| {
        let digits = (0..text.len()).step_by(2);
        digits
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok())
            .collect()
    })?
}

/// A frame as the bootstrap sends it, for tests of what reads frames.
#[doc(hidden)]
pub fn sealed(key: &[u8; 32], number: u64, text: &str) -> String {
    let mut mac = <Hmac<Sha256>>::new_from_slice(key).expect("any length serves as key");
    mac.update(format!("{number} {text}").as_bytes());
    let seal = swe_ci_base::digest::hex(&mac.finalize().into_bytes());
    format!("\n{number} {seal} {text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [7; 32];

    fn frames(output: &str, chunk: usize) -> Vec<Result<Frame, Foreign>> {
        let mut channel = Channel::new(KEY);
        let mut all = Vec::new();
        for piece in output.as_bytes().chunks(chunk) {
            channel.push(piece, |frame| all.push(frame));
        }
        all
    }

    #[test]
    fn only_sealed_lines_in_order_are_frames() {
        let collected = |id: &str| format!(r#"{{"kind": "collected", "ids": ["{id}"]}}"#);
        let frame = |id: &str| {
            let ids = vec![id.to_owned()];
            Ok(Frame::Collected { ids })
        };
        let honest = sealed(&KEY, 0, &collected("a")) + &sealed(&KEY, 1, &collected("b"));
        for chunk in [1, 7, 1000] {
            assert_eq!(frames(&honest, chunk), [frame("a"), frame("b")]);
        }
        let check = |output: String, expect: &[Result<Frame, Foreign>]| {
            assert_eq!(frames(&output, 64), expect, "{output}");
        };
        check(sealed(&[8; 32], 0, &collected("a")), &[Err(Foreign)]);
        check(sealed(&KEY, 1, &collected("a")), &[Err(Foreign)]);
        check(
            "printed\n".to_owned() + &honest,
            &[Err(Foreign), frame("a"), frame("b")],
        );
        // Said twice: the second time it has the wrong number.
        let again = sealed(&KEY, 0, &collected("a")).repeat(2);
        check(again, &[frame("a"), Err(Foreign)]);
        // One in between was dropped.
        check(
            sealed(&KEY, 0, &collected("a")) + &sealed(&KEY, 2, &collected("c")),
            &[frame("a"), Err(Foreign)],
        );
        // What others wrote without an end of line does not spoil the next.
        check(
            "half".to_owned() + &honest,
            &[Err(Foreign), frame("a"), frame("b")],
        );
        check(
            "x".repeat(MAX_LINE + 1) + &honest,
            &[Err(Foreign), frame("a"), frame("b")],
        );
        check(sealed(&KEY, 0, "{}"), &[Err(Foreign)]);
    }
}
