//! The store over a simulated chip.

use super::*;
use crate::bus::FaultyBus;
use crate::message::Failure;
use crate::testing::{Noise, World};
use std::vec;
use std::vec::Vec;

fn state(seed: u64, length: usize) -> Vec<u8> {
    let mut noise = Noise::new(seed);
    (0..length).map(|_| noise.byte()).collect()
}

fn loaded(world: &mut World) -> Option<Vec<u8>> {
    let mut room = vec![0; MAX_STATE_BYTES];
    let found = Store::new().load(world, &mut room).unwrap()?;
    room.truncate(found.length);
    Some(room)
}

#[test]
fn empty_and_foreign_chips_hold_nothing() {
    let mut world = World::new();
    assert_eq!(loaded(&mut world), None);
    world.eeprom = state(9, 32768);
    assert_eq!(loaded(&mut world), None);
}

#[test]
fn the_newest_of_many_comes_back_with_a_busy_chip() {
    let mut world = World::new();
    world.busy_after_write = 40;
    let mut store = Store::new();
    for length in [0, 1, 63, 64, 65, 5000, MAX_STATE_BYTES, 12] {
        let bytes = state(length as u64, length);
        store.save(&mut world, &bytes).unwrap();
        assert_eq!(loaded(&mut world), Some(bytes));
    }
    let pages = usize::from(HEADERS) + MAX_STATE_BYTES / PAGE_BYTES + SPARES;
    assert_eq!(pages * PAGE_BYTES, 1 << 14, "a slot");
    let too_long = vec![0; MAX_STATE_BYTES + 1];
    assert_eq!(store.save(&mut world, &too_long), Err(TOO_LONG));
}

#[test]
fn sequence_numbers_wrap() {
    assert!(newer(1, 0) && newer(0, u32::MAX) && !newer(u32::MAX, 0) && !newer(4, 4));
    let mut world = World::new();
    let mut store = Store::new();
    store.newest = Some(Newest { slot: Slot::Second, sequence: u32::MAX - 2 });
    store.looked = true;
    for number in 0..6 {
        let bytes = state(number, 100);
        store.save(&mut world, &bytes).unwrap();
        assert_eq!(loaded(&mut world), Some(bytes));
    }
}

/// The EEPROM loses power after each possible byte of a save.
#[test]
fn a_power_cut_at_any_byte_leaves_the_older_or_the_newer_state() {
    let (older, newer) = (state(1, 700), state(2, 650));
    let mut before = World::new();
    let mut store = Store::new();
    store.save(&mut before, &state(0, 700)).unwrap();
    store.save(&mut before, &older).unwrap();
    let all = newer.len() + HEADER_BYTES;
    let mut newer_seen = 0;
    for written in 0..=all {
        let mut world = World::new();
        world.eeprom.clone_from(&before.eeprom);
        world.power = Some(written);
        // A new store, as after a restart, must find the right slot by itself.
        let saved = Store::new().save(&mut world, &newer);
        world.power = None;
        let found = loaded(&mut world).unwrap();
        if found == newer {
            newer_seen += 1;
        } else {
            assert_eq!(found, older, "cut after {written} bytes");
            assert!(saved.is_err(), "cut after {written} bytes");
        }
        // And the next save works.
        Store::new().save(&mut world, b"next").unwrap();
        assert_eq!(loaded(&mut world).unwrap(), b"next");
    }
    assert!((1..=3).contains(&newer_seen), "{newer_seen}");
}

/// If any one page is corrupted, the other slot is still good, and a newer state that is lost is said
/// to be.
#[test]
fn a_rotten_page_costs_at_most_the_newest_state_and_is_reported() {
    let (older, newer) = (state(1, 700), state(2, 650));
    let mut good = World::new();
    let mut store = Store::new();
    // All header pages have been used.
    for number in 0..8 {
        store.save(&mut good, &state(number, 700)).unwrap();
    }
    store.save(&mut good, &older).unwrap();
    store.save(&mut good, &newer).unwrap();
    let mut fallen = 0;
    for page in 0..512 {
        for flip in [0xFF, 1] {
            let mut world = World::new();
            world.eeprom.clone_from(&good.eeprom);
            for byte in &mut world.eeprom[page * 64..page * 64 + 1 + usize::from(flip) / 5] {
                *byte ^= flip;
            }
            let mut room = vec![0; MAX_STATE_BYTES];
            let found = Store::new().load(&mut world, &mut room).unwrap().unwrap();
            room.truncate(found.length);
            if room == older {
                assert_eq!(found.newer, Some(FaultKind::Damaged), "page {page}: a silent rollback");
                fallen += 1;
            } else {
                assert_eq!(room, newer, "page {page}");
            }
        }
    }
    assert_eq!(fallen, 2 * (11 + 1), "eleven pages of state and a header");
    let mut room = vec![0; MAX_STATE_BYTES];
    let found = Store::new().load(&mut good, &mut room).unwrap().unwrap();
    assert_eq!(found.newer, None, "control: nothing is damaged");
}

/// An interrupted save is no damage: nothing that was complete is lost.
#[test]
fn a_cut_in_the_midst_of_a_save_is_not_called_damage() {
    let mut world = World::new();
    let mut store = Store::new();
    for number in 0..9 {
        store.save(&mut world, &state(number, 700)).unwrap();
        let mut cut = World::new();
        cut.eeprom.clone_from(&world.eeprom);
        cut.power = Some(300);
        assert!(Store::new().save(&mut cut, &state(99, 700)).is_err());
        cut.power = None;
        let mut room = vec![0; MAX_STATE_BYTES];
        let found = Store::new().load(&mut cut, &mut room).unwrap().unwrap();
        assert_eq!(found.newer, None, "after {number}");
    }
}

#[test]
fn stuck_pages_are_replaced_until_there_are_no_spare_ones() {
    let length = 20 * 64;
    // Pages of the first slot's state, of its spares, and headers.
    for stuck in
        [vec![4], vec![4, 9, 23], vec![7, 255], vec![7, 255, 254], vec![0, 1], vec![0, 2, 5]]
    {
        let mut world = World::new();
        world.stuck.clone_from(&stuck);
        let mut store = Store::new();
        for number in 0..20 {
            let bytes = state(number, length);
            store.save(&mut world, &bytes).unwrap();
            assert_eq!(loaded(&mut world), Some(bytes), "{stuck:?}");
            // Also by one that has to find out.
            store = Store::new();
        }
    }
    for stuck in [(4..13).collect::<Vec<_>>(), vec![0, 1, 2, 3]] {
        let mut world = World::new();
        world.stuck = stuck;
        assert_eq!(Store::new().save(&mut world, &state(1, length)), Err(NOT_WRITTEN));
    }
}

/// The wear that [`Config::DEFAULT`](crate::Config::DEFAULT) speaks of.
#[test]
fn a_learning_writes_no_page_more_than_ten_times() {
    let mut world = World::new();
    let mut store = Store::new();
    // Every 512 samples of 8192, and what was learned twice.
    for number in 0..15 + 2 {
        store.save(&mut world, &state(number.min(15), 6396)).unwrap();
    }
    let most = *world.wear.iter().max().unwrap();
    assert!((8..=10).contains(&most), "{most}");
    let headers = [0, 1, 2, 3, 256, 257, 258, 259].map(|page| world.wear[page]);
    assert!(headers.iter().all(|writes| *writes <= 3), "{headers:?}");
    let before: u32 = world.wear.iter().sum();
    store.save(&mut world, &state(15, 6396)).unwrap();
    assert_eq!(world.wear.iter().sum::<u32>(), before + 1, "only the header is new");
}

#[test]
fn a_save_goes_page_by_page() {
    let mut world = World::new();
    world.busy_after_write = 40;
    let mut store = Store::new();
    let bytes = state(1, 6396);
    store.begin(&mut world, &bytes).unwrap();
    let mut steps = 0;
    while store.step(&mut world, &bytes).unwrap() == Step::Continue {
        assert!(store.is_saving());
        steps += 1;
    }
    // Compare, write, busy, compare for each of 101 pages.
    assert_eq!(steps, 101 * 43 - 1);
    assert_eq!((store.is_saving(), loaded(&mut world)), (false, Some(bytes)));
}

#[test]
fn single_errors_of_the_bus_are_overcome() {
    let mut bus = FaultyBus::new(World::new());
    bus.fail_next(0x50, 4, Failure::Bus);
    let mut store = Store::new();
    store.save(&mut bus, b"kept").unwrap();
    bus.fail_next(0x50, 4, Failure::Bus);
    let found = Store::new().load(&mut bus, &mut [0; 8]).unwrap();
    assert_eq!(found, Some(Loaded { length: 4, newer: None }));
    bus.fail_next(0x50, 5, Failure::Bus);
    let broken = Fault::new(Device::Store, FaultKind::Bus);
    assert_eq!(Store::new().load(&mut bus, &mut [0; 8]), Err(broken));
    bus.fail_next(0x50, 5, Failure::Bus);
    assert_eq!(Store::new().save(&mut bus, b"lost"), Err(broken));
    assert_eq!(loaded(bus.inner()), Some(b"kept".to_vec()));
}

#[test]
fn a_write_protected_chip_is_noticed_and_keeps_its_state() {
    let mut world = World::new();
    let mut store = Store::new();
    store.save(&mut world, b"kept").unwrap();
    world.write_protected = true;
    assert_eq!(store.save(&mut world, b"lost"), Err(NOT_WRITTEN));
    assert_eq!(loaded(&mut world).unwrap(), b"kept");
    world.write_protected = false;
    store.save(&mut world, b"later").unwrap();
    assert_eq!(loaded(&mut world).unwrap(), b"later");
}

/// Both copies have lost a byte: that is told, and what is saved then is the newest again.
#[test]
fn damage_to_both_slots_is_a_fault() {
    let mut world = World::new();
    let mut store = Store::new();
    for number in 0..9 {
        store.save(&mut world, &state(number, 700)).unwrap();
    }
    for slot in [0, 1 << 14] {
        world.eeprom[slot + 300] ^= 1;
    }
    let damaged = Fault::new(Device::Store, FaultKind::Damaged);
    assert_eq!(Store::new().load(&mut world, &mut [0; 700]), Err(damaged));
    Store::new().save(&mut world, b"new").unwrap();
    assert_eq!(loaded(&mut world), Some(b"new".to_vec()));
}

#[test]
fn an_absent_chip_is_a_fault() {
    let mut world = World::new();
    world.power = Some(0);
    let absent = Fault::new(Device::Store, FaultKind::NoAcknowledge);
    assert_eq!(Store::new().load(&mut world, &mut [0; 8]), Err(absent));
    assert_eq!(Store::new().save(&mut world, b"lost"), Err(absent));
}

/// A page of one slot is worn out: that slot uses a spare one from then on, also after a start, and the other slot
/// its own page.
#[test]
fn a_spare_page_is_used_by_its_slot_alone() {
    let (page, second) = (6, 256);
    let mut world = World::new();
    world.stuck = std::vec![page];
    let mut room = [0; 400];
    let mut store = Store::new();
    store.save(&mut world, &[1; 400]).unwrap();
    let tried = world.wear[page];
    assert!(tried > 0);
    for number in 2..10 {
        if number == 6 {
            store = Store::new();
            store.load(&mut world, &mut room).unwrap();
        }
        store.save(&mut world, &[number; 400]).unwrap();
        assert_eq!(store.sequence(), u32::from(number));
        assert_eq!(world.wear[page], tried, "tried again at save {number}");
    }
    assert_eq!(world.wear[second + page], 4);
    Store::new().load(&mut world, &mut room).unwrap();
    assert_eq!(room, [9; 400]);
}

#[cfg(feature = "secure")]
#[test]
fn a_forged_state_is_said_before_a_damaged_one_and_forgiven_only_when_told() {
    static KEY: Key = Key::new([9; 32]);
    let sealed = || Store::sealed(Some(&KEY), None);
    let mut world = World::new();
    let mut store = sealed();
    let mut room = [0; 400];
    for number in [1, 2] {
        store.save(&mut world, &[number; 400]).unwrap();
    }
    // In the seal of the newest, behind its header.
    let second = 1 << 14;
    world.eeprom[second + PAGE_BYTES + HEADER_BYTES + 3] ^= 1;
    let forged = world.eeprom.clone();
    let mut store = sealed();
    let found = store.load(&mut world, &mut room).unwrap().unwrap();
    assert_eq!((found.newer, room), (Some(FaultKind::Forged), [1; 400]));
    // With a good one in the other slot, it may be written over.
    assert_eq!(store.save(&mut world, &[3; 400]), Ok(()));
    world.eeprom = forged;
    // In the older state.
    world.eeprom[usize::from(HEADERS) * PAGE_BYTES + 5] ^= 1;
    let mut store = sealed();
    let refused = Err(Fault::new(Device::Store, FaultKind::Forged));
    assert_eq!(store.load(&mut world, &mut room).map(|_| ()), refused);
    assert_eq!(store.save(&mut world, &[3; 400]), refused);
    store.forgive();
    assert_eq!(store.save(&mut world, &[3; 400]), Ok(()));
}
