//! Disk usage of an installation, by part.

use serde::{Deserialize, Serialize};

/// Disk usage in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DiskUse {
    /// The parts of the data folder.
    pub parts: Vec<DiskPart>,
    /// The images of the tasks; absent when the container engine does not
    /// answer.
    pub images: Option<ImageUse>,
    /// The quota of task images and harness layers; absent for no limit.
    pub image_quota: Option<u64>,
    /// Free space for the data folder.
    pub free_bytes: Option<u64>,
    /// The runs that take most, the largest first, by the files of their own.
    #[serde(default)]
    pub runs: Vec<RunUse>,
    /// The splits, the largest first.
    #[serde(default)]
    pub splits: Vec<SplitUse>,
}

/// The disk space of a run's results, without code, which runs share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunUse {
    pub run_id: String,
    pub model: String,
    pub split: String,
    pub bytes: u64,
}

/// The disk space of a split.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SplitUse {
    pub split: String,
    /// The repositories of its tasks; those of several splits count for each.
    pub task_bytes: u64,
    /// All its runs, as in `RunUse`.
    pub run_bytes: u64,
}

/// A part of the data folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DiskPart {
    pub name: String,
    /// A description of its content.
    pub holds: String,
    pub files: u64,
    /// On the disk; a file with two names counts once.
    pub bytes: u64,
}

/// The images of the tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImageUse {
    /// Images in the container engine.
    pub images: u64,
    /// Images that the container engine lacks: the platform loads them from
    /// their archives on demand, or their tasks need another import.
    pub missing: u64,
    /// Size with every layer counted once.
    pub bytes: u64,
    /// Size as if no images shared a layer.
    pub apart_bytes: u64,
}

/// A task image or a harness layer that was evicted, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evicted {
    /// The digest of an image, or the name of a harness's layer.
    pub name: String,
    pub is_layer: bool,
    /// Its last use, RFC 3339.
    pub used_at: String,
    /// The disk space that it frees.
    pub bytes: u64,
}

/// Which task images and harness layers would be evicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictionPlan {
    /// The disk space of all of them, each layer counted once.
    pub cached_bytes: u64,
    /// Those to evict, the longest unused first.
    pub evicted: Vec<Evicted>,
}

impl EvictionPlan {
    pub fn freed(&self) -> u64 {
        self.evicted.iter().map(|evicted| evicted.bytes).sum()
    }
}

const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// Formats a size, such as "3.2 GiB".
pub fn size_shown(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1_023.95 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{value:.1} {}", UNITS[unit]),
    }
}

/// Parses a size such as "50GiB", "1.5 TiB" or "700M" into bytes: a number and
/// a unit, or the first letter of a unit. Units are powers of 1,024.
///
/// # Errors
/// When the text has another form.
pub fn size_read(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size such as `50GiB`");
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(end.ok_or_else(wrong)?);
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let is_unit = |known: &str| {
        let known = known.to_ascii_lowercase();
        let unit = unit.to_ascii_lowercase();
        unit == known || unit == known[..1] || unit == known.replace('i', "")
    };
    let power = UNITS.iter().position(|known| is_unit(known));
    let power = power.ok_or_else(wrong)?;
    let bytes = number * 1_024_f64.powi(i32::try_from(power).unwrap_or(0));
    if (0.0..1e19).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown() {
        let check = |bytes, expect: &str| assert_eq!(size_shown(bytes), expect);
        check(0, "0 B");
        check(1_023, "1023 B");
        check(1_024, "1.0 KiB");
        check((1 << 20) - 1, "1.0 MiB");
        check(3_435_973_837, "3.2 GiB");
        check(u64::MAX, "16777216.0 TiB");
    }

    #[test]
    fn sizes_are_read() {
        let check = |text: &str, expect| assert_eq!(size_read(text).ok(), expect, "{text}");
        check("50GiB", Some(50 << 30));
        check("50 gb", Some(50 << 30));
        check("1.5T", Some(3 << 39));
        check("0B", Some(0));
        check("50", None);
        check("GiB", None);
        check("-1G", None);
        check("1X", None);
        check("infG", None);
        check("", None);
    }
}
