//! The bytes of an answer as they are met: some proxies pack twice, name `x-gzip` or
//! nothing, and the HTTP client leaves that; some begin with a byte order mark. Under the
//! name `deflate` comes both zlib's format and the raw one.

use std::io::{self, Write};

use axum::body::Bytes;
use axum::http::header::CONTENT_ENCODING;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use futures::{Stream, StreamExt, stream};

const GZIP: &[u8] = b"\x1f\x8b";
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes unpacked at a time; they may become a thousand times as many.
const SLICE: usize = 4 << 10;
/// Bytes of a piece when it is unpacked.
const MAX_PIECE: usize = 32 << 20;

/// Unpacks a piece.
type Decoder = Box<dyn FnMut(Bytes) -> io::Result<Bytes> + Send>;

/// The pieces of a body, and at last why it broke off, if it did.
pub(super) fn pieces(
    response: reqwest::Response,
) -> impl Stream<Item = Result<Bytes, String>> + Send {
    let encoding = response.headers().get(CONTENT_ENCODING);
    let is_deflate = encoding.is_some_and(|name| name == "deflate");
    let mut pieces = response.bytes_stream();
    let whole = async move {
        let (mut head, mut failed) = (Vec::new(), None);
        while !tells_its_format(&head, is_deflate) && failed.is_none() {
            match pieces.next().await {
                Some(Ok(piece)) => head.extend_from_slice(&piece),
                Some(Err(error)) => failed = Some(Err(error)),
                None => break,
            }
        }
        let mut decode = decoder_of(&head, is_deflate);
        let mut begun = false;
        let head = stream::iter([Some(Ok(head.into())), failed].into_iter().flatten());
        head.chain(pieces).map(move |piece| {
            let piece: Bytes = piece.map_err(|error| error.without_url().to_string())?;
            let mut piece = decode(piece).map_err(|error| error.to_string())?;
            if !begun && piece.starts_with(MARK) {
                piece = piece.slice(MARK.len()..);
            }
            begun |= !piece.is_empty();
            Ok(piece)
        })
    };
    stream::once(whole).flatten()
}

/// Whether more bytes cannot change what a body that begins with these is.
fn tells_its_format(head: &[u8], is_deflate: bool) -> bool {
    let may_be = |magic: &[u8]| magic.len() > head.len() && magic.starts_with(head);
    !may_be(GZIP) && !may_be(MARK) && (!is_deflate || head.len() > 1)
}

fn decoder_of(head: &[u8], is_deflate: bool) -> Decoder {
    match head {
        _ if head.starts_with(GZIP) => {
            decoder(MultiGzDecoder::new(Vec::new()), MultiGzDecoder::get_mut)
        }
        [a, b, ..] if is_deflate && a & 0x0f == 8 && u16::from_be_bytes([*a, *b]) % 31 == 0 => {
            decoder(ZlibDecoder::new(Vec::new()), ZlibDecoder::get_mut)
        }
        _ if is_deflate => decoder(DeflateDecoder::new(Vec::new()), DeflateDecoder::get_mut),
        _ => Box::new(Ok),
    }
}

fn decoder<D: Write + Send + 'static>(
    mut decoder: D,
    unpacked: fn(&mut D) -> &mut Vec<u8>,
) -> Decoder {
    Box::new(move |piece| {
        for slice in piece.chunks(SLICE) {
            decoder.write_all(slice)?;
            if unpacked(&mut decoder).len() > MAX_PIECE {
                return Err(io::Error::other("a compressed answer is too large"));
            }
        }
        decoder.flush()?;
        Ok(std::mem::take(unpacked(&mut decoder)).into())
    })
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    }

    #[tokio::test]
    async fn bodies_are_unpacked_piece_by_piece() {
        let check = async |encoding: &str, body: &[u8], length: usize, expect: &str| {
            let sent: Vec<_> = body.chunks(length).map(<[u8]>::to_vec).collect();
            let sent = sent.into_iter().map(Ok::<_, io::Error>);
            let body = reqwest::Body::wrap_stream(stream::iter(sent));
            let response = axum::http::Response::builder()
                .header(CONTENT_ENCODING, encoding)
                .body(body)
                .unwrap();
            let found: Vec<_> = pieces(response.into()).collect().await;
            let found: Vec<Bytes> = found.into_iter().collect::<Result<_, _>>().unwrap();
            let found = String::from_utf8(found.concat()).unwrap();
            assert_eq!(found, expect, "{encoding} {length}");
        };
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(b"one two").unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(b"one two").unwrap();
        let (zlib, raw) = (zlib.finish().unwrap(), raw.finish().unwrap());
        let two = [packed("one "), packed("two")].concat();
        for length in [1, 2, 5, 1_000] {
            check("identity", b"plain", length, "plain").await;
            check("identity", b"{}", length, "{}").await;
            check("identity", b"\x1f", length, "\x1f").await;
            check("identity", &[MARK, b"marked"].concat(), length, "marked").await;
            check("x-gzip", &two, length, "one two").await;
            check("deflate", &zlib, length, "one two").await;
            check("deflate", &raw, length, "one two").await;
        }
    }
}
