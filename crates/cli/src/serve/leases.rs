//! The dataset of fast mode, which several clients share.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use randomx::{Dataset, KeyMemory};
use tokio::time;

use super::{
    failure::{Code, Failure},
    lock,
    work::{Client, PATIENCE},
};

/// How long an unused dataset is kept. It takes longer to compute. A page that is closed does not free it.
const DATASET_KEPT: Duration = Duration::from_secs(600);

/// How long an unused dataset is kept if another key is requested: longer than a client's pause between
/// two requests.
const LEASED: Duration = Duration::from_secs(45);

/// A dataset that its clients left behind is freed before a request for another key gives up.
const _: () = assert!(LEASED.as_secs() < PATIENCE.as_secs());

/// The most leases of a dataset. A new one ends the oldest.
const LEASES: usize = 64;

/// The interval at which waiting requests check the state of fast mode.
const STEP: Duration = Duration::from_millis(10);

/// The longest wait for a dataset to be unused: threads that hash with it finish their batch first.
const FREEING: Duration = Duration::from_secs(20);

/// At most one dataset of 2080 MiB, and a lease for each client that needs it.
#[derive(Default)]
pub(crate) struct Leases(Mutex<Fast>);

/// The state of fast mode.
#[derive(Default)]
enum Fast {
    #[default]
    Off,
    Starting(Arc<Starting>),
    Ready {
        ready: Ready,
        /// The names of leases, the newest first. The end of the last one stops the work with `ready`.
        leases: VecDeque<String>,
        used: Instant,
    },
}

/// A dataset in progress.
pub(super) struct Starting {
    pub(super) key: Vec<u8>,
    items: AtomicUsize,
}

/// A computed dataset. `stopped` ends the work that uses it.
struct Ready {
    key: Vec<u8>,
    dataset: Arc<Dataset>,
    stopped: Arc<AtomicBool>,
}

/// A dataset to hash with. It counts as used until this is dropped, which should be after the VMs.
pub(crate) struct InUse<'a> {
    leases: &'a Leases,
    dataset: Arc<Dataset>,
    stopped: Arc<AtomicBool>,
}

/// The state of fast mode as `/api/info` shows it: with the key in hex, and the part of the dataset
/// that is computed.
pub(crate) struct FastInfo {
    pub(crate) state: &'static str,
    pub(crate) key: Option<String>,
    pub(crate) progress: Option<f64>,
}

impl Leases {
    /// Returns the dataset of a key, if it is ready.
    pub(crate) fn dataset(&self, key: &[u8]) -> Option<InUse<'_>> {
        match &*lock(&self.0) {
            Fast::Ready { ready, .. } if ready.is_of(key) => Some(InUse {
                leases: self,
                dataset: Arc::clone(&ready.dataset),
                stopped: Arc::clone(&ready.stopped),
            }),
            _ => None,
        }
    }

    /// Returns a new lease of the dataset of a key, if it is ready.
    fn join(&self, key: &[u8]) -> Option<String> {
        match &mut *lock(&self.0) {
            Fast::Ready { ready, leases, used } if ready.is_of(key) => {
                *used = Instant::now();
                let lease = new_lease();
                leases.truncate(LEASES - 1);
                leases.push_front(lease.clone());
                Some(lease)
            }
            _ => None,
        }
    }

    /// Waits until the dataset of a key is ready, and returns a new lease of it.
    pub(super) async fn join_when_ready(&self, key: &[u8]) -> String {
        loop {
            if let Some(lease) = self.join(key) {
                return lease;
            }
            time::sleep(STEP).await;
        }
    }

    /// Returns a new lease if the dataset of a key is ready. Otherwise frees an unused dataset of another
    /// key, and returns nothing. Waits up to a minute while other clients use that one, then fails with
    /// [`Code::Busy`].
    pub(super) fn join_or_free(
        &self,
        key: &[u8],
        client: &Client,
    ) -> Result<Option<String>, Failure> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(lease) = self.join(key) {
                return Ok(Some(lease));
            }
            let now = Instant::now();
            if self.free(now, LEASED) {
                return Ok(None);
            }
            client.check()?;
            if now > end {
                let message = "key: other clients use the dataset of another key; try again later";
                return Err(Failure::new(Code::Busy, message));
            }
            thread::sleep(STEP);
        }
    }

    /// Shows a dataset of a key in progress.
    pub(super) fn begin(&self, key: &[u8]) -> Arc<Starting> {
        let starting = Arc::new(Starting { key: key.to_vec(), items: AtomicUsize::new(0) });
        *lock(&self.0) = Fast::Starting(Arc::clone(&starting));
        starting
    }

    /// Keeps the computed dataset, and returns its first lease.
    pub(super) fn end(
        &self,
        starting: &Starting,
        computed: Result<Dataset, Failure>,
    ) -> Result<String, Failure> {
        let (next, outcome) = match computed {
            Ok(dataset) => {
                let dataset = Arc::new(dataset);
                let ready = Ready { key: starting.key.clone(), dataset, stopped: Arc::default() };
                let lease = new_lease();
                let leases = VecDeque::from([lease.clone()]);
                (Fast::Ready { ready, leases, used: Instant::now() }, Ok(lease))
            }
            Err(failure) => (Fast::Off, Err(failure)),
        };
        *lock(&self.0) = next;
        outcome
    }

    /// Ends a lease. The last one stops the work with its dataset, and waits until the memory is free.
    pub(crate) fn release(&self, lease: &str) -> Result<(), Failure> {
        match &mut *lock(&self.0) {
            Fast::Ready { ready, leases, .. } if leases.iter().any(|other| other == lease) => {
                leases.retain(|other| other != lease);
                if !leases.is_empty() {
                    return Ok(());
                }
                ready.stopped.store(true, Ordering::Relaxed);
            }
            _ => return Ok(()),
        }
        let end = Instant::now() + FREEING;
        while !self.free(Instant::now(), DATASET_KEPT) {
            if Instant::now() > end {
                let message =
                    "the dataset is still in use; it is freed when the running hashes end";
                return Err(Failure::new(Code::Unfinished, message));
            }
            thread::sleep(STEP);
        }
        Ok(())
    }

    /// Returns the state of fast mode.
    pub(crate) fn info(&self) -> FastInfo {
        match &*lock(&self.0) {
            Fast::Off => FastInfo { state: "off", key: None, progress: None },
            Fast::Starting(starting) => FastInfo {
                state: "starting",
                key: Some(hex::encode(&starting.key)),
                progress: Some(starting.part()),
            },
            Fast::Ready { ready, .. } => {
                FastInfo { state: "ready", key: Some(hex::encode(&ready.key)), progress: None }
            }
        }
    }

    /// Frees a dataset that nobody has used for a while.
    pub(super) fn drop_unused(&self) {
        self.free(Instant::now(), DATASET_KEPT);
    }

    /// Frees a dataset that was stopped, or that nobody has used for the time `kept`, unless somebody
    /// hashes with it. Returns false if a dataset stays that is ready.
    fn free(&self, now: Instant, kept: Duration) -> bool {
        let mut fast = lock(&self.0);
        if let Fast::Ready { ready, used, .. } = &*fast {
            // Those who hash hold it too.
            let is_in_use = Arc::strong_count(&ready.dataset) > 1;
            let is_kept = !ready.stopped.load(Ordering::Relaxed)
                && now.saturating_duration_since(*used) <= kept;
            if is_in_use || is_kept {
                return false;
            }
            *fast = Fast::Off;
        }
        true
    }
}

impl Starting {
    /// Stores how many items are computed.
    pub(super) fn set(&self, computed: usize) {
        self.items.store(computed, Ordering::Relaxed);
    }

    /// Returns the computed part, 0 to 1.
    pub(super) fn part(&self) -> f64 {
        self.items.load(Ordering::Relaxed) as f64 / Dataset::ITEMS as f64
    }
}

impl Ready {
    /// Whether it is the dataset of a key, and may be used.
    fn is_of(&self, key: &[u8]) -> bool {
        self.key == key && !self.stopped.load(Ordering::Relaxed)
    }
}

impl InUse<'_> {
    pub(crate) fn memory(&self) -> KeyMemory {
        Arc::clone(&self.dataset).into()
    }

    /// Whether the last lease has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        // A dataset in use is neither freed nor replaced, so this is still the one.
        if let Fast::Ready { used, .. } = &mut *lock(&self.leases.0) {
            *used = Instant::now();
        }
    }
}

/// Returns a random name: a client may still hold a lease of a server that ran before.
fn new_lease() -> String {
    format!("{:016x}", RandomState::new().hash_one(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dataset of the key 1 with one lease. The dataset is never written, so the system gives
    /// it no memory.
    fn leases(used: Instant) -> Leases {
        let dataset = Arc::new(Dataset::zeroed().expect("2080 MiB"));
        let ready = Ready { key: vec![1], dataset, stopped: Arc::default() };
        let leases = VecDeque::from(["first".to_owned()]);
        Leases(Mutex::new(Fast::Ready { ready, leases, used }))
    }

    #[test]
    fn a_dataset_is_freed_when_nobody_has_used_it_for_a_while() {
        for kept in [LEASED, DATASET_KEPT] {
            let begin = Instant::now();
            let leases = leases(begin);
            assert!(!leases.free(begin + kept, kept), "nobody has hashed with it yet");
            let hashing = leases.dataset(&[1]);
            let end = Instant::now();
            drop(hashing);
            assert!(!leases.free(end + kept, kept), "it was used until then");
            let hashing = leases.dataset(&[1]);
            assert!(!leases.free(end + 3 * kept, kept), "somebody hashes with it");
            drop(hashing);
            assert_eq!(leases.info().state, "ready");
            assert!(leases.free(Instant::now() + kept + Duration::from_secs(1), kept));
            assert_eq!(leases.info().state, "off");
        }
    }

    #[test]
    fn a_dataset_is_freed_with_its_last_lease() {
        let leases = leases(Instant::now());
        assert_eq!(leases.join(&[2]), None);
        let second = leases.join(&[1]).expect("a lease");
        for lease in ["unknown", "first", "first"] {
            assert_eq!(leases.release(lease), Ok(()));
            assert_eq!(leases.info().state, "ready", "{lease}");
        }
        assert_eq!(leases.release(&second), Ok(()));
        assert_eq!(leases.info().state, "off");
    }

    #[test]
    fn leases_are_bounded() {
        let leases = leases(Instant::now());
        let names: Vec<_> = (0..LEASES).filter_map(|_| leases.join(&[1])).collect();
        assert_eq!(names.len(), LEASES);
        for lease in &names {
            assert_eq!(leases.info().state, "ready");
            assert_eq!(leases.release(lease), Ok(()));
        }
        assert_eq!(leases.info().state, "off");
    }
}
