//! Runs a program in QEMU one instruction at a time, and counts which instruction followed which.
//!
//! Only some samples are run so, and the rest, and what a detector learns from, at full speed: a
//! breakpoint stops the program before each sample, and the log is switched on and off there. It has
//! millions of lines; it is read as it is written, and never stored.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::qemu;

/// How often one instruction followed another, by address.
pub(super) type Steps = HashMap<(u32, u32), u64>;

/// The instructions of some samples of a program.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) steps: Steps,
    pub(super) samples: u32,
}

/// Where the functions of `bench::count` lie in a program.
#[derive(Debug, Clone, PartialEq)]
struct Places {
    /// Calls the next one once for each sample.
    measure: Range<u32>,
    /// The call to count.
    apart: Range<u32>,
    /// Work on the stack, which is not logged.
    hidden: [Range<u32>; 2],
}

/// Runs a program that measures samples, and traces one in `stride` of them.
pub(super) fn run(project: &Project, board: &str, elf: &Path, stride: u32) -> Result<Trace> {
    let symbols = project.llvm_tool("llvm-nm")?.args(["--demangle", "--print-size"]).arg(elf);
    let places = Places::find(&symbols.output()?)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let socket =
        format!("socket,id=gdb,host=127.0.0.1,port={},nodelay=on", listener.local_addr()?.port());
    let filter = places.filter();
    let options = ["-S", "-chardev", &socket, "-gdb", "chardev:gdb", "-dfilter", &filter];
    let mut emulator = qemu::start(board, elf, &options)?;
    let log = emulator.0.stderr.take().context("no log")?;
    let reader = thread::spawn({
        let places = places.clone();
        move || Reader::new(places).read(BufReader::with_capacity(1 << 16, log))
    });
    // The reader also ends if the emulator does, and then knows what it said.
    let traced = match accept(&listener, || reader.is_finished())? {
        Some(stream) => Debugger(stream).trace(places.measure.start, stride)?,
        None => 0,
    };
    // The program has ended, and with it the log.
    drop(emulator);
    let trace = reader.join().ok().context("the reader of the log panicked")??;
    if trace.samples == 0 || trace.samples != traced {
        bail!("{} of {traced} samples were found in the log", trace.samples);
    }
    Ok(trace)
}

impl Places {
    /// From the lines of `llvm-nm`: address, size, kind and name.
    fn find(symbols: &str) -> Result<Self> {
        let of = |name: &str| -> Result<Range<u32>> {
            let full = format!("bench::count::{name}");
            let is_it = |symbol: &str| {
                symbol.strip_prefix(&full).is_some_and(|rest| !rest.starts_with(word))
            };
            let mut found = symbols.lines().filter_map(|line| {
                let mut words = line.splitn(4, ' ');
                let mut number = || u32::from_str_radix(words.next()?, 16).ok();
                let (start, size) = (number()?, number()?);
                words.nth(1).is_some_and(is_it).then_some(start..start + size)
            });
            match (found.next(), found.next()) {
                (Some(place), None) => Ok(place),
                _ => bail!("the program does not have one function {full}"),
            }
        };
        let hidden = [of("paint")?, of("painted_over")?];
        Ok(Self { measure: of("measure")?, apart: of("apart")?, hidden })
    }

    /// QEMU's ranges of addresses to log: all but the hidden ones.
    fn filter(&self) -> String {
        let mut hidden = self.hidden.clone();
        hidden.sort_by_key(|place| place.start);
        let [first, second] = hidden;
        let shown = [0..first.start, first.end..second.start, second.end..u32::MAX];
        // QEMU refuses an empty range, and takes the last address as part of one.
        let shown = shown.iter().filter(|place| !place.is_empty());
        let ranges: Vec<_> =
            shown.map(|place| format!("{:#x}..{:#x}", place.start, place.end - 1)).collect();
        ranges.join(",")
    }
}

/// Whether a character belongs to a name.
fn word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Follows the log of executed instructions.
struct Reader {
    places: Places,
    trace: Trace,
    /// The instruction logged last, which may not have been executed yet.
    logged: Option<u32>,
    /// The instruction executed last, if it belongs to a sample.
    last: Option<u32>,
}

impl Reader {
    fn new(places: Places) -> Self {
        let trace = Trace { steps: Steps::new(), samples: 0 };
        Self { places, trace, logged: None, last: None }
    }

    /// Reads to the end.
    fn read(mut self, mut log: impl BufRead) -> Result<Trace> {
        let mut line = String::new();
        while log.read_line(&mut line)? > 0 {
            self.take(&line)?;
            line.clear();
        }
        if self.last.is_some() {
            bail!("the log ends within a sample");
        }
        Ok(self.trace)
    }

    /// Takes a line as `Trace 0: HOST [BASE/ADDRESS/FLAGS/FLAGS] SYMBOL`.
    fn take(&mut self, line: &str) -> Result<()> {
        if line.starts_with("Trace ") {
            let address = line.split_once('/').and_then(|(_, rest)| rest.get(..8));
            let address = address.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let address = address.with_context(|| format!("unknown line of the log: {line}"))?;
            if let Some(executed) = self.logged.replace(address) {
                self.step(executed);
            }
            return Ok(());
        }
        // The emulator was interrupted, and will log the instruction again.
        if line.starts_with("Stopped execution") {
            self.logged = None;
            return Ok(());
        }
        bail!("unknown line of the log: {line}")
    }

    fn step(&mut self, address: u32) {
        let Some(last) = self.last else {
            self.last = (address == self.places.apart.start).then_some(address);
            return;
        };
        *self.trace.steps.entry((last, address)).or_default() += 1;
        self.last = Some(address);
        if self.places.measure.contains(&address) {
            self.last = None;
            self.trace.samples += 1;
        }
    }
}

/// Waits for the emulator to connect; `None` if it ended.
fn accept(listener: &TcpListener, ended: impl Fn() -> bool) -> Result<Option<TcpStream>> {
    listener.set_nonblocking(true)?;
    let start = Instant::now();
    while !ended() && start.elapsed() < qemu::TIME_LIMIT {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(qemu::TIME_LIMIT))?;
                return Ok(Some(stream));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// The little of GDB's remote protocol that is needed.
struct Debugger(TcpStream);

impl Debugger {
    /// Runs the program to its end, with the log switched on for one in `stride` of the samples that
    /// `measure` is called for: returns for how many.
    fn trace(&mut self, measure: u32, stride: u32) -> Result<u32> {
        let [set, remove] = ['Z', 'z'].map(|action| format!("{action}0,{measure:x},2"));
        let mut traced = 0;
        for sample in 0_u32.. {
            self.expect(&set, "OK")?;
            let stopped = self.ask("c")?;
            if stopped == "W00" {
                break;
            }
            if !stopped.starts_with("T05") {
                bail!("the program stopped with {stopped}");
            }
            match sample % stride {
                0 => {
                    self.monitor("singlestep on")?;
                    self.monitor("log exec,nochain")?;
                    traced += 1;
                }
                1 => {
                    self.monitor("log none")?;
                    self.monitor("singlestep off")?;
                }
                _ => {}
            }
            // The emulator would stop here again.
            self.expect(&remove, "OK")?;
            self.expect("s", "T05")?;
        }
        Ok(traced)
    }

    /// A command of QEMU's monitor.
    fn monitor(&mut self, command: &str) -> Result<()> {
        let hex: String = command.bytes().map(|byte| format!("{byte:02x}")).collect();
        self.expect(&format!("qRcmd,{hex}"), "OK")
    }

    fn expect(&mut self, command: &str, answer: &str) -> Result<()> {
        let answered = self.ask(command)?;
        if !answered.starts_with(answer) {
            bail!("the emulator answers {command} by {answered}");
        }
        Ok(())
    }

    fn ask(&mut self, command: &str) -> Result<String> {
        self.0.write_all(packet(command).as_bytes())?;
        self.answer()
    }

    /// The content of the next packet, which is confirmed.
    fn answer(&mut self) -> Result<String> {
        let mut text = String::new();
        let mut byte = [0];
        loop {
            self.0.read_exact(&mut byte).context("the emulator ended")?;
            match byte {
                // Confirmations lie before the beginning.
                [b'$'] => text.clear(),
                [b'#'] => break,
                [other] => text.push(char::from(other)),
            }
        }
        self.0.read_exact(&mut [0; 2])?;
        self.0.write_all(b"+")?;
        Ok(text)
    }
}

/// A packet of the protocol: the text with its sum.
fn packet(text: &str) -> String {
    let sum = text.bytes().fold(0_u8, u8::wrapping_add);
    format!("${text}#{sum:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "\
00000694 0000026a T bench::count::painted_over::hdef21c0b11f0237d
000008fe 0000001a T bench::count::apart::hb439aab964984c98
00000918 000000e8 T bench::count::paint::h4a4aa64d927a6bc9
         U unknown
00000a00 00000040 t bench::count::measure::h09d6aecc183b0f6e
00001b9e 000004ea T core::str::count::do_count_chars
";

    #[test]
    fn functions_are_found_by_their_names() {
        let places = Places::find(SYMBOLS).unwrap();
        assert_eq!(places.measure, 0xa00..0xa40);
        assert_eq!(places.apart, 0x8fe..0x918);
        assert_eq!(places.filter(), "0x0..0x693,0x8fe..0x917,0xa00..0xfffffffe");
        let adjacent = Places { hidden: [0x918..0xa00, 0xa00..0xa10], ..places };
        assert_eq!(adjacent.filter(), "0x0..0x917,0xa10..0xfffffffe");
        assert!(Places::find(&SYMBOLS.replace("apart", "other")).is_err());
        assert!(Places::find(&format!("{SYMBOLS}{SYMBOLS}")).is_err());
    }

    fn read(log: &str) -> Result<Trace> {
        Reader::new(Places::find(SYMBOLS).unwrap()).read(log.as_bytes())
    }

    fn line(address: u32) -> String {
        format!("Trace 0: 0x7f0adc000100 [00800408/{address:08x}/00000110/ff000201] a/name\n")
    }

    #[test]
    fn steps_of_samples_are_counted_and_no_others() {
        let sample = [0xa00, 0xa1e, 0x8fe, 0x900, 0x900, 0xa22].map(line).concat();
        let trace = read(&format!("{}{sample}{sample}{}", line(0x400), line(0x400))).unwrap();
        let steps = [((0x8fe, 0x900), 2), ((0x900, 0x900), 2), ((0x900, 0xa22), 2)];
        assert_eq!(trace.steps, steps.into());
        assert_eq!(trace.samples, 2);
    }

    #[test]
    fn an_instruction_that_was_stopped_is_not_counted() {
        let stopped = "Stopped execution of TB chain before 0x7f0adc000100 [00000900] name\n";
        let [a, b, c, d] = [0x8fe, 0x900, 0xa22, 0].map(line);
        let log = [&a, &b, stopped, &b, &c, &d].concat();
        let steps = [((0x8fe, 0x900), 1), ((0x900, 0xa22), 1)];
        assert_eq!(read(&log).unwrap().steps, steps.into());
    }

    #[test]
    fn a_log_that_ends_early_or_is_not_one_is_refused() {
        let log = [0x8fe, 0x900, 0xa22, 0xa24].map(line);
        assert_eq!(read(&log.concat()).unwrap().samples, 1);
        assert!(read(&log[..3].concat()).is_err());
        assert!(read("Trace 0: 0x7f0adc000100\n").is_err());
        assert!(read("anything\n").is_err());
    }

    #[test]
    fn packets_have_their_sum() {
        assert_eq!(packet("OK"), "$OK#9a");
    }
}
