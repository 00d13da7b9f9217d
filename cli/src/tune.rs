//! stub
pub(crate) fn run(_: &crate::args::TuneArguments) -> Result<(), crate::fault::Fault> {
    Ok(())
}
