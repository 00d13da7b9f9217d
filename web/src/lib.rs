//! The page's worker calls this: `fastmmd_cli::page` for JavaScript.

use fastmmd_cli::page;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// An object of JavaScript that is told how much is done.
    pub type Listener;

    /// Called with the part that is done, from 0 to 1.
    #[wasm_bindgen(method)]
    fn tell(this: &Listener, part: f64);
}

/// A log in memory.
#[wasm_bindgen]
pub struct Log(page::Log);

/// What was found in a log.
#[wasm_bindgen]
pub struct Watched(page::Watched);

#[wasm_bindgen]
impl Log {
    /// The content of a file.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, bytes: Vec<u8>) -> Self {
        Self(page::Log::new(name, bytes))
    }

    /// The synthetic log of `fastmmd demo`.
    pub fn demo() -> Self {
        Self(page::Log::demo())
    }

    /// What `fastmmd look --json` prints; `listener` is told the part that is done.
    pub fn look(&self, listener: &Listener) -> Result<String, JsError> {
        self.0.look(&mut |part| listener.tell(part)).map_err(|why| JsError::new(&why))
    }

    /// Runs the detector over the log, with options as JSON.
    pub fn watch(&self, options: &str, listener: &Listener) -> Result<Watched, JsError> {
        let watched = self.0.watch(options, &mut |part| listener.tell(part));
        watched.map(Watched).map_err(|why| JsError::new(&why))
    }
}

#[wasm_bindgen]
impl Watched {
    /// Results as JSON.
    pub fn results(&self) -> String {
        self.0.results.clone()
    }

    /// What was learned, as `fastmmd export` writes it.
    pub fn reference(&self) -> Vec<u8> {
        self.0.reference.clone()
    }
}
