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
const PERMISSIVE: &str = "\
    MIT MIT-0 BSD-2-Clause BSD-3-Clause BSD-4-Clause LicenseRef-BSD Apache-2.0 ISC Unlicense \
    0BSD PSF-2.0 Zlib BSL-1.0 CC0-1.0";

impl Licence {
    /// Whether the licence is permissive. Of alternatives, one permissive
    /// licence is enough.
    pub fn permissive(&self) -> bool {
        self.allowed_by(|spdx| PERMISSIVE.split(' ').any(|known| known == spdx))
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

/// Licences and their phrases, in the form [`plain`] returns.
const PHRASES: &str = "
    MIT: permission is hereby granted free of charge to any person obtaining a copy of this software
    BSL-1.0: permission is hereby granted free of charge to any person or organization obtaining a copy of the software
    BSD: redistribution and use in source and binary forms
    Apache-2.0: apache license version 2 0 january 2004
    Apache-2.0: licensed under the apache license version 2 0
    ISC: permission to use copy modify and or distribute this software for any purpose with or without fee is hereby granted
    ISC: permission to use copy modify and distribute this software for any purpose with or without fee is hereby granted
    Unlicense: this is free and unencumbered software released into the public domain
    PSF-2.0: python software foundation license version 2
    Zlib: this software is provided as is without any express or implied warranty in no event will the authors be held liable
    CC0-1.0: cc0 1 0 universal
    MPL-2.0: mozilla public license version 2 0
    MPL-1.1: mozilla public license version 1 1
    EPL-2.0: eclipse public license v 2 0
    AGPL-3.0: gnu affero general public license
    LGPL: gnu lesser general public license
    LGPL: gnu library general public license
    GPL: gnu general public license
    BUSL-1.1: business source license 1 1
    SSPL-1.0: server side public license
";

/// The same of licences that restrict the one around them.
const RESTRICTIONS: &str = "
    LicenseRef-Commons-Clause: commons clause license condition
    JSON: shall be used for good not evil
    LicenseRef-Noncommercial: attribution noncommercial
";

/// The licences with phrases in a text, and where these begin.
fn found(phrases: &'static str, text: &str) -> Vec<(usize, &'static str)> {
    let phrases = phrases
        .lines()
        .filter_map(|line| line.trim().split_once(": "));
    let found = phrases.filter_map(|(licence, phrase)| Some((text.find(phrase)?, licence)));
    found.collect()
}

/// The licence of a text. The first of several counts: licences of bundled code
/// follow it.
pub(super) fn recognised(text: &str) -> Option<&'static str> {
    let text = plain(text);
    if let Some((_, spdx)) = found(RESTRICTIONS, &text).first() {
        return Some(spdx);
    }
    let (at, licence) = found(PHRASES, &text)
        .into_iter()
        .min_by_key(|(at, _)| *at)?;
    let text = &text[at..];
    Some(match licence {
        "MIT" if !text.contains("the above copyright notice and this permission notice") => "MIT-0",
        "ISC" if !text.contains("provided that the above copyright notice") => "0BSD",
        "BSD" => bsd(text),
        "LGPL" => {
            let versions = [("3", "LGPL-3.0"), ("2 1", "LGPL-2.1"), ("2", "LGPL-2.0")];
            gnu(text, &versions, "LGPL-2.0-or-later")
        }
        "GPL" => {
            let versions = [("3", "GPL-3.0"), ("2", "GPL-2.0"), ("1", "GPL-1.0")];
            gnu(text, &versions, "GPL-1.0-or-later")
        }
        exact => exact,
    })
}

/// The words in lower case separated by single blanks, so that line breaks,
/// quotes and punctuation do not matter.
pub(super) fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").to_ascii_lowercase()
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
