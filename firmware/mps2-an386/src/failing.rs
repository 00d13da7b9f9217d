//! A failure of the bus that a test asked for, kept while the board restarts: to show what a board does
//! whose bus fails while it starts.

use board_common::RetainedWords;
use drift_app::message::Failure;

/// Tells what was kept from what the RAM holds by chance.
const MARK: u32 = 0x4641_494C;

// SAFETY: the start-up code does not touch this section.
#[unsafe(link_section = ".uninit.FAILING")]
static FAILING: RetainedWords<2> = RetainedWords::new();

/// Keeps what fails until the next start.
pub(crate) fn keep((address, transactions, kind): (u8, u16, Failure)) {
    let [low, high] = transactions.to_le_bytes();
    let word = u32::from_le_bytes([address, low, high, kind.code()]);
    FAILING.write([word, word ^ MARK]);
}

/// What was kept, once.
pub(crate) fn take() -> Option<(u8, u16, Failure)> {
    let [word, check] = FAILING.read();
    FAILING.write([0; 2]);
    let [address, low, high, kind] = word.to_le_bytes();
    let kind = Failure::from_code(kind).filter(|_| word ^ check == MARK)?;
    Some((address, u16::from_le_bytes([low, high]), kind))
}
