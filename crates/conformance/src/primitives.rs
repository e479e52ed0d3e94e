//! The suites of single functions: reciprocals, AES, SuperscalarHash programs, commitments.

use randomx::aes::{Aes, AesGenerator1R, AesGenerator4R, aes_hash_1r};
use randomx::blake_generator::BlakeGenerator;
use randomx::superscalar::{self, Function, Lanes, Width};
use randomx::{VmOptions, calculate_commitment, reciprocal};
use serde::Deserialize;

use crate::{Error, Report, array, bytes, parse};

#[derive(Deserialize)]
struct Vectors<T> {
    vectors: Vec<T>,
}

#[derive(Deserialize)]
struct Reciprocal {
    divisor: u32,
    reciprocal: Option<String>,
}

pub(crate) fn reciprocals(text: &str, _: VmOptions, report: &mut Report) -> Result<(), Error> {
    for vector in parse::<Vectors<Reciprocal>>(text)?.vectors {
        let shown = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        report.check(
            || format!("reciprocal of {}", vector.divisor),
            shown(reciprocal(vector.divisor).map(|value| value.to_string())),
            shown(vector.reciprocal),
        );
    }
    Ok(())
}

#[derive(Deserialize)]
struct AesVectors {
    generator_1r: Vec<Stream>,
    generator_4r: Vec<Stream>,
    hash_1r: Vec<Fingerprint>,
}

#[derive(Deserialize)]
struct Stream {
    seed: String,
    output: String,
}

#[derive(Deserialize)]
struct Fingerprint {
    input: String,
    output: String,
}

/// Fills blocks of 64 bytes from a seed.
type FillFrom<'a> = dyn Fn(&[u8; 64], &mut [[u8; 64]]) + 'a;

/// Checks all AES functions.
pub(crate) fn aes(text: &str, options: VmOptions, report: &mut Report) -> Result<(), Error> {
    let vectors: AesVectors = parse(text)?;
    let aes = Aes::new(options.cpu);
    let mut stream = |name: &str, vector: &Stream, fill: &FillFrom<'_>| {
        let mut output = vec![[0; 64]; vector.output.len().div_ceil(128)];
        fill(&array(&vector.seed)?, &mut output);
        let mut actual = hex::encode(output.as_flattened());
        actual.truncate(vector.output.len());
        report.check(|| format!("{name} with {aes:?}"), actual, vector.output.clone());
        Ok::<(), Error>(())
    };
    for vector in &vectors.generator_1r {
        stream("AesGenerator1R", vector, &|seed, output| {
            AesGenerator1R::new(seed, aes).fill(output);
        })?;
    }
    for vector in &vectors.generator_4r {
        stream("AesGenerator4R", vector, &|seed, output| {
            AesGenerator4R::new(seed, aes).fill(output);
        })?;
    }
    for vector in &vectors.hash_1r {
        let input = bytes(&vector.input)?;
        let (blocks, rest) = input.as_chunks();
        if !rest.is_empty() {
            return Err(Error::Malformed("an AesHash1R input is not whole blocks".to_owned()));
        }
        report.check(
            || format!("AesHash1R with {aes:?}"),
            hex::encode(aes_hash_1r(blocks, aes)),
            vector.output.clone(),
        );
    }
    Ok(())
}

#[derive(Deserialize)]
struct SuperscalarKey {
    key_text: String,
    programs: Vec<SuperscalarProgram>,
}

#[derive(Deserialize)]
struct SuperscalarProgram {
    blake2b_256: String,
    instructions: usize,
    address_register: u8,
    result: String,
}

pub(crate) fn superscalar(
    text: &str,
    options: VmOptions,
    report: &mut Report,
) -> Result<(), Error> {
    for vector in parse::<Vectors<SuperscalarKey>>(text)?.vectors {
        let mut random = BlakeGenerator::new(vector.key_text.as_bytes());
        for (index, expected) in vector.programs.into_iter().enumerate() {
            let program = superscalar::generate(&mut random);
            let at = |what: &str| format!("{what} of program {index} of {:?}", vector.key_text);

            let words: Vec<u8> = program
                .instructions
                .iter()
                .flat_map(|instruction| instruction.to_bytes())
                .collect();
            report.check(|| at("length"), program.instructions.len(), expected.instructions);
            report.check(|| at("instructions"), blake2b_256(&words), expected.blake2b_256);
            report.check(
                || at("address register"),
                program.address_register,
                expected.address_register,
            );
            let function = Function::from(&program);
            let width = Width::new(options.cpu);
            let mut registers: Lanes<1> = std::array::from_fn(|register| {
                [(register as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)]
            });
            function.execute(&mut registers, width);
            let result: Vec<u8> =
                registers.iter().flat_map(|[register]| register.to_le_bytes()).collect();
            report.check(
                || at(&format!("result with {width:?}")),
                hex::encode(result),
                expected.result.clone(),
            );
        }
    }
    Ok(())
}

/// Computes Blake2b-256 with the public function for commitments, which is the same.
pub(crate) fn blake2b_256(data: &[u8]) -> String {
    match data.split_last_chunk::<32>() {
        Some((head, tail)) => hex::encode(calculate_commitment(head, tail)),
        None => String::from("shorter than 32 bytes"),
    }
}

#[derive(Deserialize)]
struct Commitment {
    input: String,
    hash: String,
    commitment: String,
}

pub(crate) fn commitments(text: &str, _: VmOptions, report: &mut Report) -> Result<(), Error> {
    for vector in parse::<Vectors<Commitment>>(text)?.vectors {
        let commitment = calculate_commitment(&bytes(&vector.input)?, &array(&vector.hash)?);
        report.check(
            || format!("commitment of {}", vector.input),
            hex::encode(commitment),
            vector.commitment,
        );
    }
    Ok(())
}
