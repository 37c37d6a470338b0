//! Constants of tests, and others that no honest code takes for them.

use sha2::{Digest, Sha256};

/// How far a constant moves. An honest equality may round, or ignore case and spaces.
/// A near number is the next one: honest code with a tolerance takes it for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Distance {
    Far,
    Medium,
    Near,
}

/// A number fits into what held the one before if it is not above the same bound.
const BOUNDS: [u128; 9] = [
    i8::MAX as u128,
    u8::MAX as u128,
    i16::MAX as u128,
    u16::MAX as u128,
    i32::MAX as u128,
    u32::MAX as u128,
    (1 << 53) - 1, // exact in JavaScript
    i64::MAX as u128,
    u64::MAX as u128,
];
/// A pattern of fewer letters may match by chance.
const FEWEST_LETTERS: usize = 5;

/// The same numbers for the same seed, so that a finding can be seen again.
#[derive(Debug)]
pub(super) struct Dice(String, u32);

impl Dice {
    pub fn new(seed: String) -> Self {
        Self(seed, 0)
    }

    /// From 0 to below `end`, which is above 0.
    pub fn below(&mut self, end: u128) -> u128 {
        self.1 += 1;
        let digest = Sha256::digest(format!("{} {}", self.0, self.1));
        let number = digest.iter().take(16);
        number.fold(0, |sum, byte| (sum << 8) | u128::from(*byte)) % end
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at as u128 + 1) as usize);
        }
    }
}

/// Another literal of the same type; `None` where there is none.
/// `is_one` tells a single character from a text in the same quotes.
pub(super) fn other(
    literal: &str,
    is_one: bool,
    dice: &mut Dice,
    distance: Distance,
) -> Option<String> {
    let first = literal.chars().next()?;
    match (literal, first) {
        (_, '0'..='9' | '.') => number(literal, dice, distance),
        _ if distance == Distance::Near => None,
        ("true", _) => Some("false".into()),
        ("false", _) => Some("true".into()),
        ("null" | "undefined", _) => Some("97".into()),
        ("[]", _) => Some("[97]".into()),
        ("{}", _) => Some("{k: 97}".into()),
        (_, '/') => pattern(literal, dice),
        _ => text(literal, is_one, dice, distance),
    }
}

fn number(literal: &str, dice: &mut Dice, distance: Distance) -> Option<String> {
    let digits = literal.replace('_', "");
    let (base, prefix) = match digits.get(..2) {
        Some("0x" | "0X") => (16, 2),
        Some("0o" | "0O") => (8, 2),
        Some("0b" | "0B") => (2, 2),
        _ => (10, 0),
    };
    let is_digit = |c: char| c.is_digit(base) || (base == 10 && ".eE".contains(c));
    let end = digits[prefix..].find(|c| !is_digit(c));
    // The exponent's sign, and a suffix for the type.
    let end = match end.map(|end| end + prefix) {
        Some(at) if digits[..at].ends_with(['e', 'E']) => {
            let rest = digits[at + 1..].find(|c: char| !c.is_ascii_digit());
            rest.map_or(digits.len(), |rest| at + 1 + rest)
        }
        Some(at) => at,
        None => digits.len(),
    };
    let (value, suffix) = digits.split_at(end);
    let new = match u128::from_str_radix(&value[prefix..], base) {
        Ok(_) if base == 10 && value.len() > 1 && value.starts_with('0') => None,
        Ok(value) => whole(value, dice, distance).map(|new| match base {
            16 => format!("0x{new:x}"),
            8 => format!("0o{new:o}"),
            2 => format!("0b{new:b}"),
            _ => new.to_string(),
        }),
        Err(_) => fraction(value, dice, distance),
    };
    new.map(|new| new + suffix)
}

fn whole(value: u128, dice: &mut Dice, distance: Distance) -> Option<u128> {
    let bound = BOUNDS.into_iter().find(|bound| value <= *bound)?;
    let within = |by: u128| match value + by <= bound {
        true => Some(value + by),
        false => value.checked_sub(by),
    };
    match distance {
        Distance::Near => within(1),
        Distance::Medium => within((value * (6 + dice.below(7)) / 100).max(2)),
        Distance::Far => {
            let far = |new: &u128| new.abs_diff(value) >= (value / 3).max(2);
            let mut drawn =
                (0..64).map(|_| dice.below(bound.min(value.saturating_mul(97)).max(97)));
            drawn.find(far)
        }
    }
}

fn fraction(literal: &str, dice: &mut Dice, distance: Distance) -> Option<String> {
    let value: f64 = literal
        .parse()
        .ok()
        .filter(|value: &f64| value.abs() < 1e300)?;
    let by = match distance {
        Distance::Near => {
            // Amounts of money are equal within half a hundredth.
            let digits = literal.split_once('.')?.1;
            let places = digits
                .bytes()
                .all(|c| c.is_ascii_digit())
                .then_some(digits.len())
                .filter(|places| *places > 0)?;
            return Some(format!(
                "{:.places$}",
                value + 0.1_f64.powi(places.min(2) as i32)
            ));
        }
        Distance::Medium => (value.abs() * (6 + dice.below(7)) as f64 / 100.0).max(2.0),
        Distance::Far => (value.abs() * (11 + dice.below(86)) as f64).max(2.0),
    };
    Some(format!("{:?}", value + by))
}

/// All letters and digits turned by some places; for a medium distance one of the first
/// letters alone, since honest types may look at a start. Escapes stay.
fn text(literal: &str, is_one: bool, dice: &mut Dice, distance: Distance) -> Option<String> {
    let open = literal.find(['"', '\'', '`'])?;
    let quote = literal[open..].chars().next()?;
    let close = literal.rfind(quote).filter(|close| *close > open)?;
    let is_raw = quote == '`' || literal[..open].contains('r');
    let (start, inside, end) = (
        &literal[..=open],
        &literal[open + 1..close],
        &literal[close..],
    );
    let letters = letters(inside, !is_raw);
    let changed = match distance {
        Distance::Medium if !letters.is_empty() => {
            let first = &letters[..letters.len().min(4)];
            let at = first[dice.below(first.len() as u128) as usize];
            turned(inside, &[at], dice)
        }
        _ => turned(inside, &letters, dice),
    };
    // A text of signs alone gets a letter more; one sign stays one sign.
    let changed = match (changed == inside, is_one) {
        (false, _) => changed,
        (true, true) => "x".into(),
        (true, false) if start.starts_with('b') => return None,
        (true, false) => format!("{inside}x"),
    };
    Some(format!("{start}{changed}{end}"))
}

/// The letters alone: digits may count, and ranges have an order.
fn pattern(literal: &str, dice: &mut Dice) -> Option<String> {
    let close = literal.rfind('/').filter(|close| *close > 0)?;
    let (inside, flags) = (&literal[1..close], &literal[close..]);
    let mut letters = letters(inside, true);
    letters.retain(|at| !inside.as_bytes()[*at].is_ascii_digit());
    let is_plain = !inside.contains(['[', '|']) && !inside.contains("(?");
    let is_long = letters.len() >= FEWEST_LETTERS;
    (is_plain && is_long).then(|| format!("/{}{flags}", turned(inside, &letters, dice)))
}

/// The places of letters and digits outside of escapes.
fn letters(text: &str, has_escapes: bool) -> Vec<usize> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if c != '\\' || !has_escapes {
            found.extend(c.is_ascii_alphanumeric().then_some(at));
            continue;
        }
        let length = match rest.next() {
            Some((_, 'u')) if rest.peek().is_some_and(|(_, c)| *c == '{') => {
                while rest.next().is_some_and(|(_, c)| c != '}') {}
                0
            }
            Some((_, 'x' | '0'..='7')) => 2,
            Some((_, 'u')) => 4,
            Some((_, 'U')) => 8,
            _ => 0,
        };
        for _ in 0..length {
            rest.next_if(|(_, c)| c.is_ascii_hexdigit());
        }
    }
    found
}

fn turned(text: &str, places: &[usize], dice: &mut Dice) -> String {
    let (by_letter, by_digit) = (1 + dice.below(25) as u8, 1 + dice.below(9) as u8);
    let turn = |c: u8, first: u8, number: u8, by: u8| ((c - first + by) % number + first) as char;
    let one = |(at, c): (usize, char)| match (places.binary_search(&at).is_ok(), c) {
        (true, 'a'..='z') => turn(c as u8, b'a', 26, by_letter),
        (true, 'A'..='Z') => turn(c as u8, b'A', 26, by_letter),
        (true, '0'..='9') => turn(c as u8, b'0', 10, by_digit),
        _ => c,
    };
    text.char_indices().map(one).collect()
}
