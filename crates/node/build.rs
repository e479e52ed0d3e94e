//! Sets the linker's options for add-ons.

fn main() {
    napi_build::setup();
}
