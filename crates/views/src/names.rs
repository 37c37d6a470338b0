//! Enums whose variants have names: in URLs, in the database, in exports.

/// Defines an enum and the name of each variant, with `ALL` variants in order,
/// the `name` of one, and the inverse `from_name`.
macro_rules! named {
    (
        $(#[$($attribute:tt)*])*
        pub enum $Enum:ident {
            $($(#[$($note:tt)*])* $Variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$($attribute)*])*
        pub enum $Enum {
            $($(#[$($note)*])* $Variant,)+
        }

        impl $Enum {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];

            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)+
                }
            }

            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}

pub(crate) use named;
