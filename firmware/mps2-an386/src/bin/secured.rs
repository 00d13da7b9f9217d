//! `drift`, with commands and saved states that are sealed.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use drift_app::guard::Guard;
use drift_app::profile::TEST_KEY;
use drift_app::store::Store;

#[entry]
fn main() -> ! {
    let guard = Guard::new(Some(&TEST_KEY), mps2_an386::nonce());
    mps2_an386::drift::run(Store::sealed(Some(&TEST_KEY), None), guard)
}
