//! Saves and restores a learned state, as for a power cut; damaged bytes are refused.

use fastmmd::{Error, Fastfood, Kernel, Profile, Recipe, TwoSample};

fn main() -> Result<(), Error> {
    let kernel = Kernel::new(Profile::Matern52, 2.0)?;
    let map = Fastfood::<6, 8, 64>::new(kernel, 42)?;
    let mut before = TwoSample::new(&map);
    for step in 0..300_u16 {
        let phase = f32::from(step) * 0.1;
        before.push_p(&[0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|shift| (phase + shift).sin()))?;
        before.push_q(&[0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|shift| 0.5 * (phase - shift).sin()))?;
    }
    let mut flash = [0; TwoSample::<Fastfood<6, 8, 64>>::SAVED_BYTES];
    before.save(&mut flash)?;
    println!("saved {} bytes, MMD² = {:.5}", flash.len(), before.mmd2_unbiased()?);

    // After the reset: the record contains the recipe of its map, which is drawn again.
    let recipe = Recipe::restore(&flash)?;
    println!("they were made with {:?}, seed {}", recipe.kind, recipe.seed);
    let map = Fastfood::<6, 8, 64>::from_recipe(&recipe)?;
    let mut after = TwoSample::new(&map);
    after.restore(&flash)?;
    assert_eq!((after.p(), after.q()), (before.p(), before.q()));
    println!("restored,         MMD² = {:.5}", after.mmd2_unbiased()?);

    // An incomplete write is detected, and the state in RAM stays as it was.
    flash[100] ^= 1;
    let refused = after.restore(&flash);
    assert_eq!(refused, Err(Error::ChecksumMismatch));
    assert_eq!(after.p(), before.p());
    println!("one bit changed:  {}", Error::ChecksumMismatch);
    Ok(())
}
