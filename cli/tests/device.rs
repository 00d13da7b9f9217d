//! `fastmmd device` against the firmware's app, over a socket.

#![cfg(unix)]

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::common::{directory, fastmmd, file, noise};
use drift_app::app::{App, Board, Config, Parts, Request};
use drift_app::fault::{Device, Fault, FaultKind};
use drift_app::guard::Guard;
use drift_app::link::ByteLink;
use drift_app::message::Start;
use drift_app::profile::{BoardDetector, ONE_CHANNEL, RECORDING};
use drift_app::retained::memory_bytes;
use drift_app::seal::Key;
use drift_app::sensor::{NoSensor, Sensor};
use embedded_hal::i2c::{ErrorKind as BusError, ErrorType, I2c, Operation};
use fastmmd_reference::generate::Generator;
use fastmmd_reference::single;
use serialport::{SerialPort, TTYPort};

type Detector = BoardDetector<1>;

/// A bus with nothing on it.
struct Empty;

impl ErrorType for Empty {
    type Error = BusError;
}

impl I2c for Empty {
    fn transaction(&mut self, _: u8, _: &mut [Operation<'_>]) -> Result<(), BusError> {
        Err(BusError::Other)
    }
}

struct Line(UnixStream);

impl ByteLink for Line {
    type Error = std::io::Error;

    fn read(&mut self) -> Result<Option<u8>, std::io::Error> {
        let mut byte = [0];
        match self.0.read(&mut byte) {
            Ok(1..) => Ok(Some(byte[0])),
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, byte: u8) -> Result<(), std::io::Error> {
        self.0.write_all(&[byte])
    }
}

/// A board that keeps its RAM from one connection to the next.
fn board(path: &Path, stop: Arc<AtomicBool>, guard: Guard) -> JoinHandle<()> {
    let listener = UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    thread::spawn(move || {
        let mut memory = vec![0; memory_bytes(Detector::SAVED_BYTES, 8, 1)];
        while !stop.load(Ordering::Relaxed) {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(std::time::Duration::from_millis(2));
                continue;
            };
            stream.set_nonblocking(true).unwrap();
            let ended = stream.try_clone().unwrap();
            // Until the other side has closed it.
            let is_over = || closed(&ended) || stop.load(Ordering::Relaxed);
            serve(Line(stream), guard.clone(), &mut memory, is_over);
        }
    })
}

/// A board without a sensor, on a line, until that is over.
fn serve<L: ByteLink>(line: L, guard: Guard, memory: &mut [u8], is_over: impl Fn() -> bool) {
    let mut detector = Detector::new(&ONE_CHANNEL, RECORDING).unwrap();
    let parts = Parts {
        board: &Board { name: "socket", millihertz: 2500, start: Start::UNKNOWN },
        bus: Empty,
        line,
        sensor: NoSensor,
        monitor: &mut detector,
        settings: &RECORDING,
        store: None,
        guard,
        memory,
    };
    let mut app = App::new(parts, Config::DEFAULT);
    app.start();
    while !is_over() {
        if app.poll() == Request::Idle {
            thread::sleep(std::time::Duration::from_micros(200));
        }
    }
}

/// The board's end of a serial line.
struct Serial(TTYPort);

impl ByteLink for Serial {
    type Error = std::io::Error;

    fn read(&mut self) -> Result<Option<u8>, std::io::Error> {
        let mut byte = [0];
        // An error is that nothing came in time, or that nobody has the other end.
        Ok(self.0.read(&mut byte).ok().filter(|read| *read > 0).map(|_| byte[0]))
    }

    fn write(&mut self, byte: u8) -> Result<(), std::io::Error> {
        // What nobody reads is lost.
        let _ = self.0.write_all(&[byte]);
        Ok(())
    }
}

/// The same commands over what the operating system takes for a serial port.
#[test]
fn a_board_on_a_serial_port_is_read_and_commanded() {
    let directory = directory("device_serial");
    let (mut line, port) = TTYPort::pair().unwrap();
    let name = port.name().unwrap();
    // For the tool alone.
    drop(port);
    line.set_timeout(std::time::Duration::from_millis(1)).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&stop);
    let mut open = Guard::default();
    open.set_open(true);
    let board = thread::spawn(move || {
        let mut memory = vec![0; memory_bytes(Detector::SAVED_BYTES, 8, 1)];
        serve(Serial(line), open, &mut memory, || is_over.load(Ordering::Relaxed));
    });
    let device = |arguments: &[&str]| fastmmd(&[&["device", &name, "--json"], arguments].concat());
    let found = device(&["identify"]);
    assert_eq!(found.code, 0, "{}", found.err);
    assert_eq!(found.json()[0]["map_frequencies"], 32);
    let pulled = directory.join("pulled.bin");
    // Nothing is learned yet, but there is a state, of many pieces.
    let ran = device(&["pull", pulled.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::read(&pulled).unwrap().len(), Detector::SAVED_BYTES);
    assert_eq!(device(&["relearn"]).json()[0]["stage"], "learning");
    stop.store(true, Ordering::Relaxed);
    board.join().unwrap();
    // The control: nobody answers any more.
    let silent = device(&["status"]);
    assert_eq!((silent.code, silent.err.lines().count()), (2, 1), "{}", silent.err);
}

/// Whether nobody is at the other end. The byte that tells is one between frames.
fn closed(mut stream: &UnixStream) -> bool {
    stream.write_all(&[0]).is_err()
}

#[test]
fn what_was_exported_is_pushed_monitors_and_comes_back() {
    let directory = directory("device");
    let log = file(&directory, "log.csv", &noise(600, 600, 0.0, 3));
    let [reference, back, socket] =
        ["reference.bin", "back.bin", "line"].map(|name| directory.join(name));
    let (reference, back) = (reference.to_str().unwrap(), back.to_str().unwrap());
    let options =
        ["--columns=2", "--features=32", "--learn=384", "--mean-time-between-false-alarms=1000"];
    let exported = fastmmd(&[&["export", &log, "-o", reference][..], &options].concat());
    assert_eq!(exported.code, 0, "{}", exported.err);
    let stop = Arc::new(AtomicBool::new(false));
    let _ = fs::remove_file(&socket);
    let mut open = Guard::default();
    open.set_open(true);
    let board = board(&socket, Arc::clone(&stop), open);
    let port = format!("unix:{}", socket.display());
    let device = |arguments: &[&str]| fastmmd(&[&["device", &port, "--json"], arguments].concat());

    let found = device(&["identify"]);
    assert_eq!(found.code, 0, "{}", found.err);
    let identity = &found.json()[0];
    assert_eq!(identity["board"], "socket");
    assert_eq!((&identity["channels"], &identity["map_frequencies"]), (&1.into(), &32.into()));
    assert_eq!(identity["samples_per_second"], 2.5);
    let before = &device(&["status"]).json()[0];
    assert_eq!((&before["stage"], &before["rows"]), (&"learning".into(), &0.into()));

    let pushed = device(&["push", reference]);
    assert_eq!(pushed.code, 0, "{}", pushed.err);
    assert_eq!(pushed.json()[0]["stage"], "monitoring");
    let pulled = device(&["pull", back]);
    assert_eq!(pulled.code, 0, "{}", pulled.err);
    assert!(fs::read(back).unwrap() == fs::read(reference).unwrap());
    let watched = device(&["watch", "--reports=2"]);
    let events: Vec<_> = watched.json().iter().map(|line| line["event"].clone()).collect();
    assert_eq!(watched.code, 0, "{}", watched.err);
    assert_eq!(
        (&events[0], events.iter().filter(|it| *it == "report").count()),
        (&"started".into(), 2)
    );

    let mut altered = fs::read(reference).unwrap();
    altered[100] ^= 1;
    fs::write(back, altered).unwrap();
    let refused = device(&["push", back]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("not one of this device's detector"), "{}", refused.err);
    assert_eq!(device(&["dismiss"]).json()[0]["stage"], "monitoring");
    assert_eq!(device(&["relearn"]).json()[0]["stage"], "learning");
    stop.store(true, Ordering::Relaxed);
    board.join().unwrap();
    let gone = fastmmd(&["device", "unix:/nowhere", "status"]);
    assert_eq!(gone.code, 2);
    assert_eq!(gone.err.lines().count(), 1, "{}", gone.err);
}

/// A board with a key: anybody may read it, and only who has the key commands it.
#[test]
fn a_board_with_a_key_is_commanded_with_it_alone() {
    static KEY: Key = Key::new([0xAB; 32]);
    let directory = directory("device_key");
    let [key, other, short, socket] =
        ["key", "other", "short", "line"].map(|name| directory.join(name));
    fs::write(&key, "ab".repeat(32) + "\n").unwrap();
    fs::write(&other, "ac".repeat(32)).unwrap();
    fs::write(&short, "ab").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let _ = fs::remove_file(&socket);
    let board = board(&socket, Arc::clone(&stop), Guard::new(Some(&KEY), Some(77)));
    let port = format!("unix:{}", socket.display());
    let device = |arguments: &[&str]| fastmmd(&[&["device", &port, "--json"], arguments].concat());
    let with = |key: &Path, command: &str| device(&["--key", key.to_str().unwrap(), command]);
    assert_eq!(device(&["identify"]).json()[0]["commands"], "sealed");
    assert_eq!(device(&["status"]).code, 0);
    let refused = device(&["relearn"]);
    assert_eq!((refused.code, refused.err.contains("--key FILE")), (2, true), "{}", refused.err);
    let refused = with(&other, "relearn");
    let named = refused.err.contains("not the key of this device");
    assert_eq!((refused.code, named), (2, true), "{}", refused.err);
    let refused = with(&short, "relearn");
    let named = refused.err.contains("64 hexadecimal digits");
    assert_eq!((refused.code, named), (2, true), "{}", refused.err);
    assert_eq!(with(&key, "relearn").json()[0]["stage"], "learning");
    assert_eq!(with(&key, "dismiss").code, 0);
    stop.store(true, Ordering::Relaxed);
    board.join().unwrap();
}

/// A line that waits for the next host when one has gone.
struct Open {
    listener: UnixListener,
    host: Option<Line>,
}

impl ByteLink for Open {
    type Error = std::io::Error;

    fn read(&mut self) -> Result<Option<u8>, std::io::Error> {
        if self.host.is_none() {
            let Ok((stream, _)) = self.listener.accept() else { return Ok(None) };
            stream.set_nonblocking(true)?;
            self.host = Some(Line(stream));
        }
        let read = self.host.as_mut().map_or(Ok(None), Line::read);
        if read.is_err() {
            self.host = None;
        }
        read
    }

    fn write(&mut self, byte: u8) -> Result<(), std::io::Error> {
        self.host.as_mut().map_or(Ok(()), |host| host.write(byte))
    }
}

/// A sensor whose level changes after learning, and which then no longer answers.
struct Leaving {
    rows: std::vec::IntoIter<f32>,
}

impl Sensor<1> for Leaving {
    fn read<B: I2c>(&mut self, _: &mut B) -> Result<[f32; 1], Fault> {
        let gone = Fault::new(Device::Magnetometer, FaultKind::NoAcknowledge);
        self.rows.next().map(|value| [value]).ok_or(gone)
    }
}

/// A board with an alarm that nobody has acknowledged, and a fault that lasts.
fn alarmed(path: &Path, stop: Arc<AtomicBool>) -> JoinHandle<()> {
    let _ = fs::remove_file(path);
    let listener = UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut generator = Generator::new(8);
    let levels = [0.0; 500].into_iter().chain([8.0; 60]);
    let rows: Vec<f32> = levels.map(|level| single(generator.normal() + level)).collect();
    thread::spawn(move || {
        let mut memory = vec![0; memory_bytes(Detector::SAVED_BYTES, 8, 1)];
        let mut detector = Detector::new(&ONE_CHANNEL, RECORDING).unwrap();
        let periods = rows.len() + 1;
        let mut guard = Guard::default();
        guard.set_open(true);
        let parts = Parts {
            board: &Board { name: "socket", millihertz: 0, start: Start::UNKNOWN },
            bus: Empty,
            line: Open { listener, host: None },
            sensor: Leaving { rows: rows.into_iter() },
            monitor: &mut detector,
            settings: &RECORDING,
            store: None,
            guard,
            memory: &mut memory,
        };
        let mut app = App::new(parts, Config::DEFAULT);
        app.start();
        for _ in 0..periods {
            app.sample(1);
        }
        while !stop.load(Ordering::Relaxed) {
            if app.poll() == Request::Idle {
                thread::sleep(std::time::Duration::from_micros(200));
            }
        }
    })
}

/// The board repeats alarm and fault with every status; who watches is told once.
#[test]
fn what_a_board_repeats_is_told_once() {
    let socket = directory("device_watch").join("line");
    let stop = Arc::new(AtomicBool::new(false));
    let board = alarmed(&socket, Arc::clone(&stop));
    let port = format!("unix:{}", socket.display());
    let watch = |arguments: &[&str]| {
        let ran =
            fastmmd(&[&["device", &port, "--json", "watch", "--reports=2"], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let count = |event: &str| ran.json().iter().filter(|it| it["event"] == event).count();
        let pending = ran.json().last().unwrap()["pending"].as_u64().unwrap();
        (count("alarm"), count("fault"), count("report"), pending)
    };
    let (alarms, faults, reports, pending) = watch(&[]);
    assert!(alarms > 0);
    assert_eq!((alarms as u64, faults, reports), (pending, 1, 2));
    assert_eq!(watch(&["--acknowledge"]), (alarms, 1, 2, 0));
    assert_eq!(watch(&[]), (0, 1, 2, 0));
    stop.store(true, Ordering::Relaxed);
    board.join().unwrap();
}

#[test]
fn alarms_are_acknowledged_up_to_a_row_or_all() {
    let socket = directory("device_acknowledge").join("line");
    let stop = Arc::new(AtomicBool::new(false));
    let board = alarmed(&socket, Arc::clone(&stop));
    let port = format!("unix:{}", socket.display());
    let device = |arguments: &[&str]| fastmmd(&[&["device", &port, "--json"], arguments].concat());
    let waiting = device(&["status"]).json()[0]["pending"].as_u64().unwrap();
    assert!(waiting > 0);
    // A row before the first of them.
    assert_eq!(device(&["acknowledge", "--row=1"]).json()[0]["pending"], waiting);
    for _ in 0..2 {
        let said = &device(&["acknowledge"]).json()[0];
        assert_eq!((&said["event"], &said["pending"]), (&"report".into(), &0.into()));
        // It still differs.
        assert_eq!(said["stage"], "drift");
    }
    stop.store(true, Ordering::Relaxed);
    board.join().unwrap();
}
