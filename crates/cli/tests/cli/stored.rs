//! `randomx follow` with a stored chain that this release refuses in part.

use std::sync::Arc;

use randomx_monero::keccak256;
use randomx_testing::blocks::break_stored;
use serde_json::Value;

use crate::{
    common::fake_node::{FakeChain, serve},
    follow::{BLOCKS, events, follow, honest, of_kind, path},
};

#[test]
fn stored_blocks_that_break_a_rule_are_dropped_and_read_again() {
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let store = path(folder.path());
    follow(&["--node", &node, "--store", store]).code(0);
    break_stored(folder.path(), keccak256);
    let run = follow(&["--node", &node, "--store", store]).code(0);
    let events = events(&run);
    let heights: Vec<&Value> = of_kind(&events, "tip").iter().map(|tip| &tip["height"]).collect();
    assert_eq!(heights, [BLOCKS - 1, BLOCKS]);
    run.stderr(
        "note: --store: block 20 breaks a rule of this release; it and the blocks after it were dropped\n",
    );
}
