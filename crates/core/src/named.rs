//! Enums whose variants have names: in URLs, in the database, in exports.

/// [`plain_named!`], for enums that JSON has under the same names and that the
/// API's schema lists.
#[macro_export]
macro_rules! named {
    (
        $(#[$($attribute:tt)*])*
        pub enum $Enum:ident {
            $($(#[$($note:tt)*])* $Variant:ident = $name:tt,)+
        }
    ) => {
        $crate::plain_named! {
            $(#[$($attribute)*])*
            #[derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
            pub enum $Enum {
                $($(#[$($note)*])* #[serde(rename = $name)] $Variant = $name,)+
            }
        }
    };
}

/// Defines an enum and the name of each variant, with `ALL` variants in order,
/// the `name` of one, and the inverse `from_name`.
#[macro_export]
macro_rules! plain_named {
    (
        $(#[$($attribute:tt)*])*
        pub enum $Enum:ident {
            $($(#[$($note:tt)*])* $Variant:ident = $name:tt,)+
        }
    ) => {
        $(#[$($attribute)*])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $Enum {
            $($(#[$($note)*])* $Variant,)+
        }

        impl $Enum {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)+
                }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$Variant),)+
                    _ => None,
                }
            }
        }
    };
}
