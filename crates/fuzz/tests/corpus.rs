//! Every target on its kept corpus, its seeds, and random changes of these.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use randomx_fuzz::mutate::{Random, mutate};
use randomx_fuzz::{TARGETS, Target, corpus};
use randomx_testing::{amount, say};

/// How many times more mutated inputs the full tests try.
const FULL: usize = 20;

/// Runs a target on an input, and shows the input if that panics. Returns whether the code under test accepted it.
fn run(target: &Target, input: &[u8]) -> bool {
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    outcome.unwrap_or_else(|_| panic!("{} fails on {}", target.name, hex::encode(input)))
}

fn replay(name: &str) {
    let target = Target::named(name);
    let mut inputs = corpus::read(&target).expect("a corpus");
    let kept = inputs.len();
    let accepted = inputs.iter().filter(|input| run(&target, input)).count();
    // Seeds that the code under test writes follow a changed format, kept inputs do not.
    assert!(accepted > 0, "{name} refuses every kept input");
    let seeds = (target.seeds)();
    for seed in &seeds {
        assert!(run(&target, seed), "{name} refuses its seed {}", hex::encode(seed));
    }
    inputs.extend(seeds);
    let mut random = Random::new(0x5eed);
    let changed = amount(target.quick, FULL * target.quick);
    for _ in 0..changed {
        run(&target, &mutate(&inputs, target.longest, &mut random));
    }
    let seeds = inputs.len() - kept;
    say(format_args!(
        "{name}: {kept} kept inputs, {accepted} of them accepted, {seeds} seeds, {changed} changed ones"
    ));
}

/// Returns the names of the targets with kept inputs.
fn kept_corpora() -> BTreeSet<String> {
    let file = corpus::file(&TARGETS[0]);
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(file.parent().expect("a folder")).expect("the corpora") {
        let path = entry.expect("a file").path();
        assert_eq!(path.extension(), Some("txt".as_ref()), "{}", path.display());
        let text = fs::read_to_string(&path).expect("a text");
        assert!(text.lines().next().is_some(), "{} is empty", path.display());
        names.insert(path.file_stem().expect("a name").to_str().expect("a text").to_owned());
    }
    names
}

macro_rules! replays {
    ($($(#[$attribute:meta])* $name:ident),* $(,)?) => {
        $(
            #[test]
            $(#[$attribute])*
            fn $name() {
                replay(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_replayed() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$($(#[$attribute])* stringify!($name)),*]);
        }

        /// Also those that are not among the targets of this system.
        #[test]
        fn every_target_has_kept_inputs() {
            assert_eq!(kept_corpora(), BTreeSet::from([$(stringify!($name).to_owned()),*]));
        }
    };
}

replays!(
    blocks,
    miner_transactions,
    varints,
    trees,
    difficulties,
    checkpoints,
    stores,
    evidence,
    chains,
    events,
    histories,
    node_answers,
    relays,
    guard,
    json_lines,
    requests,
    #[cfg(feature = "epochs")]
    audit_tables,
    #[cfg(feature = "epochs")]
    audit_lines,
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    programs,
    #[cfg(feature = "wasmi")]
    wasm_programs,
);
