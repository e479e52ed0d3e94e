//! The priority of threads.

use napi_derive::napi;

/// The nice value of a thread that gives way.
#[cfg(target_os = "linux")]
pub const LOW: i32 = 10;

/// Makes this thread wait for others where processors are scarce. It cannot be undone. On Linux, threads that this one
/// starts do the same. Elsewhere they begin with the usual priority.
#[napi(catch_unwind)]
pub fn give_way() {
    lower();
}

// A system that refuses the lower priority loses nothing but the order.

#[cfg(target_os = "linux")]
fn lower() {
    use rustix::process::{getpriority_process, setpriority_process};

    // On Linux the nice value is that of the thread, not of the process.
    if let Some(nice) = getpriority_process(None).ok().and_then(lowered) {
        let _ = setpriority_process(None, nice);
    }
}

/// Returns the nice value that replaces `current`, or `None` if that is as large already: a user may have started the
/// whole process with a low priority.
#[cfg(target_os = "linux")]
#[must_use]
pub fn lowered(current: i32) -> Option<i32> {
    (current < LOW).then_some(LOW)
}

#[cfg(windows)]
#[expect(unsafe_code, reason = "calls the system")]
fn lower() {
    use windows_sys::Win32::System::Threading::{
        GetCurrentThread, SetThreadPriority, THREAD_PRIORITY_LOWEST,
    };

    // The background mode would lower the priority of the memory too, but others hash with what this thread fills.
    // SAFETY: the handle is that of this thread, and always valid.
    unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_LOWEST) };
}

#[cfg(target_os = "macos")]
#[expect(unsafe_code, reason = "calls the system")]
fn lower() {
    // A thread of the next lower class runs on efficiency cores only.
    // SAFETY: the call changes nothing but how the system schedules this thread.
    unsafe { libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_UTILITY, 0) };
}

#[cfg(not(any(target_os = "linux", windows, target_os = "macos")))]
fn lower() {}
