//! Fuzzes the parser of requirement documents: an accepted document must
//! round-trip through our XML.
#![no_main]

use libfuzzer_sys::fuzz_target;
use swe_ci_core::requirement::{Document, MAX_REQUIREMENTS};

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = Document::parse(&String::from_utf8_lossy(bytes)) else {
        return;
    };
    assert!((1..=MAX_REQUIREMENTS).contains(&document.requirements().len()));
    let written = document.to_xml();
    let again = Document::parse(&written).expect("our XML must parse");
    assert_eq!(again.to_xml(), written);
});
