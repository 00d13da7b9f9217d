//! Estimates the cycles of a Cortex-M4 from the instructions that a program executed.
//!
//! A model and not a measurement: the cycles of ARM's Technical Reference Manual (DDI 0439, tables
//! 3-1, 3-2 and 7-1 and the notes below them), added up over a trace. It leaves out wait states of
//! flash, contention on the bus, unaligned accesses, and all that depends on values: a division takes
//! the middle of its range, and an instruction whose condition fails counts as one that is executed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::trace::{self, Steps, Trace};
use crate::project::Project;

/// Cycles to refill the pipeline after a jump: 1 to 3.
const REFILL: u64 = 2;
/// Cycles of an integer division: 2 to 12.
const DIVISION: u64 = 7;

/// Instructions and cycles of one sample: means of the samples traced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Modelled {
    pub(super) instructions: u32,
    pub(super) cycles: u32,
}

/// Traces one in `stride` samples of `elf` and adds up their cycles.
pub(super) fn of(project: &Project, board: &str, elf: &Path, stride: u32) -> Result<Modelled> {
    let Trace { steps, samples } = trace::run(project, board, elf, stride)?;
    let objdump = project.llvm_tool("llvm-objdump")?.args(["--disassemble", "--no-show-raw-insn"]);
    let program = Program::read(&objdump.arg(elf).output()?);
    let mean = |total: u64| u32::try_from(total / u64::from(samples.max(1)));
    Ok(Modelled {
        instructions: mean(steps.values().sum())?,
        cycles: mean(program.cycles(&steps)?)?,
    })
}

/// The instructions of a program by address.
struct Program(BTreeMap<u32, Instruction>);

impl Program {
    /// From the lines of `llvm-objdump`: address, mnemonic and operands, separated by tabs.
    fn read(assembly: &str) -> Self {
        let instructions = assembly.lines().filter_map(|line| {
            let mut parts = line.split('\t');
            let (address, _) = parts.next()?.split_once(':')?;
            let address = u32::from_str_radix(address.trim(), 16).ok()?;
            let name = parts.next()?;
            Some((address, Instruction::new(name, parts.next().unwrap_or(""))))
        });
        Self(instructions.collect())
    }

    fn cycles(&self, steps: &Steps) -> Result<u64> {
        let mut total = 0;
        for (&(from, to), count) in steps {
            let find = |address| {
                let found = self.0.get(&address);
                found.with_context(|| format!("no instruction is at {address:#x}"))
            };
            let (this, next) = (find(from)?, find(to)?);
            let follows = self.0.range(from + 1..).next().is_some_and(|(&after, _)| after == to);
            let refill = if follows { 0 } else { REFILL };
            let own = this.cycles().with_context(|| format!("at {from:#x}"))?;
            let with_next = own + refill + u64::from(stalls(this, next));
            total += count * (with_next - u64::from(is_pipelined(this, next)));
        }
        Ok(total)
    }
}

/// An instruction as the disassembler prints it.
#[derive(Debug, Clone, PartialEq)]
struct Instruction {
    name: String,
    /// What it is, unless it is not in the table.
    kind: Option<Kind>,
    operands: String,
}

/// Instructions that take their cycles in the same way.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Integers in registers.
    Integer,
    /// The same, with two results.
    Long,
    /// The same, with flags as the only result.
    Compare,
    Division,
    /// Takes more only if it jumps.
    Branch,
    /// A jump by a table.
    TableBranch,
    Load,
    Store,
    /// Two words.
    Double,
    /// A list of registers.
    Multiple,
    /// Floating-point arithmetic.
    Arithmetic,
    /// A product that is added to the first operand.
    Accumulate,
    /// Division or root.
    Slow,
    /// Changes or compares a floating-point number without arithmetic.
    Simple,
    Move,
    FloatLoad,
    FloatStore,
}

/// Names of each kind, without conditions and suffixes.
const TABLE: [(Kind, &str); 17] = [
    (
        Kind::Integer,
        "mov movw movt mvn add addw adc sub subw sbc rsb adr mul mla mls and eor orr orn bic lsl lsr \
         asr ror rrx clz ssat usat sxth sxtb uxth uxtb ubfx sbfx bfc bfi rev rev16 revsh rbit nop it \
         smmul smmulr smmla smmlar smmls smmlsr smulbb smulbt smultb smultt smulwb smulwt smlabb \
         smlabt smlatb smlatt smlawb smlawt smuad smuadx smusd smusdx smlad smladx smlsd smlsdx \
         pkhbt pkhtb sxtab sxtah uxtab uxtah sxtb16 uxtb16 qadd qsub qdadd qdsub qadd16 qsub16 \
         sadd16 ssub16 uadd8 usub8 sel",
    ),
    (Kind::Long, "smull umull smlal umlal umaal smlalbb smlalbt smlaltb smlaltt smlald smlaldx"),
    (Kind::Compare, "cmp cmn tst teq"),
    (Kind::Division, "sdiv udiv"),
    (Kind::Branch, "b bl bx blx cbz cbnz"),
    (Kind::TableBranch, "tbb tbh"),
    (Kind::Load, "ldr ldrb ldrh ldrsb ldrsh"),
    (Kind::Store, "str strb strh"),
    (Kind::Double, "ldrd strd"),
    (Kind::Multiple, "ldm ldmdb stm stmdb push pop vldmia vldmdb vstmia vstmdb vpush vpop"),
    (Kind::Arithmetic, "vadd vsub vmul vnmul vcvt vcvtr"),
    (Kind::Accumulate, "vmla vmls vnmla vnmls vfma vfms vfnma vfnms"),
    (Kind::Slow, "vdiv vsqrt"),
    (Kind::Simple, "vabs vneg vcmp vcmpe vmrs vmsr"),
    (Kind::Move, "vmov"),
    (Kind::FloatLoad, "vldr"),
    (Kind::FloatStore, "vstr"),
];

const CONDITIONS: [&str; 16] = [
    "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "cs", "cc",
];

/// Looks a name up, also without its width or type, its condition, and the `s` of one that sets flags.
fn kind(name: &str) -> Option<Kind> {
    let exact = |name: &str| {
        let has = |names: &str| names.split_whitespace().any(|known| known == name);
        TABLE.iter().find(|(_, names)| has(names)).map(|(kind, _)| *kind)
    };
    let plain = |name: &str| {
        let quiet = || name.strip_suffix('s').and_then(exact);
        let sets_flags = |kind: &Kind| matches!(kind, Kind::Integer | Kind::Long);
        exact(name).or_else(|| quiet().filter(sets_flags))
    };
    let name = name.split('.').next()?;
    // `itte` and the like.
    if name.strip_prefix("it").is_some_and(|rest| rest.trim_matches(['t', 'e']).is_empty()) {
        return exact("it");
    }
    let without = |condition: &&str| name.strip_suffix(*condition).and_then(plain);
    plain(name).or_else(|| CONDITIONS.iter().find_map(without))
}

impl Instruction {
    fn new(name: &str, operands: &str) -> Self {
        let operands = operands.split('@').next().unwrap_or("").trim().to_owned();
        Self { name: name.to_owned(), kind: kind(name), operands }
    }

    /// Its cycles by itself, if it does not jump.
    fn cycles(&self) -> Result<u64> {
        let Some(kind) = self.kind else {
            bail!("no cycles are known of {} {}", self.name, self.operands);
        };
        let is_double = self.operands.starts_with('d');
        Ok(match kind {
            Kind::Integer | Kind::Long | Kind::Compare | Kind::Branch => 1,
            Kind::Division => DIVISION,
            Kind::Load | Kind::TableBranch => 2,
            // With an offset in a register it takes its address later.
            Kind::Store => 1 + u64::from(self.address().count() > 1),
            Kind::Double => 3,
            Kind::Multiple => {
                let list = self.operands.split_once('{').map_or("", |(_, list)| list);
                if list.contains('-') {
                    bail!("a list of registers is not written out: {}", self.operands);
                }
                let words = |register| if is_a(register, 'd') { 2 } else { 1 };
                1 + registers(list).map(words).sum::<u64>()
            }
            Kind::Arithmetic | Kind::Simple => 1,
            Kind::Accumulate => 3,
            Kind::Slow => 14,
            // Between the core and the floating-point unit, but for a half of a double.
            Kind::Move => {
                let has = |letter| registers(&self.operands).any(|name| is_a(name, letter));
                let is_half = self.operands.contains("[");
                1 + u64::from(has('r') && !is_half)
            }
            Kind::FloatLoad | Kind::FloatStore => 2 + u64::from(is_double),
        })
    }

    /// The registers of its address.
    fn address(&self) -> impl Iterator<Item = &str> {
        let rest = self.operands.split_once('[').map_or("", |(_, rest)| rest);
        registers(rest.split(']').next().unwrap_or(""))
    }

    /// The register that has its result, and that of the upper half.
    fn results(&self) -> impl Iterator<Item = &str> {
        let count = match self.kind {
            Some(Kind::Long) => 2,
            Some(Kind::Compare) | None => 0,
            Some(_) => 1,
        };
        registers(&self.operands).take(count)
    }

    /// The floating-point registers whose values it needs at once.
    fn needs(&self) -> impl Iterator<Item = &str> {
        let all = matches!(self.kind, Some(Kind::FloatStore | Kind::Multiple))
            || self.name.starts_with("vcmp");
        // The first operand is a result; one that is added to is needed a cycle later.
        registers(&self.operands).skip(usize::from(!all))
    }
}

/// Whether a register is of the kind that `letter` stands for; those of the core have names, too.
fn is_a(register: &str, letter: char) -> bool {
    let has_name = ["sp", "lr", "pc"].contains(&register);
    if letter == 'r' { has_name || register.starts_with('r') } else { register.starts_with(letter) }
}

/// The names of registers in operands.
fn registers(operands: &str) -> impl Iterator<Item = &str> {
    let is_register = |word: &&str| {
        let number = word.strip_prefix(['r', 's', 'd']).unwrap_or("");
        ["sp", "lr", "pc"].contains(word) || number.parse::<u8>().is_ok()
    };
    operands.split(|character: char| !character.is_alphanumeric()).filter(is_register)
}

/// A single load hides one cycle of a single load or store after it, unless that has its address from
/// the first. A store with a constant offset takes one cycle in any case.
fn is_pipelined(this: &Instruction, next: &Instruction) -> bool {
    let shortens = match next.kind {
        Some(Kind::Load) => true,
        Some(Kind::Store) => next.address().count() > 1,
        _ => false,
    };
    let feeds = this.results().any(|result| next.address().any(|register| register == result));
    this.kind == Some(Kind::Load) && shortens && !feeds
}

/// An instruction waits a cycle for its address if the one before computed it, and for a result of
/// floating-point arithmetic.
fn stalls(this: &Instruction, next: &Instruction) -> bool {
    let is = |register: &str| this.results().any(|result| result == register);
    match this.kind {
        Some(Kind::Integer | Kind::Long | Kind::Division) => next.address().any(is),
        Some(Kind::Arithmetic | Kind::Accumulate | Kind::Slow) => next.needs().any(is),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(name: &str, operands: &str) -> u64 {
        Instruction::new(name, operands).cycles().unwrap()
    }

    #[test]
    fn names_are_known_with_conditions_and_suffixes() {
        let names = [
            ("movs", Kind::Integer),
            ("movls.w", Kind::Integer),
            ("lslsne.w", Kind::Integer),
            ("itte", Kind::Integer),
            ("umull", Kind::Long),
            ("teq.w", Kind::Compare),
            ("bls", Kind::Branch),
            ("blt.w", Kind::Branch),
            ("bvs", Kind::Branch),
            ("ldrbne.w", Kind::Load),
            ("vcvt.f32.s32", Kind::Arithmetic),
            ("vmls.f32", Kind::Accumulate),
            ("vmrshs", Kind::Simple),
            ("vmovgt.f32", Kind::Move),
        ];
        for (name, expected) in names {
            assert_eq!(kind(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        for name in ["bkpt", "ldrs", "vadds", "itx", "svc", ".word", "<unknown>", ""] {
            assert_eq!(kind(name), None, "{name}");
        }
        let refused = Instruction::new("svc", "#0x1").cycles().unwrap_err().to_string();
        assert!(refused.contains("svc #0x1"), "{refused}");
        let unwritten = Instruction::new("vpush", "{d8-d10}");
        assert!(unwritten.cycles().is_err());
    }

    #[test]
    fn cycles_are_those_of_the_manual() {
        assert_eq!(cycles("add.w", "r0, r1, r2, lsl #2"), 1);
        assert_eq!(cycles("smlal", "r0, r1, r2, r3"), 1);
        assert_eq!(cycles("udiv", "r0, r1, r2"), 7);
        assert_eq!(cycles("ldr", "r0, [pc, #0x38]         @ 0x440 <x+0x40>"), 2);
        assert_eq!(cycles("str.w", "r0, [r1, #0x4]"), 1);
        assert_eq!(cycles("str.w", "r0, [r1, r2, lsl #2]"), 2);
        assert_eq!(cycles("strd", "r0, r1, [sp, #8]"), 3);
        assert_eq!(cycles("push.w", "{r4, r5, r6, lr}"), 5);
        assert_eq!(cycles("ldm.w", "r0!, {r2, r3, r4}"), 4);
        assert_eq!(cycles("vpush", "{d8, d9}"), 5);
        assert_eq!(cycles("vldmia", "r0!, {s0, s1, s2}"), 4);
        assert_eq!(cycles("vldr", "s0, [r0]"), 2);
        assert_eq!(cycles("vstr", "d0, [r0]"), 3);
        assert_eq!(cycles("vmul.f32", "s0, s1, s2"), 1);
        assert_eq!(cycles("vfma.f32", "s0, s1, s2"), 3);
        assert_eq!(cycles("vdiv.f32", "s0, s1, s2"), 14);
        assert_eq!(cycles("vsqrt.f32", "s0, s1"), 14);
        assert_eq!(cycles("vmov.f32", "s0, s1"), 1);
        assert_eq!(cycles("vmov.f32", "s0, #1.000000e+00"), 1);
        assert_eq!(cycles("vmov", "s0, r1"), 2);
        assert_eq!(cycles("vmov.32", "d0[1], r1"), 1);
        assert_eq!(cycles("vmrs", "APSR_nzcv, fpscr"), 1);
    }

    /// The cycles of instructions that follow each other, then leave.
    fn sequence(lines: &[(&str, &str)]) -> u64 {
        let text: String = (0..)
            .zip(lines.iter().chain(&[("nop", "")]))
            .map(|(index, (name, operands))| {
                format!("{:8x}:      \t{name}\t{operands}\n", 2 * index)
            })
            .collect();
        let addresses = (0..).step_by(2).zip(lines);
        let steps = addresses.map(|(address, _)| ((address, address + 2), 1)).collect();
        Program::read(&text).cycles(&steps).unwrap()
    }

    #[test]
    fn loads_that_follow_each_other_are_pipelined() {
        let first = ("ldr", "r0, [r1]");
        // The manual's own examples.
        assert_eq!(sequence(&[first, ("ldr", "r1, [r2]")]), 3);
        assert_eq!(sequence(&[("ldr", "r0, [r1, r2]"), ("str", "r0, [r3, #0x14]")]), 3);
        assert_eq!(sequence(&[("ldr", "r0, [r1, r2]"), ("str", "r1, [r3, r2]")]), 3);
        let third = ("ldr", "r2, [r3, #0x4]");
        assert_eq!(sequence(&[("ldr", "r0, [r1, r5]"), ("ldr", "r1, [r2]"), third]), 4);
        // Not with an address that was loaded, nor two words.
        assert_eq!(sequence(&[first, ("ldr", "r2, [r0]")]), 4);
        assert_eq!(sequence(&[first, ("ldrd", "r2, r3, [r4]")]), 5);
    }

    #[test]
    fn results_that_are_needed_at_once_take_a_cycle_more() {
        let address = ("add.w", "r0, r1, r2");
        assert_eq!(sequence(&[address, ("ldr", "r3, [r0]")]), 4);
        assert_eq!(sequence(&[address, ("ldr", "r3, [r1]")]), 3);
        assert_eq!(sequence(&[("cmp", "r0, r1"), ("ldr", "r3, [r0]")]), 3);
        let product = ("vmul.f32", "s0, s1, s2");
        assert_eq!(sequence(&[product, ("vadd.f32", "s3, s0, s1")]), 3);
        assert_eq!(sequence(&[product, ("vadd.f32", "s0, s3, s1")]), 2);
        assert_eq!(sequence(&[product, ("vstr", "s0, [r0]")]), 4);
        // An addend is needed later than a factor.
        assert_eq!(sequence(&[product, ("vmla.f32", "s0, s1, s2")]), 4);
        assert_eq!(sequence(&[product, ("vmla.f32", "s1, s0, s2")]), 5);
    }

    #[test]
    fn a_loop_takes_its_jumps() {
        let text =
            "       0:      \tsubs\tr0, #0x1\n       2:      \tbne\t0x0\n       4:      \tbx\tlr\n";
        let steps = [((0, 2), 10), ((2, 0), 9), ((2, 4), 1), ((4, 0), 1)];
        let program = Program::read(text);
        assert_eq!(program.cycles(&steps.into()).unwrap(), 10 + 9 * 3 + 1 + 3);
        assert!(program.cycles(&[((8, 0), 1)].into()).is_err());
    }
}
