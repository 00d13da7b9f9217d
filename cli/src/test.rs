//! stub
pub(crate) fn run(_: &crate::args::TestArguments) -> Result<bool, crate::fault::Fault> {
    Ok(false)
}
