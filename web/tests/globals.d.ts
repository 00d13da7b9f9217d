/** Made by wasm-bindgen, in `fastmmd.js`. */
declare const wasm_bindgen: any;
/** Of workers. */
declare function importScripts(...files: string[]): void;
declare function postMessage(message: unknown, moved?: Transferable[]): void;
