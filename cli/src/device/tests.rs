//! A host whose device restarts.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::*;
use drift_app::guard::Guard;
use drift_app::message::Start;
use drift_app::profile::{BoardDetector, ONE_CHANNEL, RECORDING};
use fastmmd::monitor::Monitor as _;

const BYTES: [u8; 32] = [0xAB; 32];
static KEY: Key = Key::new(BYTES);

/// A board with a key that only answers.
struct Board {
    guard: Guard,
    nonce: u64,
    decoder: Decoder,
    outgoing: VecDeque<u8>,
    /// Commands that it executed.
    executed: Vec<Command>,
}

impl Board {
    fn new() -> Self {
        let (guard, nonce) = (Guard::new(Some(&KEY), Some(1)), 1);
        let (decoder, outgoing, executed) = (Decoder::new(), VecDeque::new(), Vec::new());
        Self { guard, nonce, decoder, outgoing, executed }
    }

    /// Draws another nonce, and says that it started, unless that is lost on the line.
    fn restart(&mut self, is_heard: bool) {
        self.nonce += 1;
        self.guard = Guard::new(Some(&KEY), Some(self.nonce));
        if is_heard {
            let (origin, start) = (Origin::Memory, Start::UNKNOWN);
            self.send(Call::NONE, &Message::Boot { origin, channels: 1, start });
        }
    }

    fn send(&mut self, call: Call, message: &Message<'_>) {
        let (kind, payload) = message.encode();
        let frame = Frame { kind, call, payload: payload.as_slice() };
        let Ok(()) = frame::encode(&frame, |byte| {
            self.outgoing.push_back(byte);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    fn take(&mut self, byte: u8) {
        let Some(Ok(frame)) = self.decoder.push(byte) else { return };
        let call = frame.call;
        match self.guard.pass(&frame).and_then(|passed| passed.command()) {
            Ok(Command::Challenge) => self.send(call, &self.guard.challenge()),
            Ok(command) => {
                self.executed.push(command);
                let status = BoardDetector::<1>::new(&ONE_CHANNEL, RECORDING).unwrap().status();
                let report = Report { status, pending: 0, flags: 0, missed: 0 };
                self.send(call, &Message::Report(report));
                if self.executed.len() == 2 {
                    // One that nobody asked for.
                    self.send(Call::NONE, &Message::Report(report));
                }
            }
            Err(refusal) => self.send(call, &Message::Nack(refusal)),
        }
    }
}

/// The line to a board that the test holds, too.
struct Shared(Rc<RefCell<Board>>);

impl Read for Shared {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let byte = self.0.borrow_mut().outgoing.pop_front().ok_or(ErrorKind::WouldBlock)?;
        into[0] = byte;
        Ok(1)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        bytes.iter().for_each(|byte| self.0.borrow_mut().take(*byte));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn connected(key: Key) -> (Device, Rc<RefCell<Board>>) {
    let board = Rc::new(RefCell::new(Board::new()));
    let device = Device {
        port: "test".to_owned(),
        line: Box::new(Shared(Rc::clone(&board))),
        decoder: Decoder::new(),
        last: Call { session: 9, tag: 0 },
        key: Some(key),
        challenge: None,
        started: false,
        events: Vec::new(),
        told: Told::default(),
    };
    (device, board)
}

#[test]
fn sealed_commands_go_on_when_the_device_restarts() {
    let (mut device, board) = connected(Key::new(BYTES));
    let mut expected = Vec::new();
    for (row, is_heard) in [(1, true), (2, true), (3, false), (4, false)] {
        let command = Command::Acknowledge { row };
        assert!(matches!(device.ask(&command), Ok(Answer::Report(_))), "{row}");
        expected.push(command);
        assert_eq!(board.borrow().executed, expected, "each once");
        board.borrow_mut().restart(is_heard);
    }
}

/// Who hears of the start does not try the old nonce, which the board would count as an attack.
#[test]
fn a_start_that_is_heard_makes_the_host_ask_anew() {
    let (mut device, board) = connected(Key::new(BYTES));
    device.report_of(&Command::Acknowledge { row: 1 }).unwrap();
    board.borrow_mut().restart(true);
    let soon = Instant::now() + Duration::from_millis(20);
    assert!(matches!(device.hear(soon), Ok(Some((_, Heard::Event(Event::Boot(..)))))));
    device.report_of(&Command::Acknowledge { row: 2 }).unwrap();
    let answer = device.ask(&Command::Challenge);
    assert!(matches!(answer, Ok(Answer::Challenge { refused: 0, .. })));
}

#[test]
fn another_key_stays_refused() {
    let (mut device, board) = connected(Key::new([0xAC; 32]));
    for _ in 0..2 {
        let answer = device.ask(&Command::Relearn);
        assert!(matches!(answer, Ok(Answer::Refused(Refusal::Forged))));
    }
    assert_eq!(board.borrow().executed, []);
}

/// What the host configured is over with a restart: it says it again.
#[test]
fn reports_are_asked_for_again_after_a_restart() {
    let (mut device, board) = connected(Key::new(BYTES));
    board.borrow_mut().restart(true);
    // It ends with the report that follows the second command.
    device.watch(5, Some(1), false, true).unwrap();
    assert_eq!(board.borrow().executed, [Command::Configure { report_every: 5 }; 2]);
}
