//! Sets the shared library's soname.

use std::env;

/// The name that programs contain which are linked with the reference's library, and with this one. Another number would
/// be another interface, so it does not follow the crate's version.
const SONAME: &str = "librandomx.so.0";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
    }
}
