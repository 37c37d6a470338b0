//! SVG to PNG, PDF and SVG of outlines, with embedded fonts.

use std::sync::{Arc, LazyLock};

use krilla::geom::Size;
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla_svg::{SurfaceExt, SvgSettings};
use resvg::tiny_skia::{Color, Pixmap, PremultipliedColorU8, Transform};
use resvg::usvg::{self, ImageHrefResolver, Options, Tree, fontdb};

const FONTS: [&[u8]; 2] = [
    include_bytes!("../../fonts/Inter-Regular.otf"),
    include_bytes!("../../fonts/Inter-Bold.otf"),
];
const FAMILY: &str = "Inter";

/// Pixels per band. A picture is drawn in bands, so that a tall one takes no
/// more memory than a small one: 8 MiB, and the file.
const BAND: u32 = 2 << 20;
/// The largest picture in pixels; a figure of 100 runs at four times its size
/// is smaller.
const MOST: u64 = 64_000_000;

/// Pixels per metre at scale 1, where 96 are an inch: word processors take the
/// printed size from it.
const PER_METRE: u32 = 3_780;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unrenderable {
    #[error("it would have more than {MOST} pixels")]
    TooLarge {
        /// The largest scale that fits; may be 0.
        most: u32,
    },
    #[error(transparent)]
    Svg(#[from] usvg::Error),
    #[error(transparent)]
    Png(#[from] png::EncodingError),
    #[error("there is not enough memory")]
    Memory,
    #[error("it has no size on paper")]
    NoSize,
    #[error("the PDF cannot be written: {0:?}")]
    Pdf(krilla::error::KrillaError),
}

/// Points in a pixel, of which an inch has 96.
const POINTS: f32 = 72.0 / 96.0;

/// The picture with outlines in the place of letters, which look the same
/// whatever fonts a program has. Blocks.
pub(super) fn outlined(svg: &str) -> Result<Vec<u8>, Unrenderable> {
    let tree = Tree::from_str(svg, &OPTIONS)?;
    Ok(tree.to_string(&usvg::WriteOptions::default()).into_bytes())
}

/// The picture as PDF of one page, in its own size. Blocks.
pub(super) fn pdf(svg: &str, title: &str) -> Result<Vec<u8>, Unrenderable> {
    let tree = Tree::from_str(svg, &OPTIONS)?;
    let size = tree.size();
    let size = Size::from_wh(size.width() * POINTS, size.height() * POINTS);
    let size = size.ok_or(Unrenderable::NoSize)?;
    let settings = PageSettings::from_wh(size.width(), size.height());
    let mut document = krilla::Document::new();
    document.set_metadata(Metadata::new().title(title.to_owned()));
    let mut page = document.start_page_with(settings.ok_or(Unrenderable::NoSize)?);
    let mut surface = page.surface();
    let drawn = surface.draw_svg(&tree, size, SvgSettings::default());
    surface.finish();
    page.finish();
    drawn.ok_or(Unrenderable::NoSize)?;
    document.finish().map_err(Unrenderable::Pdf)
}

/// The picture at `scale` times its own size, on white. Blocks.
pub(super) fn png(svg: &str, scale: u32) -> Result<Vec<u8>, Unrenderable> {
    let tree = Tree::from_str(svg, &OPTIONS)?;
    let size = tree.size().to_int_size();
    let pixels = |scale: u32| u64::from(size.width() * scale) * u64::from(size.height() * scale);
    if pixels(scale) > MOST {
        let most = (1..scale).rev().find(|less| pixels(*less) <= MOST);
        return Err(Unrenderable::TooLarge {
            most: most.unwrap_or(0),
        });
    }
    let (width, height) = (size.width() * scale, size.height() * scale);
    let mut file = Vec::new();
    let mut writer = header(&mut file, width, height, scale)?;
    let mut rows = writer.stream_writer()?;
    bands(&tree, width, height, scale, |row| {
        std::io::Write::write_all(&mut rows, row).map_err(png::EncodingError::from)
    })?;
    rows.finish()?;
    writer.finish()?;
    Ok(file)
}

fn header(
    file: &mut Vec<u8>,
    width: u32,
    height: u32,
    scale: u32,
) -> Result<png::Writer<&mut Vec<u8>>, png::EncodingError> {
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: PER_METRE * scale,
        yppu: PER_METRE * scale,
        unit: png::Unit::Meter,
    }));
    encoder.write_header()
}

/// Draws from the top down and yields one row after the other.
fn bands(
    tree: &Tree,
    width: u32,
    height: u32,
    scale: u32,
    mut write: impl FnMut(&[u8]) -> Result<(), png::EncodingError>,
) -> Result<(), Unrenderable> {
    let band = (BAND / width.max(1)).clamp(1, height);
    let mut pixmap = Pixmap::new(width, band).ok_or(Unrenderable::Memory)?;
    let mut row = Vec::with_capacity(width as usize * 3);
    for top in (0..height).step_by(band as usize) {
        pixmap.fill(Color::WHITE);
        let zoom = Transform::from_scale(scale as f32, scale as f32);
        let place = zoom.post_translate(0.0, -(top as f32));
        resvg::render(tree, place, &mut pixmap.as_mut());
        let rows = pixmap.pixels().chunks_exact(width as usize);
        for pixels in rows.take((height - top) as usize) {
            row.clear();
            // On white no pixel stays transparent.
            let bytes = |p: &PremultipliedColorU8| [p.red(), p.green(), p.blue()];
            row.extend(pixels.iter().flat_map(bytes));
            write(&row)?;
        }
    }
    Ok(())
}

/// Text uses the embedded fonts, whatever family the picture names; the
/// renderer reads no file and no address.
static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for font in FONTS {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(font)));
    }
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_serif_family(FAMILY);
    fonts.set_monospace_family(FAMILY);
    Options {
        font_family: FAMILY.to_owned(),
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        fontdb: Arc::new(fonts),
        ..Options::default()
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(inside: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"120\" height=\"40\" viewBox=\"0 0 480 160\">{inside}</svg>"
        )
    }

    fn text(text: &str, weight: &str) -> String {
        svg(&format!(
            "<text x=\"20\" y=\"100\" font-family=\"sans-serif\" font-weight=\"{weight}\" font-size=\"60\">{text}</text>"
        ))
    }

    /// The number of pixels that are not white.
    fn ink(svg: &str) -> usize {
        let file = png(svg, 1).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels.chunks_exact(3).filter(|p| *p != [255; 3]).count()
    }

    #[test]
    fn text_is_drawn_in_every_script_the_font_has() {
        for some in ["a", "γ", "Ж", "→", "±", "−", "·", "…", "ễ", "✓", "²"] {
            assert!(ink(&text(some, "normal")) > 3, "{some}");
            assert_ne!(
                png(&text(some, "normal"), 1).unwrap(),
                png(&text("□", "normal"), 1).unwrap(),
                "{some}"
            );
        }
        assert!(ink(&text("wide", "bold")) > ink(&text("wide", "normal")));
        assert_eq!(ink(&text(" ", "normal")), 0);
    }

    #[test]
    fn missing_glyphs_are_boxes() {
        let chinese = png(&text("漢", "normal"), 2).unwrap();
        assert_eq!(chinese, png(&text("字", "normal"), 2).unwrap());
        assert!(ink(&text("漢", "normal")) > 10);
    }

    /// A tall picture is drawn in bands without a visible seam.
    #[test]
    fn bands_fit_together() {
        let tall = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"5000\">\
            <path d=\"M0 0L1000 5000\" stroke=\"#000\" stroke-width=\"7\"/></svg>";
        let tree = Tree::from_str(tall, &OPTIONS).unwrap();
        let mut whole = Pixmap::new(1000, 5000).unwrap();
        whole.fill(Color::WHITE);
        resvg::render(&tree, Transform::identity(), &mut whole.as_mut());
        let mut at = 0;
        bands(&tree, 1000, 5000, 1, |row| {
            let expect = &whole.pixels()[at..at + 1000];
            let far = |(found, expect): (&[u8], &PremultipliedColorU8)| {
                // Edges are weighed in sixteenths.
                found[0].abs_diff(expect.red()) > 16
            };
            assert!(!row.chunks(3).zip(expect).any(far), "row {}", at / 1000);
            at += 1000;
            Ok(())
        })
        .unwrap();
        assert_eq!(at, 5_000_000);
    }

    #[test]
    fn an_oversized_picture_names_the_largest_size() {
        let size = |height: u32| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"{height}\"/>"
            )
        };
        let most = |height: u32| match png(&size(height), 4) {
            Err(Unrenderable::TooLarge { most }) => Some(most),
            _ => None,
        };
        assert_eq!(most(100), None);
        assert_eq!(most(5_000), Some(3));
        assert_eq!(most(60_000), Some(1));
        assert_eq!(most(70_000), Some(0));
        assert!(png("<svg", 2).is_err());
    }

    /// The renderer fetches and reads nothing, whatever a picture names.
    #[test]
    fn no_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("red.svg");
        let red = svg("<rect width=\"480\" height=\"160\" fill=\"red\"/>");
        std::fs::write(&file, red).unwrap();
        let image = |href: &str| {
            svg(&format!(
                "<image width=\"480\" height=\"160\" href=\"{href}\"/>"
            ))
        };
        assert_eq!(ink(&image(&file.display().to_string())), 0);
        assert_eq!(
            ink(&image(
                "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"
            )),
            0
        );
    }
}
