//! The priority of threads.

use napi_derive::napi;

/// Makes this thread wait for others where processors are scarce. It cannot be undone. Threads that this
/// one starts do the same.
#[napi]
pub fn give_way() {
    // On Linux this is the priority of the thread, not of the process. A system that refuses it loses
    // nothing but the order.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 10);
}
