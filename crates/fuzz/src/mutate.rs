//! Random changes to inputs, for test runs without libFuzzer.

/// Reproducible random numbers (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the generator with a seed, which must not be zero.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit
    }
}

/// Values at which code tends to break.
const EDGES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, 0xfe, b'"', b'{'];

/// Returns one of the inputs with one to eight changes, at most `longest` bytes long.
pub fn mutate(inputs: &[Vec<u8>], longest: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = match inputs.len() {
        0 => Vec::new(),
        count => inputs[random.below(count)].clone(),
    };
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len() + 1);
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.next() as u8),
            2 => drop(bytes.drain(at..(at + random.below(16)).min(bytes.len()))),
            3 => {
                let end = (at + random.below(64)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            4 if !inputs.is_empty() => {
                let other = &inputs[random.below(inputs.len())];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[random.below(other.len() + 1)..]);
            }
            5 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            6 if at < bytes.len() => bytes[at] = EDGES[random.below(EDGES.len())],
            _ if at < bytes.len() => bytes[at] = random.next() as u8,
            _ => bytes.push(random.next() as u8),
        }
    }
    bytes.truncate(longest);
    bytes
}
