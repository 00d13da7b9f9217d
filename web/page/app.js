// The page: opens logs, holds the settings, and has a worker do the work. In a report, which has
// results inside and no worker, it only shows them.
"use strict";

/** Work that takes longer than this is shown, in milliseconds. */
const SOON = 150;
/** A run that has taken longer than this is given up when settings change. */
const LONG = 400;

/**
 * What `fastmmd look --json` prints, with its lines.
 * @typedef {{ rows: number, bad_lines: number, learn: number | null, period: number | null,
 *   lines: string[], time: { rate: number | null } | null,
 *   columns: { name: string, role: string, watched: boolean, label: boolean }[] }} Look
 */

class App {
  constructor() {
    this.view = new View((rows, done) => this.dragged(rows, done));
    /** @type {{ name: string, blob: Blob | null } | null} */
    this.log = null;
    /** @type {Look | null} */
    this.look = null;
    /** @type {Worker | null} */
    this.worker = null;
    /** The number of the last message sent; earlier answers are old. */
    this.asked = 0;
    /** When the worker began what it does now. @type {number | null} */
    this.busy = null;
    /** Whether settings have changed since. */
    this.changed = false;
    this.timer = 0;
    const file = /** @type {HTMLInputElement} */ (element("file"));
    file.addEventListener("change", () => { if (file.files?.[0]) this.open(file.files[0].name, file.files[0]); });
    element("demo").addEventListener("click", () => this.open("pump.csv", null));
    this.listen();
  }

  /** @param {string} id @returns {HTMLInputElement} */
  input(id) { return element(id); }

  listen() {
    const body = document.body;
    body.addEventListener("dragover", (event) => { event.preventDefault(); body.classList.add("drop"); });
    body.addEventListener("dragleave", (event) => { if (!event.relatedTarget) body.classList.remove("drop"); });
    body.addEventListener("drop", (event) => {
      event.preventDefault();
      body.classList.remove("drop");
      const file = event.dataTransfer?.files[0];
      if (file) this.open(file.name, file);
    });
    const pairs = /** @type {[string, (value: number) => void][]} */ ([
      ["learn", (value) => this.set_learn(value)],
      ["learn-range", (value) => this.set_learn(value)],
      ["promise-range", (value) => this.set_promise(Number((10 ** value).toPrecision(2)))],
      ["promise", (value) => this.set_promise(value)],
    ]);
    for (const [id, set] of pairs) {
      this.input(id).addEventListener("input", () => { set(this.input(id).valueAsNumber); this.change(); });
    }
    for (const id of ["period", "features"]) element(id).addEventListener("input", () => this.change());
    element("channels").addEventListener("change", () => this.change());
    element("promise-default").addEventListener("click", () => { this.input("promise").value = ""; this.change(); });
  }

  /** @param {number} rows */
  set_learn(rows) {
    for (const id of ["learn", "learn-range"]) {
      if (document.activeElement !== this.input(id)) this.input(id).value = String(rows);
    }
  }

  /** @param {number} rows */
  set_promise(rows) {
    if (document.activeElement !== this.input("promise")) this.input("promise").value = String(rows);
    if (rows > 0 && document.activeElement !== this.input("promise-range")) {
      this.input("promise-range").value = String(Math.log10(rows));
    }
  }

  /** @param {number} rows @param {boolean} done */
  dragged(rows, done) {
    const most = this.look ? this.look.rows : rows;
    this.set_learn(Math.min(Math.max(rows, 256), most));
    if (done || (this.busy === null && this.look && this.look.rows <= 50_000)) this.change();
  }

  // The worker.

  start() {
    this.worker?.terminate();
    this.worker = new Worker("worker.js");
    this.worker.onmessage = (event) => this.answered(event.data);
    this.worker.onerror = (event) => this.fail(event.message || "the worker could not be started");
  }

  /** @param {Record<string, unknown>} message */
  ask(message) {
    this.asked += 1;
    this.busy = performance.now();
    this.worker?.postMessage({ ...message, id: this.asked });
  }

  /** @param {string} name @param {Blob | null} blob */
  open(name, blob) {
    this.log = { name, blob };
    this.look = null;
    this.changed = false;
    element("main").hidden = true;
    element("error").hidden = true;
    this.start();
    this.ask({ what: "open", name, blob, look: true });
    this.say(`reading ${name}`);
  }

  /** Settings have changed. */
  change() {
    if (!this.look || !this.log) return;
    if (this.busy === null) return this.watch();
    this.changed = true;
    if (performance.now() - this.busy > LONG) {
      this.start();
      this.ask({ what: "open", ...this.log, look: false });
      this.watch();
    }
  }

  watch() {
    this.changed = false;
    this.ask({ what: "watch", options: JSON.stringify(this.options()) });
    this.say("watching");
  }

  options() {
    const look = /** @type {Look} */ (this.look);
    const boxes = /** @type {HTMLInputElement[]} */ ([...element("channels").querySelectorAll("input")]);
    const usual = boxes.every((box) => box.checked === (box.dataset.watched === "true"));
    const names = look.columns.map((column) => column.name);
    // A name that stands for two columns, or that has a comma, cannot be given: its number can.
    const given = (/** @type {number} */ at) => {
      const plain = !names[at].includes(",") && names.indexOf(names[at]) === names.lastIndexOf(names[at]) && names[at] !== "";
      return plain ? names[at] : String(at + 1);
    };
    return {
      learn: this.input("learn").value,
      mean_time_between_false_alarms: this.input("promise").value,
      period: this.input("period").value,
      features: Number(this.input("features").value),
      skip_bad: look.bad_lines,
      columns: usual ? null : boxes.filter((box) => box.checked).map((box) => given(Number(box.value))),
    };
  }

  /** @param {any} answer */
  answered(answer) {
    if (answer.progress !== undefined) {
      this.progress(answer.progress);
      return;
    }
    if (answer.id !== this.asked) return;
    this.busy = null;
    this.hush();
    if (answer.error !== undefined) this.fail(answer.error);
    else if (answer.looked !== undefined) this.looked(JSON.parse(answer.looked));
    else if (answer.results !== undefined) this.watched(answer.results, answer.reference);
    if (this.changed) this.change();
  }

  /** @param {Look} look */
  looked(look) {
    this.look = look;
    this.view.looked({ lines: look.lines, rate: look.time?.rate ?? null });
    element("channels").replaceChildren(element("channels").children[0], ...look.columns.flatMap((column, at) => {
      if (column.role === "the time" || column.role === "empty") return [];
      const [label, box] = [document.createElement("label"), document.createElement("input")];
      box.type = "checkbox";
      box.value = String(at);
      box.dataset.watched = String(column.watched);
      box.checked = column.watched && !column.label;
      const about = column.label ? " (a label?)" : column.watched ? "" : ` (${column.role})`;
      label.append(box, ` ${column.name}${about}`);
      return [label];
    }));
    const learn = look.learn ?? Math.floor(look.rows / 2);
    this.input("learn-range").min = "256";
    this.input("learn-range").max = String(Math.max(Math.floor(0.8 * look.rows), 256));
    this.input("learn").value = this.input("learn-range").value = String(learn);
    this.input("promise").value = "";
    this.input("period").value = look.period ? String(look.period) : "";
    this.watch();
  }

  /** @param {Results} results @param {Uint8Array} reference */
  watched(results, reference) {
    element("error").hidden = true;
    const promise = results.summary.mean_time_between_false_alarms;
    this.input("promise").placeholder = String(promise);
    if (this.input("promise").value === "") this.input("promise-range").value = String(Math.log10(promise));
    const rate = this.look?.time?.rate;
    element("learn-time").textContent = rate ? `(${lasting(results.learn / rate)})` : "";
    element("promise-time").textContent = rate ? `(${lasting(promise / rate)})` : "";
    this.view.show(results, reference);
  }

  // What is said.

  /** @param {string} what */
  say(what) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      element("status-text").textContent = what;
      element("status").hidden = false;
    }, SOON);
  }

  /** @param {number} part */
  progress(part) { /** @type {HTMLProgressElement} */ (element("progress")).value = part; }

  hush() {
    clearTimeout(this.timer);
    element("status").hidden = true;
    this.progress(0);
  }

  /** @param {string} why */
  fail(why) {
    this.busy = null;
    this.hush();
    element("error").textContent = why;
    element("error").hidden = false;
    // What is to take along belongs to settings that are no longer shown.
    this.view.stale();
  }
}

/** Shows the results in a report. @param {Results} results */
function report(results) {
  document.body.classList.add("report");
  document.title = `${results.log}: fastmmd`;
  element("made-by").textContent = results.command;
  const view = new View(null);
  element("look-part").hidden = !results.look;
  if (results.look) view.looked(results.look);
  view.show(results, null);
}

const inside = document.getElementById("results");
/** None in a report. */
const app = inside?.textContent ? null : new App();
if (inside?.textContent) report(unpacked(inside.textContent));
