use rand_core::Rng;

use super::permutation::SHUFFLE;
use super::*;

/// The first outputs of the public implementation.
fn golden() -> Vec<u64> {
    let lines = include_str!("golden.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| u64::from_str_radix(line, 16).expect("hexadecimal words")).collect()
}

fn generators() -> Vec<Randen> {
    Cpu::detect().levels().into_iter().map(Randen::new).collect()
}

#[test]
fn outputs_match_the_public_implementation() {
    assert_eq!(golden().len(), 127);
    for mut generator in generators() {
        for (index, expected) in golden().into_iter().enumerate() {
            let implementation = generator.implementation;
            assert_eq!(generator.next_u64(), expected, "word {index}, {implementation:?}");
        }
    }
}

/// Abseil's test shows the inner words after one permutation. Its keys have their halves swapped, so its
/// words are swapped too.
#[test]
fn inner_words_match_abseil() {
    for mut generator in generators() {
        generator.generate();
        let inner = [0x044e_2b9b_9d53_33c6, 0x6c65_3409_0ee6_d3ee];
        assert_eq!(generator.state.0[0], inner, "{:?}", generator.implementation);
    }
}

#[test]
fn implementations_agree_from_any_state() {
    let mut seeds = Randen::default();
    for _ in 0..300 {
        let mut seed = Seed::default();
        seeds.fill_bytes(seed.as_mut());
        let outputs = |mut generator: Randen| {
            generator.absorb(&seed);
            let mut output = [0; 1000];
            generator.fill_bytes(&mut output);
            (output, generator.state.0)
        };
        let mut all = generators().into_iter().map(outputs);
        let first = all.next().expect("the portable implementation");
        assert!(all.all(|other| other == first));
    }
}

#[test]
fn discarding_equals_generating() {
    for used in 0..62 {
        for discarded in 0..100 {
            let mut stepped = Randen::default();
            (0..used).for_each(|_| _ = stepped.next_u64());
            let mut jumped = stepped.clone();
            (0..discarded).for_each(|_| _ = stepped.next_u64());
            jumped.discard(discarded);
            for _ in 0..62 {
                assert_eq!(stepped.next_u64(), jumped.next_u64(), "{used}, {discarded}");
            }
        }
    }
}

/// Absorbing changes all following outputs, however many words of the state were output before.
#[test]
fn seeds_change_all_outputs() {
    let mut seeded = Randen::from_seed(Seed([1; RATE]));
    let mut other = Randen::from_seed(Seed([2; RATE]));
    let mut unseeded = Randen::default();
    for _ in 0..1000 {
        let words = [seeded.next_u64(), other.next_u64(), unseeded.next_u64()];
        assert!(words[0] != words[1] && words[1] != words[2] && words[2] != words[0]);
    }
    let mut absorbed = seeded.clone();
    absorbed.absorb(&Seed::default());
    assert_ne!(absorbed.next_u64(), seeded.next_u64());
}

/// A whole state can be permuted backwards only with the inner words from before, which were XORed into it.
#[test]
fn past_states_cannot_be_computed() {
    let mut generator = Randen::from_seed(Seed([5; RATE]));
    let before = generator.state.clone();
    generator.generate();
    let mut inverted = generator.state.clone();
    invert(&mut inverted);
    assert_ne!(inverted.0, before.0);
    // With the inner words it works, so the inversion is correct.
    let mut revealed = generator.state.clone();
    (0..2).for_each(|word| revealed.0[0][word] ^= before.0[0][word]);
    invert(&mut revealed);
    assert_eq!(revealed.0, before.0);
}

/// Inverts the permutation: a round's function reads a branch that the round does not change.
fn invert(state: &mut State) {
    for keys in keys::PI.in_order.as_chunks::<8>().0.iter().rev() {
        let shuffled = state.0;
        for (branch, from) in shuffled.into_iter().zip(SHUFFLE) {
            state.0[from] = branch;
        }
        for (pair, key) in state.0.as_chunks_mut::<2>().0.iter_mut().zip(keys) {
            let once = portable::encrypt(pair[0], *key);
            pair[1] = portable::encrypt(once, pair[1]);
        }
    }
}
