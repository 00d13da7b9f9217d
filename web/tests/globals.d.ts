/** Made by wasm-bindgen, in `fastmmd.js`. */
declare const wasm_bindgen: any;
