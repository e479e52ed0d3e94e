//! `randomx verify --checkpoint`.

use std::{fs, sync::Arc};

use crate::common::{
    fake_node::{FakeChain, Reply, honest, serve},
    lines, verify_node,
};
use predicates::prelude::*;
use serde_json::{Value, json};

#[test]
fn an_incomplete_checkpoint_is_completed_by_the_node_if_allowed() {
    let chain = Arc::new(FakeChain::new(20));
    let node = serve(Arc::clone(&chain), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chain.json");
    let path = file.to_str().expect("a path in UTF-8");
    let write = |id: &str| {
        let text = json!({ "height": 10, "id": id, "recent": [], "seeds": [] }).to_string();
        fs::write(&file, text).expect("a file");
    };
    write(&chain.id(10));
    let refused = "error: checkpoint: incomplete: recent blocks or seeds are missing that the rules \
                   need\n";
    verify_node(&node, &["--checkpoint", path]).code(2).stdout("").stderr(refused);
    let run = verify_node(&node, &["--checkpoint", path, "--allow-incomplete"]).code(0);
    let verdicts = lines(&run);
    assert_eq!(verdicts.len(), 10);
    assert!(verdicts.iter().all(|verdict| verdict["complete_start"] == false));
    assert_eq!([&verdicts[0]["work"], &verdicts[9]["work"]], [&json!("1"), &json!("10")]);
    verify_node(&node, &["--checkpoint", path]).code(0).stdout("");
    write(&"11".repeat(32));
    let other = format!(
        "error: the node has another block at the checkpoint's height 10: {}; if a reorganisation \
         replaced the checkpoint's block, use an older checkpoint, or remove the file and begin with --from\n",
        chain.id(10)
    );
    verify_node(&node, &["--checkpoint", path, "--allow-incomplete"]).code(2).stderr(other);
}

#[test]
fn a_checkpoint_moves_only_where_everything_was_valid() {
    let chain = Arc::new(FakeChain::new(200));
    let node = serve(chain, |method, params, mut result| {
        if method == "get_block" && params["height"] == 100 {
            result["block_header"]["wide_difficulty"] = json!("0x2");
        }
        Reply::Result(result)
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chain.json");
    let path = file.to_str().expect("a path in UTF-8");
    let run = verify_node(&node, &["--from", "1", "--checkpoint", path]).code(1);
    let verdicts = lines(&run);
    assert_eq!(verdicts.len(), 100);
    assert_eq!((&verdicts[99]["valid"], &verdicts[99]["work"]), (&json!(false), &json!("99")));
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(&file).expect("a file")).expect("JSON");
    assert_eq!(kept["height"], 64, "the last part without a lie");
}

#[test]
fn malformed_checkpoints_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chain.json");
    let path = file.to_str().expect("a path in UTF-8");
    let id = "11".repeat(32);
    for (text, sentence) in [
        ("", "not a checkpoint: EOF"),
        ("{}", "not a checkpoint: missing field `height`"),
        (
            &format!(r#"{{"height":5,"id":"{id}","recent":[],"seeds":[],"more":1}}"#),
            "unknown field",
        ),
        (
            &format!(
                r#"{{"height":5,"id":"{id}","recent":[],"seeds":[{{"height":7,"id":"{id}"}}]}}"#
            ),
            "seeds",
        ),
        (
            &format!(
                r#"{{"height":5,"id":"{id}","recent":[{{"timestamp":1,"difficulty":"-1"}}],"seeds":[]}}"#
            ),
            "128 bits",
        ),
        (&" ".repeat((1 << 20) + 1), "expected at most 1048576 bytes"),
    ] {
        fs::write(&file, text).expect("a file");
        let run = verify_node("http://127.0.0.1:1", &["--checkpoint", path]).code(2).stdout("");
        run.stderr(predicate::str::contains(sentence));
        assert_eq!(fs::read_to_string(&file).expect("a file"), *text);
    }
}

#[test]
fn a_node_of_another_chain_is_refused_even_if_it_has_nothing_new() {
    let serve = |chain| serve(Arc::new(chain), honest);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chain.json");
    let path = file.to_str().expect("a path in UTF-8");
    verify_node(&serve(FakeChain::new(20)), &["--from", "1", "--checkpoint", path]).code(0);
    let kept = fs::read(&file).expect("a checkpoint");
    let other = FakeChain::forked(10, 20);
    let sentence = format!(
        "error: the node has another block at the checkpoint's height 20: {}; ",
        other.id(20)
    );
    let other = serve(other);
    for arguments in [&[][..], &["--to", "15"]] {
        let run = verify_node(&other, &[&["--checkpoint", path], arguments].concat());
        run.code(2).stdout("").stderr(predicate::str::starts_with(sentence.as_str()));
    }
    // A node that is still reading the chain cannot show the block.
    verify_node(&serve(FakeChain::new(15)), &["--checkpoint", path]).code(0).stdout("");
    assert_eq!(fs::read(&file).expect("the checkpoint"), kept);
}
