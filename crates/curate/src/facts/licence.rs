//! Recognises licences by characteristic phrases of their texts.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Licence {
    /// An SPDX identifier or expression, or `LicenseRef-…` for a licence
    /// without one.
    pub spdx: String,
    pub file: String,
}

/// Licences that permit use, modification and redistribution as long as names
/// and licence texts are kept.
const PERMISSIVE: [&str; 14] = [
    "MIT",
    "MIT-0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD-4-Clause",
    "LicenseRef-BSD",
    "Apache-2.0",
    "ISC",
    "Unlicense",
    "0BSD",
    "PSF-2.0",
    "Zlib",
    "BSL-1.0",
    "CC0-1.0",
];

impl Licence {
    /// Whether the licence is permissive. Of alternatives, one permissive
    /// licence is enough.
    pub fn permissive(&self) -> bool {
        self.allowed_by(|spdx| PERMISSIVE.contains(&spdx))
    }

    /// Evaluates the expression: any side of `OR`, every side of `AND`.
    pub(super) fn allowed_by(&self, allows: impl Fn(&str) -> bool) -> bool {
        let all = |side: &str| side.split(" AND ").all(|spdx| allows(spdx.trim()));
        allows(&self.spdx) || self.spdx.split(" OR ").any(all)
    }
}

/// Whether a file in the root states the project's licence. Licences of bundled
/// code are not the project's.
pub(super) fn is_licence_file(path: &str) -> bool {
    let name = path.to_ascii_lowercase();
    let starts = ["license", "licence", "copying", "unlicense", "mit-license"];
    let others = ["third", "3rd", "bundle", "vendor", "header", ".py", ".tmpl"];
    !name.contains('/')
        && starts.iter().any(|start| name.starts_with(start))
        && !others.iter().any(|other| name.contains(other))
}

/// A characteristic phrase and the licence it identifies.
type Phrase = (&'static str, fn(&str) -> &'static str);

/// Phrases of licences, in the form [`plain`] returns.
const PHRASES: [Phrase; 20] = [
    (
        "permission is hereby granted free of charge to any person obtaining a copy of this software",
        mit,
    ),
    (
        "permission is hereby granted free of charge to any person or organization obtaining a copy of the software",
        |_| "BSL-1.0",
    ),
    ("redistribution and use in source and binary forms", bsd),
    ("apache license version 2 0 january 2004", |_| "Apache-2.0"),
    (
        "licensed under the apache license version 2 0",
        |_| "Apache-2.0",
    ),
    (
        "permission to use copy modify and or distribute this software for any purpose with or without fee is hereby granted",
        isc,
    ),
    (
        "permission to use copy modify and distribute this software for any purpose with or without fee is hereby granted",
        isc,
    ),
    (
        "this is free and unencumbered software released into the public domain",
        |_| "Unlicense",
    ),
    (
        "python software foundation license version 2",
        |_| "PSF-2.0",
    ),
    (
        "this software is provided as is without any express or implied warranty in no event will the authors be held liable",
        |_| "Zlib",
    ),
    ("cc0 1 0 universal", |_| "CC0-1.0"),
    ("mozilla public license version 2 0", |_| "MPL-2.0"),
    ("mozilla public license version 1 1", |_| "MPL-1.1"),
    ("eclipse public license v 2 0", |_| "EPL-2.0"),
    ("gnu affero general public license", |text| {
        gnu(text, &[], "AGPL-3.0")
    }),
    ("gnu lesser general public license", lgpl),
    ("gnu library general public license", lgpl),
    ("gnu general public license", |text| {
        gnu(
            text,
            &[("3", "GPL-3.0"), ("2", "GPL-2.0"), ("1", "GPL-1.0")],
            "GPL-1.0-or-later",
        )
    }),
    ("business source license 1 1", |_| "BUSL-1.1"),
    ("server side public license", |_| "SSPL-1.0"),
];

/// Phrases that restrict the licence around them.
const RESTRICTIONS: [(&str, &str); 3] = [
    (
        "commons clause license condition",
        "LicenseRef-Commons-Clause",
    ),
    ("shall be used for good not evil", "JSON"),
    ("attribution noncommercial", "LicenseRef-Noncommercial"),
];

/// The licence of a text. The first of several counts: licences of bundled code
/// follow it.
pub(super) fn recognised(text: &str) -> Option<&'static str> {
    let text = plain(text);
    if let Some((_, spdx)) = RESTRICTIONS.iter().find(|(words, _)| text.contains(words)) {
        return Some(spdx);
    }
    let found = PHRASES
        .iter()
        .filter_map(|(phrase, is)| Some((text.find(phrase)?, is)));
    let (at, is) = found.min_by_key(|(at, _)| *at)?;
    Some(is(&text[at..]))
}

/// The words in lower case separated by single blanks, so that line breaks,
/// quotes and punctuation do not matter.
pub(super) fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").to_ascii_lowercase()
}

fn mit(text: &str) -> &'static str {
    if text.contains("the above copyright notice and this permission notice") {
        "MIT"
    } else {
        "MIT-0"
    }
}

fn isc(text: &str) -> &'static str {
    if text.contains("provided that the above copyright notice") {
        "ISC"
    } else {
        "0BSD"
    }
}

/// Looks at one licence only: others may follow it.
fn bsd(text: &str) -> &'static str {
    let end = text
        .find("possibility of such damage")
        .unwrap_or(text.len());
    let text = &text[..end];
    if text.contains("all advertising materials mentioning") {
        "BSD-4-Clause"
    } else if text.contains("to endorse or promote products") {
        "BSD-3-Clause"
    } else {
        "BSD-2-Clause"
    }
}

fn lgpl(text: &str) -> &'static str {
    let versions = [("3", "LGPL-3.0"), ("2 1", "LGPL-2.1"), ("2", "LGPL-2.0")];
    gnu(text, &versions, "LGPL-2.0-or-later")
}

/// Chooses by the version number that follows closely.
fn gnu(text: &str, versions: &[(&str, &'static str)], any: &'static str) -> &'static str {
    let words: Vec<_> = text.split(' ').take(30).collect();
    let is_short = |word: &str| {
        let digit = word.strip_prefix('v').and_then(|rest| rest.chars().next());
        digit.is_some_and(|c| c.is_ascii_digit())
    };
    let at = words
        .iter()
        .position(|word| *word == "version" || is_short(word));
    let version = at.map(|at| words[at..].join(" ")).unwrap_or_default();
    let version = version
        .trim_start_matches("version ")
        .trim_start_matches('v');
    let named = versions.iter().find(|(name, _)| version.starts_with(name));
    named.map_or(any, |(_, spdx)| spdx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_licences() {
        let check = |text: &str, expect: &str| {
            assert_eq!(recognised(text).unwrap_or_default(), expect, "{text}");
        };
        let mit = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software and associated documentation files … The above copyright notice and this permission notice shall be included";
        check(mit, "MIT");
        check(&mit.replace("The above", "No"), "MIT-0");
        check(&mit.replace('\n', "\r\n# "), "MIT");
        let bsd = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted … ";
        check(bsd, "BSD-2-Clause");
        check(
            &format!(
                "{bsd} Neither the name of X nor … may be used to endorse or promote products derived"
            ),
            "BSD-3-Clause",
        );
        check(
            &format!("{bsd} All advertising materials mentioning features"),
            "BSD-4-Clause",
        );
        check(
            &format!("{bsd} POSSIBILITY OF SUCH DAMAGE. {bsd} to endorse or promote products"),
            "BSD-2-Clause",
        );
        check(
            "                                 Apache License\n                           Version 2.0, January 2004",
            "Apache-2.0",
        );
        check(
            "Licensed under the Apache License, Version 2.0 (the \"License\");",
            "Apache-2.0",
        );
        let isc = "Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted";
        check(
            &format!("{isc}, provided that the above\ncopyright notice"),
            "ISC",
        );
        check(isc, "0BSD");
        check(
            "This is free and unencumbered software released into the public domain.",
            "Unlicense",
        );
        check("PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2", "PSF-2.0");
        check(
            "This software is provided 'as-is', without any express or implied\nwarranty. In no event will the authors be held liable",
            "Zlib",
        );
        check(
            "Boost Software License - Version 1.0\nPermission is hereby granted, free of charge, to any person or organization\nobtaining a copy of the software and accompanying documentation",
            "BSL-1.0",
        );
        check(
            "Mozilla Public License Version 2.0\n … GNU General Public License, Version 2.0",
            "MPL-2.0",
        );
        check(
            "GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007 … GNU Affero General Public License",
            "GPL-3.0",
        );
        check(
            "GNU GENERAL PUBLIC LICENSE\n Version 2, June 1991",
            "GPL-2.0",
        );
        check(
            "GNU LESSER GENERAL PUBLIC LICENSE\n Version 2.1, February 1999",
            "LGPL-2.1",
        );
        check(
            "GNU LESSER GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007",
            "LGPL-3.0",
        );
        check(
            "GNU LIBRARY GENERAL PUBLIC LICENSE\n Version 2, June 1991",
            "LGPL-2.0",
        );
        check(
            "GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3, 19 November 2007",
            "AGPL-3.0",
        );
        check(
            "under the terms of the GNU General Public License v3 or later",
            "GPL-3.0",
        );
        check("under the GNU General Public License", "GPL-1.0-or-later");
        // The first licence counts, unless a restriction follows.
        check(&format!("{mit}\n\n{bsd}"), "MIT");
        check(
            &format!("\"Commons Clause\" License Condition v1.0\n{mit}"),
            "LicenseRef-Commons-Clause",
        );
        check(
            "Business Source License 1.1\nChange License: Apache License, Version 2.0",
            "BUSL-1.1",
        );
        check("All rights reserved.", "");
        check("", "");
    }

    #[test]
    fn files_with_licences() {
        for path in [
            "LICENSE",
            "license.txt",
            "LICENCE.md",
            "COPYING.LESSER",
            "LICENSE-MIT",
            "UNLICENSE",
        ] {
            assert!(is_licence_file(path), "{path}");
        }
        for path in [
            "docs/LICENSE",
            "LICENSES_bundled.txt",
            "license.py",
            "LICENSE-3RD-PARTY",
            "README",
        ] {
            assert!(!is_licence_file(path), "{path}");
        }
    }

    #[test]
    fn permissive_ones() {
        let check = |spdx: &str, expect: bool| {
            let (spdx, file) = (spdx.to_owned(), String::new());
            assert_eq!(Licence { spdx, file }.permissive(), expect);
        };
        check("MIT", true);
        check("Apache-2.0", true);
        check("GPL-3.0", false);
        check("LGPL-2.1", false);
        check("MPL-2.0", false);
        check("MIT OR GPL-3.0", true);
        check("MIT AND GPL-3.0", false);
        check("MIT AND Apache-2.0", true);
        check("LicenseRef-Commons-Clause", false);
        check("", false);
    }
}
