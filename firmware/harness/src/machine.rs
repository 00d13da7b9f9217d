//! A QEMU process that emulates the board.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Doing, Error};
use crate::log::Log;
use crate::monitor::Monitor;
use crate::signal::Reading;

/// Time limit for every wait. Long, since other programs may leave QEMU a small part of a processor.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Address of the emulated board's 16 MB of RAM.
const LARGE_RAM: u64 = 0x2100_0000;

/// A temporary directory, removed with all its content when dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("drift-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).doing("making a temporary directory")?;
        Ok(Self(path))
    }

    /// A file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done if this fails.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The content of an EEPROM in a file, which outlives the machines that use it.
#[derive(Debug)]
pub struct Eeprom {
    directory: Scratch,
}

impl Eeprom {
    /// Its size in bytes.
    pub const BYTES: usize = 32 * 1024;

    /// An erased one.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn new() -> Result<Self, Error> {
        let eeprom = Self { directory: Scratch::new()? };
        eeprom.write(&[0xFF; Self::BYTES])?;
        Ok(eeprom)
    }

    fn path(&self) -> PathBuf {
        self.directory.0.join("eeprom.bin")
    }

    /// A path for a file that is removed together with the EEPROM's.
    pub(crate) fn sibling(&self, name: &str) -> PathBuf {
        self.directory.0.join(name)
    }

    /// Its content. Only while no running machine uses it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        fs::read(self.path()).doing("reading the EEPROM's file")
    }

    /// Replaces its content. Only while no running machine uses it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, content: &[u8; Self::BYTES]) -> Result<(), Error> {
        fs::write(self.path(), content).doing("writing the EEPROM's file")
    }
}

/// Which board QEMU emulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Board {
    /// `mps2-an386`, with an I²C bus, and logs by semihosting.
    Mps2An386,
    /// `netduinoplus2`: an STM32F405 with little more than the USART.
    NetduinoPlus2,
}

/// What is on the board.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The board.
    pub board: Board,
    /// The firmware.
    pub elf: &'a Path,
    /// The EEPROM, if there is one.
    pub eeprom: Option<&'a Eeprom>,
    /// Whether the EEPROM ignores writes.
    pub write_protected: bool,
    /// Whether there are a magnetometer and a thermometer.
    pub sensors: bool,
    /// A file that is loaded into the large RAM at the start.
    pub data: Option<&'a Path>,
}

impl<'a> Setup<'a> {
    /// A board with everything, and this firmware.
    #[must_use]
    pub const fn new(elf: &'a Path, eeprom: &'a Eeprom) -> Self {
        Self { eeprom: Some(eeprom), sensors: true, ..Self::bare(Board::Mps2An386, elf) }
    }

    /// A board with nothing on its bus, and this firmware.
    #[must_use]
    pub const fn bare(board: Board, elf: &'a Path) -> Self {
        Self { board, elf, eeprom: None, write_protected: false, sensors: false, data: None }
    }
}

/// A running board. Dropping it ends it.
#[derive(Debug)]
pub struct Machine {
    child: Child,
    monitor: Monitor,
    log: Log,
    errors: Log,
    ram_bytes: u64,
    directory: Scratch,
}

impl Machine {
    /// Starts QEMU and the firmware in it; also returns the host's end of the board's serial line.
    ///
    /// # Errors
    /// [`Error`] if QEMU is not there or does not start.
    pub fn start(setup: &Setup<'_>) -> Result<(Self, UnixStream), Error> {
        let directory = Scratch::new()?;
        let [monitor_path, serial_path] = ["monitor", "serial"].map(|name| directory.0.join(name));
        // The size of the RAM in their memory.x.
        let (board, ram_bytes) = match setup.board {
            Board::Mps2An386 => ("mps2-an386", 64 << 10),
            Board::NetduinoPlus2 => ("netduinoplus2", 128 << 10),
        };
        let mut command = quiet_command();
        if setup.board == Board::NetduinoPlus2 {
            // Its program keeps time. By the host's clock, a busy host would leave it no time between two
            // samples; so time goes by with its instructions, 64 ns each, as at 16 MHz.
            command.args(["-icount", "shift=6,sleep=off"]);
        }
        command
            .args(["-M", board, "-display", "none", "-monitor", "none", "-S"])
            .args(["-semihosting-config", "enable=on,target=native"])
            .arg("-qmp")
            .arg(socket(&monitor_path))
            .arg("-serial")
            .arg(socket(&serial_path))
            .arg("-kernel")
            .arg(setup.elf);
        if setup.sensors {
            command
                .args(["-device", "lsm303dlhc_mag,id=mag0,address=0x1e,bus=i2c"])
                .args(["-device", "tmp105,id=temp0,address=0x48,bus=i2c"]);
        }
        if let Some(eeprom) = setup.eeprom {
            let writable = if setup.write_protected { "off" } else { "on" };
            command
                .arg("-drive")
                .arg(format!("if=none,id=ee,format=raw,file={}", eeprom.path().display()))
                .arg("-device")
                .arg(format!(
                    "at24c-eeprom,drive=ee,address=0x50,rom-size=32768,bus=i2c,writable={writable}"
                ));
        }
        if let Some(data) = setup.data {
            let data = data.display();
            let loader = format!("loader,file={data},addr={LARGE_RAM:#x},force-raw=on");
            command.arg("-device").arg(loader);
        }
        let elf = fs::read(setup.elf).doing("reading the firmware")?;
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .doing("starting qemu-system-arm")?;
        let mut child = Ending(Some(child));
        let running = child.0.as_mut();
        let streams = running.and_then(|child| child.stdout.take().zip(child.stderr.take()));
        let Some((stdout, stderr)) = streams else {
            return Err(Error::Silent("QEMU's output"));
        };
        let log = Log::of_defmt(&elf, stdout);
        let mut errors = Log::of_text(stderr);
        let mut connect = |path: &Path| connect(&mut child, path, &mut errors);
        let monitor_stream = connect(&monitor_path)?;
        let serial = connect(&serial_path)?;
        serial.set_read_timeout(Some(PATIENCE)).doing("setting the line's timeout")?;
        serial.set_write_timeout(Some(PATIENCE)).doing("setting the line's timeout")?;
        let mut monitor = Monitor::new(monitor_stream, PATIENCE)?;
        // Started only now, so that the firmware's first message is received.
        match monitor.execute("cont") {
            Ok(()) => {}
            Err(refused @ Error::Refused(_)) => return Err(refused),
            // A program may end the machine before the answer is read; the next wait reports it.
            Err(_) => {}
        }
        let Some(child) = child.0.take() else { return Err(Error::Silent("QEMU")) };
        Ok((Self { child, monitor, log, errors, ram_bytes, directory }, serial))
    }

    /// Sets the physical values at the sensors. QEMU refuses negative fields, and a reset sets all
    /// to 0.
    ///
    /// # Errors
    /// [`Error::Refused`] out of a sensor's range, or if the machine is gone.
    pub fn set_sensors(&mut self, feels: &Reading) -> Result<(), Error> {
        const FIELD: &str = "/machine/peripheral/mag0";
        let [x, y, z] = feels.nanotesla.map(i64::from);
        let set = self.monitor.set([
            (FIELD, "mag-x", x),
            (FIELD, "mag-y", y),
            (FIELD, "mag-z", z),
            ("/machine/peripheral/temp0", "temperature", i64::from(feels.millicelsius)),
        ]);
        self.alive(set)
    }

    /// Deepest use of the stack since the last reset, in bytes, from a memory dump. The start-up
    /// code fills the stack with a pattern; the longest run that still has it is the unused part.
    ///
    /// # Errors
    /// [`Error`] if the machine is gone.
    pub fn stack_high_water(&mut self) -> Result<usize, Error> {
        const RAM: u64 = 0x2000_0000;
        let file = self.directory.0.join("memory");
        let saved = self.monitor.save_memory(RAM, self.ram_bytes, &file);
        self.alive(saved)?;
        let memory = fs::read(&file).doing("reading the machine's memory")?;
        Ok(unpainted_above(&memory))
    }

    /// Pushes the reset button.
    ///
    /// # Errors
    /// [`Error`] if the machine is gone.
    pub fn reset(&mut self) -> Result<(), Error> {
        let reset = self.monitor.execute("system_reset");
        self.alive(reset)
    }

    /// Makes QEMU poll the serial line. If it found the board's receiver still off, it does not
    /// poll again for a second unless something else happens.
    pub(crate) fn wake(&mut self) -> Result<(), Error> {
        let woken = self.monitor.execute("query-status");
        self.alive(woken)
    }

    /// Cuts the power at any moment: SIGKILL.
    ///
    /// # Errors
    /// [`Error::Ended`] if it had ended before.
    pub fn cut_power(mut self) -> Result<Vec<String>, Error> {
        self.alive(Ok(()))?;
        self.child.kill().doing("killing QEMU")?;
        self.child.wait().doing("waiting for QEMU's end")?;
        Ok(self.log.finish())
    }

    /// The board's serial line, as the host command names it. One host at a time.
    #[must_use]
    pub fn port(&self) -> String {
        format!("unix:{}", self.directory.0.join("serial").display())
    }

    /// Lines of the firmware's log so far.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.log.lines()
    }

    /// Waits for the firmware to end the machine by itself, and returns the exit code and the log.
    ///
    /// # Errors
    /// [`Error::Silent`] if it does not, [`Error::Ended`] if it died by a signal.
    pub fn exit_code(mut self, patience: Duration) -> Result<(i32, Vec<String>), Error> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait().doing("looking after QEMU")? {
                return match status.code() {
                    Some(code) => Ok((code, self.log.finish())),
                    None => Err(self.ended(status)),
                };
            }
            if Instant::now() > deadline {
                return Err(Error::Silent("the firmware's exit"));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns `result`, or [`Error::Ended`] if it failed because QEMU has ended.
    pub(crate) fn alive<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        let suspicious = !matches!(result, Ok(_) | Err(Error::Refused(_)));
        if suspicious {
            // A connection may break a little before the process ends.
            thread::sleep(Duration::from_millis(50));
        }
        match self.child.try_wait().doing("looking after QEMU")? {
            Some(status) => Err(self.ended(status)),
            None => result,
        }
    }

    fn ended(&mut self, status: ExitStatus) -> Error {
        let mut lines = self.log.finish();
        lines.extend(self.errors.finish());
        let from = lines.len().saturating_sub(20);
        Error::Ended { status, tail: lines[from..].join("\n") }
    }
}

/// Bytes above the longest run of words with the pattern.
fn unpainted_above(memory: &[u8]) -> usize {
    const PAINT: [u8; 4] = [0xCC; 4];
    let (words, _) = memory.as_chunks::<4>();
    let (mut longest, mut run, mut end) = (0, 0, 0);
    for (index, word) in words.iter().enumerate() {
        run = if *word == PAINT { run + 1 } else { 0 };
        if run > longest {
            (longest, end) = (run, index + 1);
        }
    }
    4 * (words.len() - end)
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Both fail only if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends the process if starting the machine fails.
struct Ending(Option<Child>);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The QEMU command. Where `setpriv` exists, the system ends QEMU if this thread dies without
/// cleaning up.
fn quiet_command() -> Command {
    const SETPRIV: &str = "/usr/bin/setpriv";
    if File::open(SETPRIV).and_then(|mut file| file.read(&mut [0])).is_ok() {
        let mut command = Command::new(SETPRIV);
        command.args(["--pdeathsig", "KILL", "qemu-system-arm"]);
        command
    } else {
        Command::new("qemu-system-arm")
    }
}

fn socket(path: &Path) -> String {
    format!("unix:{},server=on,wait=off", path.display())
}

fn connect(child: &mut Ending, path: &Path, errors: &mut Log) -> Result<UnixStream, Error> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let error = match UnixStream::connect(path) {
            Ok(stream) => return Ok(stream),
            Err(error) => error,
        };
        if let Some(child) = &mut child.0
            && let Some(status) = child.try_wait().doing("looking after QEMU")?
        {
            return Err(Error::Ended { status, tail: errors.finish().join("\n") });
        }
        if Instant::now() > deadline {
            return Err(Error::Io { doing: "connecting to QEMU", source: error });
        }
        thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_painted_run_is_the_unused_stack() {
        let mut memory = vec![0; 1024];
        memory[100..140].fill(0xCC);
        memory[200..904].fill(0xCC);
        memory[1000..1008].fill(0xCC);
        assert_eq!(unpainted_above(&memory), 120);
    }
}
