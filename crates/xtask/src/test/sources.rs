//! The tests of the package's sources, in `tests/node`.

use std::process::Command;

use anyhow::Result;

use super::vitest;
use crate::report::Report;
use crate::setup::Node;
use crate::tier::Tier;
use crate::{addon, process};

/// Runs the quick tier's tests in the installed Node.js. The full tier also runs all tests in the current one, and leaves
/// some of the former to [`test_native`].
pub(super) fn test(report: &Report, tier: Tier) -> Result<()> {
    let with_addon = tier == Tier::Full && addon::is_possible()?;
    report.check(format!("vitest, Node {}", Node::Installed.version()?), || {
        let mut vitest = vitest(Node::Installed, CONFIG, Tier::Quick)?;
        if tier == Tier::Full {
            leave_out(&mut vitest, &[&IN_CURRENT_NODE]);
        }
        if with_addon {
            leave_out(&mut vitest, &[&AGAIN_WITH_NATIVE]);
        }
        process::run(&mut vitest)
    })?;
    if tier == Tier::Quick {
        return Ok(());
    }
    report.check(format!("vitest, Node {}", Node::Current.version()?), || {
        process::run(&mut vitest(Node::Current, CONFIG, tier)?)
    })
}

/// Runs the full tier's tests that depend on the engine with native code, if this system has an add-on.
pub(super) fn test_native(report: &Report) -> Result<()> {
    if !addon::is_possible()? {
        return Ok(());
    }
    report.check(NATIVE, || {
        let mut vitest = vitest(Node::Installed, CONFIG, Tier::Full)?;
        leave_out(&mut vitest, &[&SAME_WITH_NATIVE, &IN_CURRENT_NODE]);
        process::run(vitest.env("RANDOMX_ENGINE", "native"))
    })
}

/// The step of [`test_native`].
pub(super) const NATIVE: &str = "vitest, native add-on";

const CONFIG: &str = "vite.config.ts";

/// Tests that start one Node.js themselves: the current one.
const IN_CURRENT_NODE: [&str; 1] = ["chain/hostile"];

/// Tests that the full tier's run with the native add-on repeats, so its run without the add-on leaves them out. Both
/// runs use the same Node.js, and the one with the add-on tries at least as many inputs. The engine of these tests is
/// the same in both: they hash with native code, or without the package's instances.
const AGAIN_WITH_NATIVE: [&str; 14] = [
    "chain/find",
    "chain/follow",
    "chain/follow-store",
    "chain/sources",
    "chain/store",
    "monero/block",
    "monero/chain",
    "monero/chain-source",
    "pool",
    "queue",
    "session",
    "shares",
    "slots",
    "sync",
];

/// Tests that the run with the native add-on leaves out, because the run without it has them, in the same Node.js. They
/// name their engines themselves or hash nothing, so the add-on changes nothing in them.
const SAME_WITH_NATIVE: [&str; 31] = [
    "addon",
    "batches",
    "block-ranges",
    "bundles",
    "calibration",
    "chain/answers",
    "chain/client",
    "chain/events",
    "chain/fresh",
    "chain/remote",
    "conformance",
    "datasets",
    "endings",
    "fastest",
    "json",
    "keeper",
    "kept",
    "load",
    "memory",
    "monero-node",
    "monero-ts-errors",
    "monero/exchange",
    "monero/judge",
    "monero/wasm",
    "native",
    "native-loading",
    "published",
    "stream",
    "validate",
    "warm-up",
    "wasm",
];

/// Makes a run leave out tests.
fn leave_out(vitest: &mut Command, lists: &[&[&str]]) {
    let names = lists.iter().copied().flatten();
    vitest.args(names.map(|name| format!("--exclude={}", source_test(name))));
}

/// Returns the path of a test.
fn source_test(name: &str) -> String {
    format!("tests/node/{name}.test.ts")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{AGAIN_WITH_NATIVE, IN_CURRENT_NODE, SAME_WITH_NATIVE, source_test};
    use crate::workspace;

    /// `tests/node/support.ts` lets the run with native code change what these names mean.
    #[test]
    fn what_runs_once_does_not_depend_on_the_run() {
        for (names, dependent) in [
            (&SAME_WITH_NATIVE[..], &["RandomX", "AnyRandomX"][..]),
            (&IN_CURRENT_NODE, &["RandomX", "AnyRandomX"]),
            (&AGAIN_WITH_NATIVE, &["RandomX"]),
        ] {
            // The tests of the native engine give it with each call.
            for name in names.iter().filter(|name| !name.starts_with("native")) {
                let file = workspace::root().join(source_test(name));
                let text =
                    fs::read_to_string(file).unwrap_or_else(|error| panic!("{name}: {error}"));
                for imported in dependent {
                    let found = imported_from_support(&text).contains(imported);
                    assert!(!found, "{name} imports {imported}");
                }
            }
        }
    }

    /// Returns the names that a test takes from `tests/node/support.ts`.
    fn imported_from_support(test: &str) -> Vec<&str> {
        let statements = test.split(';').filter(|statement| statement.ends_with("/support.js\""));
        let lists = statements.filter_map(|statement| {
            let (_, list) = statement.split_once('{')?;
            Some(list.split_once('}')?.0)
        });
        lists
            .flat_map(|list| list.split(','))
            .filter_map(|name| name.split_whitespace().next())
            .collect()
    }

    #[test]
    fn imports_are_found() {
        let test = "import { a } from \"b\";\nimport {\n  RandomX as Any,\n  text,\n} from \"./support.js\";\n";
        assert_eq!(imported_from_support(test), ["RandomX", "text"]);
    }
}
