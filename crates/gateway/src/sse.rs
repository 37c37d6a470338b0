//! Parses server-sent events from bytes in pieces.

/// One event with data; comments and events without data are skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The value of `event:`.
    pub name: Option<String>,
    /// The `data:` lines, joined.
    pub data: String,
}

/// Splits the bytes of a stream, in pieces of any size, into events. It holds at
/// most one event.
#[derive(Debug)]
pub struct Splitter {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return, so a line feed after it belongs to
    /// the same line end.
    after_return: bool,
    name: Option<String>,
    data: Option<Vec<u8>>,
    /// The current event exceeds the limit and is skipped.
    too_long: bool,
}

impl Splitter {
    /// Skips events with more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            name: None,
            data: None,
            too_long: false,
        }
    }

    /// The events that end in this piece.
    pub fn take(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend(&bytes[..end]);
            events.extend(self.end_line());
            let returned = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if returned {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.extend(bytes);
        events
    }

    /// The event that a stream ends with, if no empty line follows it.
    pub fn finish(&mut self) -> Option<Event> {
        self.end_line().or_else(|| self.end_event())
    }

    fn extend(&mut self, piece: &[u8]) {
        let stored = self.data.as_ref().map_or(0, Vec::len) + self.line.len();
        if !self.too_long && stored + piece.len() > self.limit {
            self.too_long = true;
            self.data = None;
            self.line = Vec::new();
        }
        // One byte of a skipped line is stored, to distinguish it from the
        // empty line that ends the event.
        let count = if self.too_long {
            usize::from(self.line.is_empty())
        } else {
            piece.len()
        };
        self.line.extend(piece.iter().take(count));
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        if self.too_long {
            return None;
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let (field, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            // Comments, `id`, `retry`, and unknown fields.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = self.name.take();
        let data = self.data.take();
        if std::mem::take(&mut self.too_long) {
            return None;
        }
        let data = String::from_utf8_lossy(&data?).into_owned();
        Some(Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 64;

    fn in_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
        let mut splitter = Splitter::new(LIMIT);
        pieces
            .into_iter()
            .flat_map(|piece| splitter.take(piece))
            .collect()
    }

    const STREAMS: [(&str, &[(&str, &str)]); 11] = [
        ("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]),
        (
            "event: e\r\ndata: a\r\n\r\ndata: b\r\n\r\n",
            &[("e", "a"), ("", "b")],
        ),
        ("event:e\rdata:a\r\rdata:  b\r\r", &[("e", "a"), ("", " b")]),
        ("data: a\ndata:\ndata: b: c\n\n", &[("", "a\n\nb: c")]),
        (": waiting\n\n:\n\ndata: a\n\n", &[("", "a")]),
        ("event: ping\n\ndata\n\n", &[("", "")]),
        (
            "id: 7\nretry: 10\nother: x\ndata: ä€😀\n\n",
            &[("", "ä€😀")],
        ),
        ("data: a\n\ndata: cut off\n", &[("", "a")]),
        ("data: a\n\ndata: cut o", &[("", "a")]),
        ("\n\n\r\n{\"not\": \"an event\"}\n\n", &[]),
        (
            "event: e\ndata: 0123456789012345678901234567890123456789\ndata: 0123456789012345678901234567890123456789\n: c\n\ndata: after\n\n",
            &[("", "after")],
        ),
    ];

    fn expected(events: &[(&str, &str)]) -> Vec<Event> {
        let event = |(name, data): &(&str, &str)| Event {
            name: (!name.is_empty()).then(|| (*name).to_owned()),
            data: (*data).to_owned(),
        };
        events.iter().map(event).collect()
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        for (stream, events) in STREAMS {
            let (bytes, events) = (stream.as_bytes(), expected(events));
            assert_eq!(in_pieces([bytes]), events, "{stream:?}");
            for size in 1..bytes.len() {
                assert_eq!(
                    in_pieces(bytes.chunks(size)),
                    events,
                    "{stream:?} by {size}"
                );
            }
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    assert_eq!(in_pieces(pieces), events, "{stream:?} {first} {second}");
                }
            }
        }
    }

    #[test]
    fn an_event_over_the_limit_is_skipped_and_uses_no_memory() {
        let event = |length: usize| format!("data: {}\n\n", "x".repeat(length));
        assert_eq!(in_pieces([event(LIMIT - 6).as_bytes()]).len(), 1);
        assert_eq!(in_pieces([event(LIMIT - 5).as_bytes()]).len(), 0);
        let mut splitter = Splitter::new(LIMIT);
        for _ in 0..1000 {
            splitter.take(b"data: for ever and ever and ever\n");
            splitter.take(b"and without end, and without end, and without end, and wi");
        }
        assert!(splitter.line.capacity() <= LIMIT && splitter.data.is_none());
    }
}
