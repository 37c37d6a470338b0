//! Fuzzes the parser of requirement documents: an accepted document must
//! round-trip through our XML.
#![no_main]

use libfuzzer_sys::fuzz_target;
use swe_ci_core::requirement::{Document, MAX_REQUIREMENTS, Rules};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let is_own_name = |name: &str| name.len() % 2 == 0;
    let rdd = Rules::Rdd {
        is_own_name: &is_own_name,
    };
    for document in [Rules::Tdd, rdd].map(|rules| Document::parse(&text, rules)) {
        let Ok(document) = document else {
            continue;
        };
        assert!((1..=MAX_REQUIREMENTS).contains(&document.requirements().len()));
        let written = document.to_xml();
        let again = Document::parse_accepted(&written).expect("our XML must parse");
        assert_eq!(again.to_xml(), written);
    }
});
