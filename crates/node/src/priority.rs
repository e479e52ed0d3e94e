//! The priority of threads.

use napi_derive::napi;

/// The priority of a thread that gives way, as a number that is larger for lower priorities.
pub const LOW: i32 = 10;

/// Makes this thread wait for others where processors are scarce. It cannot be undone. Threads that this
/// one starts do the same.
#[napi(catch_unwind)]
pub fn give_way() {
    // On Linux this is the priority of the thread, not of the process. A system that refuses it loses
    // nothing but the order.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        if let Some(lower) = getpriority_process(None).ok().and_then(lowered) {
            let _ = setpriority_process(None, lower);
        }
    }
}

/// Returns the priority that replaces `current`, or `None` if that is as low already: a user may have started the whole
/// process with a low one.
#[must_use]
pub fn lowered(current: i32) -> Option<i32> {
    (current < LOW).then_some(LOW)
}
