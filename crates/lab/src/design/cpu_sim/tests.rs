//! The model against the document, and against programs small enough to count by hand.

use super::*;

fn report() -> Report {
    let settings = Settings { samples: Some(2000), ..Settings::default() };
    crate::run(&CpuSim, &settings, &mut ()).expect("a report")
}

#[test]
fn the_designs_are_as_fast_as_published() {
    let report = report();
    assert!(report.unexplained().is_empty());
    let rows = &report.tables[0].rows;
    for row in rows {
        let published = row.published.expect("a figure");
        assert!((row.here / published - 1.0).abs() < 0.03, "{row:?}");
    }
    let published = order(rows, |row| row.published.unwrap_or(0.0));
    assert_eq!(order(rows, |row| row.here), published);
    // More branches cost cycles only in designs that do not speculate.
    for (then, now) in rows.iter().zip(&report.tables[2].rows) {
        let more = now.here / then.here - 1.0;
        let expected = if then.what.contains("non-speculative") { 0.0..0.2 } else { -0.03..0.03 };
        assert!(expected.contains(&more), "{then:?} {now:?}");
        let v2 = now.others[1].expect("v2") / now.here;
        assert!((v2 - 1.5).abs() < 0.05, "half as many instructions again: {now:?}");
    }
}

fn order(rows: &[Row], figure: impl Fn(&Row) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| figure(&rows[a]).total_cmp(&figure(&rows[b])));
    order
}

#[test]
fn opcodes_of_2019_have_the_frequencies_of_2019() {
    for (opcode, frequency) in FREQUENCIES_2019 {
        let bytes = (0..=255).filter(|&byte| of_2019(byte) == opcode).count();
        assert_eq!(bytes, frequency, "{opcode:?}");
    }
    for (opcode, _) in Opcode::FREQUENCIES {
        let instruction =
            randomx::program::Instruction::from_bytes(&[today(*opcode), 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(instruction.opcode(), *opcode);
    }
}

/// Additions to the first `registers` registers in turn.
fn additions(count: usize, registers: u8) -> Vec<Demand> {
    let demand =
        |at: usize| Demand { destination: Some(at as u8 % registers), ..Demand::default() };
    (0..count).map(demand).collect()
}

fn cycles(design: Design, program: &[Demand]) -> u32 {
    // The random numbers do not matter, as no branch can be mispredicted.
    design.execute(program, &mut random::of(1, 0))
}

#[test]
fn small_programs_take_the_cycles_counted_by_hand() {
    // Two cycles fill the pipeline; then units or registers limit the additions per cycle.
    for out_of_order in [false, true] {
        let design = |exu| Design::new(exu, 1, out_of_order, true);
        assert_eq!(cycles(design(1), &additions(8, 8)), 2 + 8);
        assert_eq!(cycles(design(4), &additions(8, 8)), 2 + 2);
        assert_eq!(cycles(design(4), &additions(8, 2)), 2 + 4);
        assert_eq!(cycles(design(4), &additions(8, 1)), 2 + 8);
    }
    // An address that was just computed delays the load by a cycle.
    let load = Demand { destination: Some(1), address: Some(0), memory: true, ..Demand::default() };
    let waits = [additions(1, 1)[0], load];
    let independent = [additions(1, 1)[0], Demand { address: Some(2), ..load }];
    for out_of_order in [false, true] {
        let design = Design::new(2, 1, out_of_order, true);
        assert_eq!(cycles(design, &waits), 2 + 3);
        assert_eq!(cycles(design, &independent), 2 + 1);
    }
    // Without speculation a branch empties the pipeline.
    let branch = Demand { branches: true, ..additions(1, 1)[0] };
    let next = Demand { destination: Some(1), ..Demand::default() };
    for out_of_order in [false, true] {
        assert_eq!(cycles(Design::new(2, 1, out_of_order, false), &[branch, next]), 2 + 1 + 2 + 1);
    }
    // Out of order, independent instructions overtake a waiting one.
    let chain = [additions(1, 1)[0], load, next, Demand { destination: Some(3), ..next }];
    let ahead = [chain[0], chain[1], Demand { destination: Some(4), ..next }, chain[3]];
    assert_eq!(cycles(Design::new(2, 1, true, true), &ahead), 2 + 3);
    assert_eq!(cycles(Design::new(2, 1, false, true), &ahead), 2 + 4);
}
