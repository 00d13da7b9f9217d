//! States that no board has lived long enough to save, for tests.

use fastmmd::state::checksum;

/// Makes a saved state say that it has seen `rows` rows, and not `now`. The number is looked for in its
/// bytes, since only the core knows where it is: it is where `is_it` says that the state is now the one
/// wanted. Returns whether it was found; else the state is as it was.
pub fn count(state: &mut [u8], now: u64, rows: u64, is_it: impl Fn(&[u8]) -> bool) -> bool {
    for at in 0..state.len().saturating_sub(size_of::<u64>()) {
        if exchange(state, at, now, rows) {
            if is_it(state) {
                return true;
            }
            exchange(state, at, rows, now);
        }
    }
    false
}

/// Puts `new` in the place of `old` and mends the checksum; whether `old` was there.
fn exchange(state: &mut [u8], at: usize, old: u64, new: u64) -> bool {
    let Some((body, sum)) = state.split_last_chunk_mut() else { return false };
    let place = body.get_mut(at..).and_then(|rest| rest.first_chunk_mut());
    let Some(place) = place.filter(|place| **place == old.to_le_bytes()) else { return false };
    *place = new.to_le_bytes();
    *sum = checksum(0, body).to_le_bytes();
    true
}
