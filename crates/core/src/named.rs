//! Names for the variants of enums.

/// Gives each variant its name: adds `ALL` in this order, `name`, and
/// `from_name`.
#[macro_export]
macro_rules! named {
    ($type:ident, $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
