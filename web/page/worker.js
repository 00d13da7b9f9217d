// Reads and watches logs, so that the page stays responsive. Answers carry the number of the question.
"use strict";
importScripts("fastmmd.js", "chart.js");

/** Least time between two messages about progress, in milliseconds. */
const BETWEEN = 50;

const ready = wasm_bindgen({ module_or_path: "fastmmd_bg.wasm" });
/** @type {any} */
let log = null;
/** Questions are answered one after the other. @type {Promise<void>} */
let turn = Promise.resolve();

/** @param {any} question */
async function answer({ id, what, name, blob, look, options }) {
  let told = 0;
  const tell = (/** @type {number} */ progress) => {
    const now = performance.now();
    if (now - told < BETWEEN) return;
    told = now;
    postMessage({ id, progress });
  };
  try {
    await ready;
    if (what === "open") {
      log?.free();
      log = blob === null ? wasm_bindgen.Log.demo() : new wasm_bindgen.Log(name, new Uint8Array(await blob.arrayBuffer()));
      postMessage(look ? { id, looked: log.look({ tell }) } : { id });
      return;
    }
    const watched = log.watch(options, { tell });
    const [results, reference] = [unpacked(watched.results()), watched.reference()];
    watched.free();
    const moved = [...results.low, ...(results.high ?? []), results.ratios].map((list) => list.buffer);
    postMessage({ id, results, reference }, moved);
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

onmessage = (event) => { turn = turn.then(() => answer(event.data)); };
