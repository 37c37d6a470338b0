//! Counts the images that this process pulled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bollard::models::CreateImageInfo;

/// Since the start of the process.
#[derive(Debug, Default)]
pub struct PullCounter {
    pulls: AtomicU64,
    bytes: AtomicU64,
    millis: AtomicU64,
}

/// A reading of the counter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pulls {
    pub count: u64,
    /// Compressed, as far as the engine told.
    pub bytes: u64,
    pub seconds: f64,
}

impl PullCounter {
    pub(crate) fn count(&self, bytes: u64, took: Duration) {
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.pulls.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.millis.fetch_add(millis, Ordering::Relaxed);
    }

    pub fn read(&self) -> Pulls {
        Pulls {
            count: self.pulls.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            seconds: self.millis.load(Ordering::Relaxed) as f64 / 1e3,
        }
    }
}

/// The bytes of one pull, from the engine's lines of progress: how far each
/// layer came.
#[derive(Debug, Default)]
pub(crate) struct PulledBytes(HashMap<String, u64>);

impl PulledBytes {
    pub fn see(&mut self, line: CreateImageInfo) {
        let downloading = line.status.as_deref() == Some("Downloading");
        if let (true, Some(layer), Some(progress)) = (downloading, line.id, line.progress_detail) {
            let current = progress.current.unwrap_or_default();
            let most = self.0.entry(layer).or_default();
            *most = (*most).max(u64::try_from(current).unwrap_or_default());
        }
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ProgressDetail;

    use super::*;

    #[test]
    fn layers_count_as_far_as_they_came() {
        let mut bytes = PulledBytes::default();
        let lines = [
            ("a", "Downloading", 5),
            ("b", "Downloading", 7),
            ("a", "Downloading", 9),
            ("a", "Extracting", 100),
            ("c", "Already exists", 50),
        ];
        for (layer, status, current) in lines {
            bytes.see(CreateImageInfo {
                id: Some(layer.into()),
                status: Some(status.into()),
                progress_detail: Some(ProgressDetail {
                    current: Some(current),
                    total: None,
                }),
                ..CreateImageInfo::default()
            });
        }
        assert_eq!(bytes.total(), 16);
    }

    #[test]
    fn pulls_add_up() {
        let counter = PullCounter::default();
        counter.count(10, Duration::from_millis(1_500));
        counter.count(5, Duration::from_millis(500));
        let expect = Pulls {
            count: 2,
            bytes: 15,
            seconds: 2.0,
        };
        assert_eq!(counter.read(), expect);
    }
}
