//! Passes arbitrary bytes to the decoder of the link: each frame is a command or a message that encodes to
//! the same frame, or neither.

#![no_main]

use drift_app::frame::{self, Decoder, Frame, MAX_RAW};
use drift_app::message::{Command, Message, Payload};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::<MAX_RAW>::new();
    for byte in bytes {
        if let Some(Ok(frame)) = decoder.push(*byte) {
            comes_back(&frame);
        }
    }
    // A fuzzer rarely guesses a checksum: the same bytes as kind and payload.
    if let Some((kind, payload)) = bytes.split_first() {
        let call = frame::Call { session: 1, tag: 2 };
        let whole = Frame { kind: *kind, call, payload };
        let mut line = Vec::new();
        let _ = frame::encode(&whole, |byte| {
            line.push(byte);
            Ok::<(), ()>(())
        });
        let mut decoder = Decoder::<MAX_RAW>::new();
        let arrived = line.iter().any(|byte| match decoder.push(*byte) {
            Some(Ok(frame)) => {
                comes_back(&frame);
                frame == whole
            }
            _ => false,
        });
        assert_eq!(arrived, payload.len() <= frame::MAX_PAYLOAD);
    }
});

fn comes_back(frame: &Frame<'_>) {
    let same = |(kind, payload): (u8, Payload)| {
        assert_eq!((kind, payload.as_slice()), (frame.kind, frame.payload));
    };
    if let Some(command) = Command::decode(frame.kind, frame.payload) {
        same(command.encode());
    }
    if let Some(message) = Message::decode(frame.kind, frame.payload) {
        same(message.encode());
    }
}
