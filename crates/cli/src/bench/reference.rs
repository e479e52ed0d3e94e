//! The reference implementation as a contestant, in binaries built with the feature `reference`.

#[cfg(not(feature = "reference"))]
mod absent;
#[cfg(feature = "reference")]
mod ffi;
#[cfg(feature = "reference")]
mod linked;
#[cfg(feature = "reference")]
mod primitives;

#[cfg(not(feature = "reference"))]
pub(crate) use absent::Reference;
#[cfg(feature = "reference")]
pub(crate) use linked::Reference;
