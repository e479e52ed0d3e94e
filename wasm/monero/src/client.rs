//! The light client's state machine, which a worker drives.

use js_sys::{Array, Error, Float64Array, Reflect, Uint8Array};
use randomx_monero::client::{
    Client, Config, Event, JobId, RequestId, Start, StartError, StoreError,
};
use randomx_monero::{Anchor, Hash, Transaction};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument::{self, InvalidArgument};
use crate::chain_argument;
use crate::report::{self, PlainAction, PlainTip};

/// The most blocks that are accepted together. Some seconds of hashing, after which there is news.
const BATCH: usize = 256;

/// The bytes of a difficulty in an answer.
const DIFFICULTY_BYTES: usize = 16;

/// The settings of a client. One of its methods makes the client.
#[wasm_bindgen]
pub struct ClientConfig(Config);

#[wasm_bindgen]
impl ClientConfig {
    /// Checks settings. `secret` has 32 random bytes.
    ///
    /// # Errors
    ///
    /// If a setting is invalid.
    #[wasm_bindgen(constructor)]
    pub fn new(
        network: &str,
        fixed_difficulty: Option<String>,
        sample: f64,
        deep: f64,
        poll: f64,
        secret: &Uint8Array,
    ) -> Result<ClientConfig, InvalidArgument> {
        let network = argument::network("network", network)?;
        let fixed =
            fixed_difficulty.as_deref().map(chain_argument::fixed_difficulty).transpose()?;
        Ok(ClientConfig(Config {
            fixed_difficulty: fixed,
            sample: argument::whole("sample", sample)?,
            deep: argument::whole("deep", deep)?,
            poll: argument::whole("poll", poll)?,
            batch: BATCH,
            ..Config::new(network, argument::hash("secret", secret)?)
        }))
    }

    /// Begins at the network's anchors.
    ///
    /// # Errors
    ///
    /// If the network's anchors are refused.
    #[wasm_bindgen(js_name = fromAnchors)]
    pub fn from_anchors(self) -> Result<ChainClient, InvalidArgument> {
        self.begin(Start::Anchors)
    }

    /// Begins at two anchors, each given as its height, id and work.
    ///
    /// # Errors
    ///
    /// If they are no anchors, or too close.
    pub fn between(
        self,
        heights: &Float64Array,
        ids: &Array,
        works: &Array,
    ) -> Result<ChainClient, InvalidArgument> {
        let anchor = |index: u32| {
            let work = works.get(index).as_string().unwrap_or_default();
            Ok(Anchor {
                height: argument::whole("anchor.height", heights.get_index(index))?,
                id: argument::hash("anchor.id", &Uint8Array::new(&ids.get(index)))?,
                work: chain_argument::work("anchor.work", &work)?,
            })
        };
        self.begin(Start::Between(anchor(0)?, anchor(1)?))
    }

    /// Begins at a checkpoint, given in its parts.
    ///
    /// # Errors
    ///
    /// If the parts form no checkpoint, or one that is incomplete or implausible.
    #[allow(clippy::too_many_arguments, reason = "JavaScript has no cheaper way to pass a struct")]
    #[wasm_bindgen(js_name = atCheckpoint)]
    pub fn at_checkpoint(
        self,
        height: f64,
        id: &Uint8Array,
        work: &str,
        timestamps: &Float64Array,
        difficulties: &Array,
        seed_heights: &Float64Array,
        seed_ids: &Array,
    ) -> Result<ChainClient, InvalidArgument> {
        let recent = (timestamps, difficulties);
        let seeds = (seed_heights, seed_ids);
        let checkpoint = chain_argument::checkpoint(height, id, work, recent, seeds)?;
        self.begin(Start::Checkpoint(checkpoint))
    }

    fn begin(self, start: Start) -> Result<ChainClient, InvalidArgument> {
        let client = Client::new(self.0, start);
        client.map(ChainClient).map_err(|error| InvalidArgument::new("anchor", error))
    }

    /// Continues with a stored state.
    ///
    /// # Errors
    ///
    /// If the state is damaged, or that of another chain or of a newer release.
    pub fn restore(self, state: &Uint8Array) -> Result<ChainClient, RefusedState> {
        Client::new(self.0, Start::Stored(state.to_vec())).map(ChainClient).map_err(RefusedState)
    }
}

/// The reason why a stored state is refused. Its code is `foreign-state` for that of another chain or of a newer
/// release, and `damaged-state` otherwise.
pub struct RefusedState(StartError);

impl From<RefusedState> for JsValue {
    fn from(RefusedState(problem): RefusedState) -> Self {
        let error = Error::new(&problem.to_string());
        let is_foreign = matches!(
            problem,
            StartError::Store(
                StoreError::ForeignNetwork { .. }
                    | StoreError::ForeignDifficulty { .. }
                    | StoreError::UpdateNeeded { .. }
            )
        );
        let code = if is_foreign { "foreign-state" } else { "damaged-state" };
        // A fresh Error is an extensible object: the property is always set.
        let _ = Reflect::set(&error, &"code".into(), &code.into());
        error.into()
    }
}

/// A light client. Events go in, and `nextAction` returns what to do. Requests and jobs are numbers;
/// unknown ones are ignored. Times are in seconds since 1970.
#[wasm_bindgen]
pub struct ChainClient(Client);

#[wasm_bindgen]
impl ChainClient {
    /// Adds a source. Returns `false` if there are too many.
    #[wasm_bindgen(js_name = addSource)]
    pub fn add_source(&mut self) -> bool {
        self.0.add_source().is_some()
    }

    /// Time has passed.
    pub fn tick(&mut self, now: f64) {
        self.handle(Event::Tick, now);
    }

    /// A source answered with its newest block.
    ///
    /// # Errors
    ///
    /// If the height or the id has another form.
    #[wasm_bindgen(js_name = onTip)]
    pub fn on_tip(
        &mut self,
        request: f64,
        height: f64,
        id: &Uint8Array,
        now: f64,
    ) -> Result<(), InvalidArgument> {
        let (height, id) = (argument::whole("height", height)?, argument::hash("id", id)?);
        self.handle(Event::Tip { request: request_id(request), height, id }, now);
        Ok(())
    }

    /// A source answered with hashing blobs, each after a byte with its length.
    #[wasm_bindgen(js_name = onHeaders)]
    pub fn on_headers(&mut self, request: f64, records: &[u8], now: f64) {
        let request = request_id(request);
        self.handle(
            match split(records) {
                Some(blobs) => Event::Headers { request, blobs },
                None => Event::Failed { request },
            },
            now,
        );
    }

    /// A source answered with difficulties of 16 bytes, the lowest first.
    #[wasm_bindgen(js_name = onDifficulties)]
    pub fn on_difficulties(&mut self, request: f64, records: &[u8], now: f64) {
        let request = request_id(request);
        let (numbers, rest) = records.as_chunks::<DIFFICULTY_BYTES>();
        let difficulties = numbers.iter().map(|bytes| u128::from_le_bytes(*bytes)).collect();
        self.handle(
            if rest.is_empty() {
                Event::Difficulties { request, difficulties }
            } else {
                Event::Failed { request }
            },
            now,
        );
    }

    /// A source gave no usable answer.
    #[wasm_bindgen(js_name = onFailure)]
    pub fn on_failure(&mut self, request: f64, now: f64) {
        self.handle(Event::Failed { request: request_id(request) }, now);
    }

    /// A hash was computed.
    ///
    /// # Errors
    ///
    /// If it does not have 32 bytes.
    #[wasm_bindgen(js_name = onHash)]
    pub fn on_hash(
        &mut self,
        job: f64,
        hash: &Uint8Array,
        now: f64,
    ) -> Result<(), InvalidArgument> {
        let hash = argument::hash("hash", hash)?;
        self.handle(Event::Hashed { job: JobId::from_number(job as u64), hash }, now);
        Ok(())
    }

    /// A hash could not be computed.
    #[wasm_bindgen(js_name = onHashFailure)]
    pub fn on_hash_failure(&mut self, job: f64, now: f64) {
        self.handle(Event::HashFailed { job: JobId::from_number(job as u64) }, now);
    }

    /// Returns the next thing to do, or `null`.
    #[wasm_bindgen(js_name = nextAction)]
    pub fn next_action(&mut self) -> PlainAction {
        report::action(self.0.next_action())
    }

    /// Returns the newest trusted block, or `null` before a first start has reached its anchor.
    pub fn tip(&self) -> PlainTip {
        report::tip(self.0.tip().as_ref())
    }

    /// Returns the id of the trusted block at a height, if it is kept.
    #[wasm_bindgen(js_name = blockId)]
    pub fn block_id(&self, height: f64) -> Option<Uint8Array> {
        let id: Option<Hash> = self.0.block_id(height as u64);
        id.map(|id| Uint8Array::from(id.as_slice()))
    }

    /// Returns the trusted blocks from `first` to `last` that are kept, the newest first.
    pub fn headers(&self, first: f64, last: f64) -> Array {
        let wanted = first as u64..=last as u64;
        let kept = self.0.kept().filter(|block| wanted.contains(&block.height));
        kept.filter_map(|block| report::header(&block)).collect()
    }

    /// Returns by how many seconds the next block of a source, given by its place in the list, is ahead
    /// of the clock, if that is why the client does not take it.
    pub fn early(&self, source: usize) -> Option<f64> {
        let (id, _) = self.0.sources().nth(source)?;
        self.0.early(id).map(|seconds| seconds as f64)
    }

    /// Whether a source's chain was read, and there is nothing to do before the sources' chains change.
    #[wasm_bindgen(js_name = isSettled)]
    pub fn is_settled(&self) -> bool {
        self.0.is_settled() && self.0.sources().any(|(source, _)| self.0.has_read(source))
    }

    fn handle(&mut self, event: Event, now: f64) {
        self.0.handle(event, now as u64);
    }
}

/// Returns the id of a transaction, or `undefined` if it cannot be parsed, or lacks what pruning leaves
/// out.
///
/// # Errors
///
/// If the transaction is longer than 1 MiB.
#[wasm_bindgen(js_name = transactionId)]
pub fn transaction_id(transaction: &Uint8Array) -> Result<Option<Uint8Array>, InvalidArgument> {
    let bytes = argument::bytes("transaction", transaction)?;
    let parsed = Transaction::parse(&bytes).ok().filter(|parsed| !parsed.is_pruned());
    Ok(parsed.map(|parsed| Uint8Array::from(parsed.hash().as_slice())))
}

fn request_id(number: f64) -> RequestId {
    RequestId::from_number(number as u64)
}

/// Splits blobs. A byte with its length is before each.
fn split(mut records: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut blobs = Vec::new();
    while let Some((&length, rest)) = records.split_first() {
        let (blob, rest) = rest.split_at_checked(usize::from(length))?;
        blobs.push(blob.to_vec());
        records = rest;
    }
    Some(blobs)
}
