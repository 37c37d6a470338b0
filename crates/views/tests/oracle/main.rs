//! A second implementation of the metrics, written from the paper's formulas
//! only and without regard for speed, compared with the real one. A change of
//! a formula on one side only fails here.

mod book;

mod cases;

mod chance;

mod properties;

mod scores;

mod worked;

mod zrr;
