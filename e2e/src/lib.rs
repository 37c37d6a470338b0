//! Whole-product tests live in `tests/`.
