//! The whole product: the real binary, real containers, a real browser.

mod browser;
mod durability;
mod pages;
mod product;
