// Shows results in the page: in words, as tables, as text to take along.
"use strict";

/** Chips: their core in the instruction budget, and their RAM in bytes. */
const CHIPS = [
  { name: "STM32F405", core: "m4f", ram: 192 * 1024 },
  { name: "nRF52833 (micro:bit v2)", core: "m4f", ram: 128 * 1024 },
  { name: "STM32F767", core: "m7", ram: 512 * 1024 },
  { name: "STM32F103", core: "m3", ram: 20 * 1024 },
  { name: "RP2040 (Pico)", core: "m0", ram: 264 * 1024 },
  { name: "ESP32-C3", core: "rv32", ram: 400 * 1024 },
];
/** Seconds of a month: a twelfth of a year. */
const MONTH = 2_629_800;

/**
 * The element of this name, of which there is one.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return /** @type {T} */ (found);
}

/**
 * A number as people read it.
 * @param {number} value
 */
function readable(value) {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(2)).toString();
}

/**
 * A time in a unit that suits it.
 * @param {number} seconds
 */
function lasting(seconds) {
  const units = /** @type {[number, string][]} */ ([
    [365.25 * 86400, "years"], [86400, "days"], [3600, "hours"], [60, "minutes"], [1, "seconds"],
  ]);
  const [long, name] = units.find(([long]) => seconds >= 2 * long) ?? [1e-3, "milliseconds"];
  return `${readable(seconds / long)} ${name}`;
}

/**
 * Fills a table.
 * @param {string} id @param {(string | number | Node | null | undefined)[][]} rows
 */
function fill(id, rows) {
  const body = /** @type {HTMLTableSectionElement} */ (element(id).querySelector("tbody"));
  body.replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    for (const cell of cells) {
      const place = row.insertCell();
      place.append(cell instanceof Node ? cell : String(cell ?? "–"));
    }
    return row;
  }));
}

/** @param {string} log the name of a file @param {string} ending */
function named(log, ending) {
  const base = log.split(/[\\/]/).at(-1) ?? "log";
  return base.replace(/\.(gz|zst)$/, "").replace(/\.[^.]*$/, "") + ending;
}

class View {
  /** @param {((rows: number, done: boolean) => void) | null} learn */
  constructor(learn) {
    this.charts = new Charts(element("charts"), (text) => { element("readout").textContent = text; }, learn);
    /** @type {Results | null} */
    this.results = null;
    /** @type {Uint8Array | null} */
    this.reference = null;
    /** @type {Map<string, string>} The thresholds of the last results, by statistic, channel and rows. */
    this.thresholds = new Map();
    const chip = /** @type {HTMLSelectElement} */ (element("chip"));
    chip.replaceChildren(...CHIPS.map((it) => new Option(it.name)));
    chip.addEventListener("change", () => this.cost());
    element("rate").addEventListener("input", () => this.cost());
    element("tools").addEventListener("click", (event) => this.tool(event));
    element("save-settings").addEventListener("click", () => {
      this.save(named(this.results?.log ?? "log", ".toml"), this.results?.settings ?? "");
    });
    element("save-reference").addEventListener("click", () => {
      if (this.reference) this.save("reference.bin", this.reference);
    });
  }

  /** @param {MouseEvent} event */
  tool(event) {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    /** @type {Record<string, () => void>} */
    const does = {
      in: () => this.charts.zoom(2), out: () => this.charts.zoom(0.5),
      left: () => this.charts.pan(-0.5), right: () => this.charts.pan(0.5),
      all: () => this.charts.all(), next: () => this.charts.next(),
    };
    does[button?.dataset.do ?? ""]?.();
  }

  /** @param {string} name @param {string | Uint8Array} content */
  save(name, content) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (content)]));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** @param {{ lines: string[], rate: number | null }} look */
  looked(look) {
    this.thresholds.clear();
    element("look").textContent = look.lines.join("\n");
    const rate = /** @type {HTMLInputElement} */ (element("rate"));
    rate.value = look.rate ? String(Number(look.rate.toPrecision(6))) : "";
  }

  /** @param {Results} results @param {Uint8Array | null} reference */
  show(results, reference) {
    this.results = results;
    this.reference = reference;
    this.offer(true);
    const [verdict, ...lines] = results.lines;
    element("verdict").textContent = verdict;
    element("verdict").className = results.summary.drift ? "drift" : "healthy";
    const notes = [...results.warnings.map((line) => `note: ${line}`), ...lines];
    element("lines").replaceChildren(...notes.map((line) => {
      const item = document.createElement("li");
      item.textContent = line;
      return item;
    }));
    this.charts.show(results);
    element("resolution").textContent = results.length > 1
      ? `A point is the range of ${results.length.toLocaleString("en")} rows.` : "";
    this.alarms(results);
    const before = this.thresholds;
    this.thresholds = new Map();
    fill("legs", results.legs.map((leg) => {
      const name = [leg.leg, leg.channel_name ?? "all", leg.window];
      const [key, threshold] = [name.join(), short(leg.threshold ?? NaN)];
      this.thresholds.set(key, threshold);
      return [...name, short(leg.statistic ?? NaN), threshold, before.get(key), short(leg.ratio ?? NaN)];
    }));
    for (const part of /** @type {const} */ (["command", "settings", "rust"])) element(part).textContent = results[part];
    element("c").textContent = results.c ?? "";
    element("c-part").hidden = !results.c;
    this.cost();
    element("main").hidden = false;
    this.charts.redraw();
  }

  /** Nothing can be taken along: the last results are of other settings. */
  stale() {
    this.reference = null;
    this.offer(false);
  }

  /** @param {boolean} there whether there are files to take along */
  offer(there) {
    for (const id of ["save-reference", "save-settings"]) {
      /** @type {HTMLButtonElement} */ (element(id)).disabled = !there;
    }
  }

  /** @param {Results} results */
  alarms(results) {
    element("alarm-section").hidden = results.alarms.length === 0;
    fill("alarms", results.alarms.map((alarm) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = String(alarm.row);
      button.title = "Show it in the plots";
      button.addEventListener("click", () => {
        this.charts.look_at(alarm.row);
        element("charts").scrollIntoView({ block: "nearest" });
      });
      return [button, alarm.time, alarm.since_row, alarm.channel_name, alarm.change, alarm.leg,
        alarm.window || null, alarm.severity?.toFixed(2)];
    }));
    const missing = results.summary.alarms - results.alarms.length;
    if (missing > 0) {
      const row = /** @type {HTMLTableElement} */ (element("alarms")).tBodies[0].insertRow();
      const cell = row.insertCell();
      cell.colSpan = 8;
      cell.textContent = `and ${missing.toLocaleString("en")} more`;
    }
  }

  cost() {
    const results = this.results;
    if (!results) return;
    const chip = CHIPS[/** @type {HTMLSelectElement} */ (element("chip")).selectedIndex] ?? CHIPS[0];
    const rate = Number(/** @type {HTMLInputElement} */ (element("rate")).value);
    const core = results.cores.find((it) => it.core === chip.core);
    const ram = results.summary.ram_bytes;
    const promise = results.summary.mean_time_between_false_alarms;
    /** @type {[string, string][]} */
    const rows = [["RAM", `${ram.toLocaleString("en")} bytes, ${short((100 * ram) / chip.ram)} % of ${chip.ram / 1024} KB`]];
    if (core) {
      const about = core.measured ? "" : "about ";
      rows.push(["Instructions", `${about}${core.instructions.toLocaleString("en")} a row (${core.name}; counted in an emulator, from the bench budget)`]);
      if (rate > 0) rows.push(["", `${readable(core.instructions * rate)} a second`]);
      if (core.name.endsWith("integers")) {
        rows.push(["", "That is the detector in integers (fixed::Fourier, or fastmmd_i16_ in C), which learns on the device. What is to take along here is in floating point, and many times slower on this core."]);
      }
    }
    rows.push(["False alarms", rate > 0
      ? `${readable((rate * MONTH) / promise)} a month expected, if healthy; one in ${lasting(promise / rate)}`
      : `one in ${promise.toLocaleString("en")} rows; for a month, give the rows per second`]);
    element("cost").replaceChildren(...rows.flatMap(([term, text]) => {
      const [name, value] = [document.createElement("dt"), document.createElement("dd")];
      [name.textContent, value.textContent] = [term, text];
      return [name, value];
    }));
  }
}
