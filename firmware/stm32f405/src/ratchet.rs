//! A counter in the registers that the battery keeps (VBAT). Without a battery it is lost when the power is
//! cut, and reads 0.

use stm32f4xx_hal::pac::{PWR, RCC, RTC};

/// Makes the registers writable.
pub(crate) fn enable(rcc: &RCC, power: &PWR) {
    rcc.apb1enr().modify(|_, register| register.pwren().set_bit());
    power.cr().modify(|_, register| register.dbp().set_bit());
}

/// Raises the counter to at least this number, and returns it; see
/// [`Ratchet`](drift_app::store::Ratchet).
pub(crate) fn ratchet(number: u32) -> u32 {
    // SAFETY: nothing else uses the backup registers, and they have no effect on the clock they are beside.
    let registers = unsafe { &*RTC::ptr() };
    let [kept, check] = [0, 1].map(|at| registers.bkpr(at).read().bits());
    let kept = if check == !kept { kept } else { 0 };
    let ahead = number.wrapping_sub(kept);
    if number == 0 || ahead == 0 || ahead >= 1 << 31 {
        return kept;
    }
    for (at, bits) in [(0, number), (1, !number)] {
        // SAFETY: any bits may be written.
        registers.bkpr(at).write(|register| unsafe { register.bits(bits) });
    }
    number
}
