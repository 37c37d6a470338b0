//! The bytes of an answer as they are met: some proxies pack twice, name `x-gzip` or
//! nothing, and the HTTP client leaves that; some begin with a byte order mark.

use std::io::Write;

use axum::body::Bytes;
use flate2::write::MultiGzDecoder;
use futures::{Stream, StreamExt};

const GZIP: &[u8] = b"\x1f\x8b";
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes unpacked at a time; they may become a thousand times as many.
const SLICE: usize = 4 << 10;
/// Bytes of a piece when it is unpacked.
const MAX_PIECE: usize = 32 << 20;

/// The pieces of a body, and at last why it broke off, if it did.
pub(super) fn pieces(
    response: reqwest::Response,
) -> impl Stream<Item = Result<Bytes, String>> + Send {
    let (mut begun, mut gzip) = (false, None);
    response.bytes_stream().map(move |piece| {
        let mut piece = piece.map_err(|error| error.without_url().to_string())?;
        if !begun && gzip.is_none() && piece.starts_with(GZIP) {
            gzip = Some(MultiGzDecoder::new(Vec::new()));
        }
        if let Some(gzip) = &mut gzip {
            piece = unpacked(gzip, &piece).map_err(|error| error.to_string())?;
        }
        if !begun && piece.starts_with(MARK) {
            piece = piece.slice(MARK.len()..);
        }
        begun |= !piece.is_empty();
        Ok(piece)
    })
}

fn unpacked(gzip: &mut MultiGzDecoder<Vec<u8>>, piece: &[u8]) -> std::io::Result<Bytes> {
    for slice in piece.chunks(SLICE) {
        gzip.write_all(slice)?;
        if gzip.get_ref().len() > MAX_PIECE {
            return Err(std::io::Error::other("a compressed answer is too large"));
        }
    }
    gzip.flush()?;
    Ok(std::mem::take(gzip.get_mut()).into())
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    }

    #[tokio::test]
    async fn bodies_are_unpacked_piece_by_piece() {
        let check = async |pieces_sent: Vec<Vec<u8>>, expect: &str| {
            let sent = pieces_sent.into_iter().map(Ok::<_, std::io::Error>);
            let body = reqwest::Body::wrap_stream(futures::stream::iter(sent));
            let response = axum::http::Response::new(body).into();
            let found: Vec<_> = pieces(response).collect().await;
            let found: Vec<Bytes> = found.into_iter().collect::<Result<_, _>>().unwrap();
            assert_eq!(String::from_utf8(found.concat()).unwrap(), expect);
        };
        check(vec![b"pla".into(), b"in".into()], "plain").await;
        check(vec![[MARK, b"marked"].concat()], "marked").await;
        let two = [packed("one "), packed("two")].concat();
        check(vec![two.clone()], "one two").await;
        check(two.chunks(5).map(<[u8]>::to_vec).collect(), "one two").await;
    }
}
