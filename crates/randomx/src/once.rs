//! Values that are computed once in a process, without a thread that waits for another.

#[cfg(any(target_arch = "x86_64", test))]
use std::convert::Infallible;
use std::sync::OnceLock;

/// Returns the value of `cell`, and computes it if there is none. Threads may compute it at the same time; the first value
/// stays.
///
/// [`OnceLock::get_or_init`] would let the others wait. A child process, forked meanwhile, would wait forever: it has only
/// the thread that forked.
#[cfg(any(target_arch = "x86_64", test))]
pub(crate) fn once<T>(cell: &OnceLock<T>, compute: impl FnOnce() -> T) -> &T {
    let Ok(value) = try_once(cell, || Ok::<_, Infallible>(compute()));
    value
}

/// As `once`. After a failure, the next call computes.
pub(crate) fn try_once<T, E>(
    cell: &OnceLock<T>,
    compute: impl FnOnce() -> Result<T, E>,
) -> Result<&T, E> {
    match cell.get() {
        Some(value) => Ok(value),
        None => {
            let value = compute()?;
            Ok(cell.get_or_init(|| value))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn threads_compute_at_once_and_the_first_value_stays() {
        let (cell, both) = (OnceLock::new(), Barrier::new(2));
        let compute = |value| {
            // Passes only when both threads compute.
            *once(&cell, || {
                both.wait();
                value
            })
        };
        let values = thread::scope(|scope| {
            let other = scope.spawn(|| compute(2));
            [compute(1), other.join().expect("a value")]
        });
        assert_eq!(values[0], values[1]);
        assert_eq!(*once(&cell, || 3), values[0]);
    }

    #[test]
    fn what_failed_is_computed_again() {
        let cell = OnceLock::new();
        assert_eq!(try_once(&cell, || Err("refused")), Err("refused"));
        assert_eq!(try_once(&cell, || Ok::<_, &str>(4)), Ok(&4));
        assert_eq!(try_once(&cell, || Err("refused")), Ok(&4));
    }
}
