// Draws a log: a panel for each channel, one for the statistic, and an axis, which share their rows.
// No imports: the page loads this file, and a report contains it.
"use strict";

/**
 * An alarm, as `fastmmd replay --json` prints it.
 * @typedef {{ row: number, time: string | number | null, since_row: number, channel: number,
 *   channel_name: string, change: string, leg: string, window: number, severity: number }} Alarm
 */
/**
 * What was found in a log. A stretch is `length` successive rows; NaN where there is no value.
 * `alarm_counts` has the alarms of each stretch, where they are too many for `alarms`.
 * @typedef {{
 *   log: string, command: string, names: string[], rows: number, length: number,
 *   low: Float32Array[], high: Float32Array[] | null, times: (string | null)[] | null,
 *   ratios: Float32Array, learning: [number, number][], drifts: [number, number, number][],
 *   alarms: Alarm[], alarm_counts: number[] | null, summary: any, lines: string[], warnings: string[], legs: any[], learn: number,
 *   cores: { core: string, name: string, instructions: number, measured: boolean }[],
 *   settings: string, rust: string, c?: string, look?: { lines: string[], rate: number | null } | null,
 * }} Results
 */

/**
 * Results as they are written: numbers in lists, which are slow to draw and to send.
 * @param {string} text
 * @returns {Results}
 */
function unpacked(text) {
  const results = JSON.parse(text);
  const packed = (/** @type {(number | null)[]} */ list) => Float32Array.from(list, (value) => value ?? NaN);
  results.low = results.low.map(packed);
  results.high = results.high && results.high.map(packed);
  results.ratios = packed(results.ratios);
  return results;
}

/** Width of the labels at the left, and heights, in pixels. */
const LABELS = 52;
const PANEL = 96;
const AXIS = 34;
/** Distance at which the edge of the learning span can be taken, in pixels: by a mouse, by a finger. */
const [GRIP, FINGER] = [7, 22];

/**
 * A number with three significant digits.
 * @param {number} value
 */
function short(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(1);
  return String(Number(value.toPrecision(size >= 1000 ? 4 : 3)));
}

/**
 * Round numbers from one number to another.
 * @param {number} from @param {number} to @param {number} about how many
 */
function ticks(from, to, about) {
  const rough = (to - from) / Math.max(about, 1);
  if (!(rough > 0)) return [from];
  const digit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * digit).find((step) => step >= rough) ?? rough;
  const all = [];
  for (let at = Math.ceil(from / step); at * step <= to; at++) all.push(at * step);
  return all;
}

class Charts {
  /**
   * @param {HTMLElement} root
   * @param {(text: string) => void} read is told what is under the cursor
   * @param {((rows: number, done: boolean) => void) | null} learn is told where the learning span is
   *   dragged to
   */
  constructor(root, read, learn) {
    this.root = root;
    this.read = read;
    this.learn = learn;
    /** @type {Results | null} */
    this.results = null;
    /** @type {HTMLCanvasElement[]} */
    this.canvases = [];
    /** Rows shown. */
    this.from = 0;
    this.to = 1;
    /** @type {number | null} */
    this.cursor = null;
    /** Where the learning span ends while it is dragged. @type {number | null} */
    this.dragged = null;
    /** The rows being chosen to zoom into. @type {[number, number] | null} */
    this.chosen = null;
    this.waiting = false;
    /** Of what is drawn, without the labels. */
    this.width = 10;
    root.addEventListener("pointerdown", (event) => this.press(event));
    root.addEventListener("pointermove", (event) => this.move(event));
    root.addEventListener("pointerup", (event) => this.release(event));
    root.addEventListener("pointercancel", () => { this.chosen = this.dragged = null; this.redraw(); });
    root.addEventListener("pointerleave", () => { if (!this.chosen) { this.cursor = null; this.redraw(); } });
    root.addEventListener("dblclick", () => this.all());
    root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    root.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.redraw()).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  /** @param {Results} results */
  show(results) {
    const same = this.results && this.results.rows === results.rows && this.results.log === results.log;
    this.results = results;
    if (!same) [this.from, this.to, this.cursor] = [0, results.rows, null];
    const wanted = results.names.length + 2;
    while (this.canvases.length < wanted) {
      const canvas = document.createElement("canvas");
      this.root.append(canvas);
      this.canvases.push(canvas);
    }
    while (this.canvases.length > wanted) this.canvases.pop()?.remove();
    this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  // Where rows are.

  /** @param {number} row */
  x(row) { return LABELS + ((row - this.from) / (this.to - this.from)) * this.width; }

  /** @param {number} x */
  row(x) {
    const rows = this.results?.rows ?? 1;
    const row = this.from + ((x - LABELS) / this.width) * (this.to - this.from);
    return Math.min(Math.max(row, 0), rows);
  }

  /** Where the learning span ends. */
  get learned() { return this.dragged ?? this.results?.learn ?? 0; }

  /** @param {number} from @param {number} to */
  view(from, to) {
    const rows = this.results?.rows ?? 1;
    const length = Math.min(Math.max(to - from, Math.min(16, rows)), rows);
    this.from = Math.min(Math.max(from, 0), rows - length);
    this.to = this.from + length;
    this.redraw();
  }

  all() { this.view(0, this.results?.rows ?? 1); }

  /** @param {number} times @param {number} [around] */
  zoom(times, around) {
    const middle = around ?? this.cursor ?? (this.from + this.to) / 2;
    this.view(middle - (middle - this.from) / times, middle + (this.to - middle) / times);
  }

  /** @param {number} part */
  pan(part) {
    const by = part * (this.to - this.from);
    this.view(this.from + by, this.to + by);
  }

  /** @param {number} row */
  look_at(row) {
    this.cursor = Math.min(Math.max(Math.round(row), 0), (this.results?.rows ?? 1) - 1);
    if (this.cursor < this.from || this.cursor >= this.to) {
      const half = (this.to - this.from) / 2;
      this.view(this.cursor - half, this.cursor + half);
    }
    this.redraw();
  }

  /** Goes to the next alarm, and to the first after the last. */
  next() {
    const alarms = this.results?.alarms ?? [];
    const after = this.cursor ?? -1;
    const alarm = alarms.find((alarm) => alarm.row > after) ?? alarms[0];
    if (alarm) this.look_at(alarm.row);
  }

  // What is pressed.

  /** @param {PointerEvent} event */
  at(event) { return event.clientX - this.root.getBoundingClientRect().left; }

  /** @param {PointerEvent} event */
  is_grip(event) {
    const most = event.pointerType === "mouse" ? GRIP : FINGER;
    return this.learn !== null && Math.abs(this.at(event) - this.x(this.learned)) <= most;
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (!this.results || event.button !== 0) return;
    const row = this.row(this.at(event));
    if (this.is_grip(event)) this.dragged = Math.round(row);
    else if (event.pointerType === "mouse") this.chosen = [row, row];
    this.cursor = Math.min(Math.floor(row), this.results.rows - 1);
    this.root.setPointerCapture(event.pointerId);
    this.redraw();
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.results) return;
    const row = this.row(this.at(event));
    this.cursor = Math.min(Math.floor(row), this.results.rows - 1);
    if (this.dragged !== null) {
      this.dragged = Math.max(Math.round(row), 1);
      this.learn?.(this.dragged, false);
    } else if (this.chosen) this.chosen[1] = row;
    this.root.classList.toggle("grip", this.dragged !== null || this.is_grip(event));
    this.redraw();
  }

  /** @param {PointerEvent} event */
  release(event) {
    if (this.dragged !== null) {
      const rows = this.dragged;
      this.dragged = null;
      this.learn?.(rows, true);
    } else if (this.chosen) {
      const [a, b] = this.chosen;
      if (Math.abs(this.x(a) - this.x(b)) > 8) this.view(Math.min(a, b), Math.max(a, b));
    }
    this.chosen = null;
    this.root.releasePointerCapture(event.pointerId);
    this.redraw();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (!this.results || event.ctrlKey) return;
    // Without a key the wheel moves the page.
    if (!event.shiftKey && !event.altKey && event.deltaX === 0) return;
    event.preventDefault();
    const x = event.clientX - this.root.getBoundingClientRect().left;
    const by = event.deltaY || event.deltaX;
    if (event.deltaX !== 0 && !event.shiftKey) this.pan(event.deltaX / this.width);
    else this.zoom(by < 0 ? 1.25 : 0.8, this.row(x));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.results || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = Math.max(1, Math.round((this.to - this.from) / (event.shiftKey ? 20 : 200)));
    const cursor = this.cursor ?? Math.round((this.from + this.to) / 2);
    const least = Math.max(1, Math.round(this.results.rows / 100));
    /** @type {Record<string, () => void>} */
    const does = {
      ArrowLeft: () => this.look_at(cursor - step),
      ArrowRight: () => this.look_at(cursor + step),
      Home: () => this.look_at(0),
      End: () => this.look_at((this.results?.rows ?? 1) - 1),
      PageUp: () => this.pan(-0.5),
      PageDown: () => this.pan(0.5),
      "+": () => this.zoom(2),
      "=": () => this.zoom(2),
      "-": () => this.zoom(0.5),
      0: () => this.all(),
      n: () => this.next(),
      "[": () => this.learn?.(Math.max(this.learned - least, 1), true),
      "]": () => this.learn?.(this.learned + least, true),
    };
    const act = does[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  }

  // Drawing.

  draw() {
    const results = this.results;
    const whole = this.root.clientWidth;
    if (!results || whole === 0) return;
    this.width = Math.max(whole - LABELS - 4, 10);
    const style = getComputedStyle(document.documentElement);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const count = results.names.length;
    const counts = results.alarm_counts;
    // Of too many alarms for a line each, the first would be taken for all.
    const alarms = counts ? [] : results.alarms;
    results.names.forEach((name, channel) => {
      const high = results.high?.[channel] ?? results.low[channel];
      this.panel(this.canvases[channel], colour, {
        name, low: results.low[channel], high, colour: colour("signal"),
        alarms: alarms.filter((alarm) => alarm.channel === channel), counts: null,
        drifts: results.drifts.filter((drift) => drift[0] === channel), ratio: false,
      });
    });
    this.panel(this.canvases[count], colour, {
      name: "statistic nearest to its threshold" + (counts ? "; above it, the darker the more alarms" : ""),
      low: results.ratios, high: results.ratios, colour: colour("statistic"), alarms, counts, drifts: [], ratio: true,
    });
    this.axis(this.canvases[count + 1], colour);
    this.read(this.text());
  }

  /**
   * @param {HTMLCanvasElement} canvas @param {number} height
   */
  cleared(canvas, height) {
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round((this.width + LABELS + 4) * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = "11px system-ui, sans-serif";
    return pen;
  }

  /** The first and the last stretch that are shown. */
  shown() {
    const { length, ratios } = /** @type {Results} */ (this.results);
    const first = Math.max(Math.floor(this.from / length) - 1, 0);
    return [first, Math.min(Math.ceil(this.to / length) + 1, ratios.length)];
  }

  /**
   * @param {HTMLCanvasElement} canvas @param {(name: string) => string} colour
   * @param {{ name: string, low: Float32Array, high: Float32Array, colour: string,
   *   alarms: Alarm[], counts: number[] | null, drifts: [number, number, number][], ratio: boolean }} what
   */
  panel(canvas, colour, what) {
    const pen = this.cleared(canvas, PANEL);
    const { length } = /** @type {Results} */ (this.results);
    const [left, right, top, bottom] = [LABELS, LABELS + this.width, 21, PANEL - 5];
    const [first, last] = this.shown();
    let [least, most] = [Infinity, -Infinity];
    for (let at = first; at < last; at++) {
      if (what.low[at] < least) least = what.low[at];
      if (what.high[at] > most) most = what.high[at];
    }
    // Ratios span decades: as the logarithm of 1 + r, with the threshold always in sight.
    const bent = what.ratio ? (/** @type {number} */ r) => Math.log2(1 + Math.max(r, 0)) : (/** @type {number} */ v) => v;
    if (what.ratio) [least, most] = [0, Math.max(most, 1.5)];
    if (!(least <= most)) [least, most] = [0, 1];
    let [low, high] = [bent(least), bent(most)];
    const room = what.ratio ? 0 : 0.06 * (high - low) || Math.abs(high) * 0.01 || 1;
    [low, high] = [low - room, high + (what.ratio ? 0.05 * high : room)];
    const y = (/** @type {number} */ value) => bottom - ((bent(value) - low) / (high - low)) * (bottom - top);

    pen.fillStyle = colour("panel");
    pen.fillRect(left, top, right - left, bottom - top);
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();
    pen.fillStyle = colour("learn");
    for (const [from, to] of this.spans()) pen.fillRect(this.x(from), top, this.x(to) - this.x(from), bottom - top);
    pen.fillStyle = colour("drift");
    for (const [, from, to] of what.drifts) pen.fillRect(this.x(from), top, Math.max(this.x(to) - this.x(from), 1), bottom - top);
    pen.restore();

    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const marks = what.ratio
      ? [0, 1, ...[2, 5, 10, 30, 100, 1000, 1e4, 1e5, 1e6].filter((r) => r < most && bent(r) > 0.2 * bent(most))]
      : ticks(low, high, 4);
    let above = Infinity;
    for (const mark of marks) {
      const at = y(mark);
      if (what.ratio && above - at < 12 && mark !== 1) continue;
      above = at;
      pen.strokeStyle = colour("line");
      pen.beginPath();
      pen.moveTo(left, at);
      pen.lineTo(right, at);
      pen.stroke();
      pen.fillStyle = colour("dim");
      pen.fillText(short(mark), left - 5, at);
    }

    pen.save();
    pen.beginPath();
    pen.rect(left, top - 8, right - left, bottom - top + 8);
    pen.clip();
    if (what.ratio) {
      pen.strokeStyle = colour("alarm");
      pen.setLineDash([5, 4]);
      pen.beginPath();
      pen.moveTo(left, y(1));
      pen.lineTo(right, y(1));
      pen.stroke();
      pen.setLineDash([]);
    }
    this.curve(pen, what, first, last, length, y);
    for (const alarm of what.alarms) {
      const x = this.x(alarm.row + 0.5);
      if (x < left - 6 || x > right + 6) continue;
      pen.strokeStyle = pen.fillStyle = colour("alarm");
      pen.beginPath();
      pen.moveTo(x, top);
      pen.lineTo(x, bottom);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x - 5, top - 7);
      pen.lineTo(x + 5, top - 7);
      pen.lineTo(x, top + 1);
      pen.fill();
    }
    if (what.counts) this.strip(pen, colour, what.counts, top);
    this.marks(pen, colour, top, bottom);
    pen.restore();

    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillStyle = colour("front");
    pen.fillText(what.name, left + 2, 10);
    if (this.cursor !== null) {
      const at = Math.floor(this.cursor / length);
      const [low, high] = [what.low[at], what.high[at]];
      if (low <= high) {
        pen.textAlign = "right";
        pen.fillStyle = what.colour;
        pen.fillText(low === high ? short(low) : `${short(low)} to ${short(high)}`, right, 10);
      }
    }
  }

  /** The rows learned from; the first span as it is dragged. @returns {[number, number][]} */
  spans() {
    const spans = this.results?.learning ?? [];
    if (this.dragged === null) return spans;
    return [[0, this.dragged], ...spans.slice(1)];
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {{ low: Float32Array, high: Float32Array, colour: string }} what
   * @param {number} first @param {number} last @param {number} length
   * @param {(value: number) => number} y
   */
  curve(pen, what, first, last, length, y) {
    pen.strokeStyle = what.colour;
    pen.lineWidth = 1.2;
    pen.lineJoin = "round";
    pen.beginPath();
    // At most one stroke up and down in a pixel.
    let [pixel, low, high, down] = [NaN, NaN, NaN, false];
    const stroke = () => {
      if (Number.isNaN(low)) return;
      if (down) pen.lineTo(pixel, y(low));
      else pen.moveTo(pixel, y(low));
      if (high !== low) pen.lineTo(pixel, y(high));
      down = true;
    };
    const [begin, step] = [this.x(0.5 * length), this.x(1.5 * length) - this.x(0.5 * length)];
    for (let at = first; at < last; at++) {
      const [l, h, x] = [what.low[at], what.high[at], begin + at * step];
      if (!(l <= h)) {
        stroke();
        [low, high, down] = [NaN, NaN, false];
        continue;
      }
      if (Math.abs(x - pixel) < 1 && !Number.isNaN(low)) {
        low = Math.min(low, l);
        high = Math.max(high, h);
        continue;
      }
      stroke();
      [pixel, low, high] = [x, l, h];
    }
    stroke();
    pen.stroke();
    pen.lineWidth = 1;
  }

  /**
   * How many alarms there are in each stretch: the darker, the more.
   * @param {CanvasRenderingContext2D} pen @param {(name: string) => string} colour
   * @param {number[]} counts @param {number} top
   */
  strip(pen, colour, counts, top) {
    const { length } = /** @type {Results} */ (this.results);
    const most = counts.reduce((most, count) => Math.max(most, count), 1);
    const [first, last] = this.shown();
    pen.fillStyle = colour("alarm");
    for (let at = first; at < last; at++) {
      if (!(counts[at] > 0)) continue;
      const x = this.x(at * length);
      pen.globalAlpha = 0.15 + (0.85 * counts[at]) / most;
      pen.fillRect(x, top - 7, Math.max(this.x((at + 1) * length) - x, 1), 7);
    }
    pen.globalAlpha = 1;
  }

  /**
   * The edge of learning, the rows being chosen, and the cursor.
   * @param {CanvasRenderingContext2D} pen @param {(name: string) => string} colour
   * @param {number} top @param {number} bottom
   */
  marks(pen, colour, top, bottom) {
    if (this.learn) {
      const x = this.x(this.learned);
      pen.strokeStyle = pen.fillStyle = colour("learn-edge");
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(x, top);
      pen.lineTo(x, bottom);
      pen.stroke();
      pen.lineWidth = 1;
      pen.beginPath();
      pen.roundRect(x - 4, (top + bottom) / 2 - 9, 8, 18, 3);
      pen.fill();
    }
    if (this.chosen) {
      const [a, b] = this.chosen.map((row) => this.x(row));
      pen.fillStyle = colour("accent");
      pen.globalAlpha = 0.2;
      pen.fillRect(Math.min(a, b), top, Math.abs(b - a), bottom - top);
      pen.globalAlpha = 1;
    }
    if (this.cursor !== null) {
      const x = this.x(this.cursor + 0.5);
      pen.strokeStyle = colour("dim");
      pen.beginPath();
      pen.moveTo(x, top);
      pen.lineTo(x, bottom);
      pen.stroke();
    }
  }

  /** @param {HTMLCanvasElement} canvas @param {(name: string) => string} colour */
  axis(canvas, colour) {
    const pen = this.cleared(canvas, AXIS);
    const { times, length } = /** @type {Results} */ (this.results);
    pen.fillStyle = colour("dim");
    pen.strokeStyle = colour("line");
    const labels = [String(this.to), times?.[Math.floor(this.from / length)] ?? ""];
    const widest = Math.max(...labels.map((text) => pen.measureText(text).width));
    const all = ticks(this.from, this.to, Math.max(2, this.width / Math.max(70, widest + 20)));
    for (const [index, row] of all.entries()) {
      const x = this.x(row);
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x, 5);
      pen.stroke();
      const lines = [index === 0 ? `row ${row}` : String(row)];
      const time = times?.[Math.floor(row / length)];
      if (time) lines.push(time);
      for (const [line, text] of lines.entries()) {
        const half = pen.measureText(text).width / 2;
        const middle = Math.min(Math.max(x, half + 2), LABELS + this.width - half);
        pen.textAlign = "center";
        pen.fillText(text, middle, 16 + 13 * line);
      }
    }
  }

  /** What is under the cursor, in words. */
  text() {
    const { results, cursor } = this;
    if (!results || cursor === null) return "";
    const at = Math.floor(cursor / results.length);
    const time = results.times?.[at];
    const ratio = results.ratios[at];
    const parts = [`row ${cursor}`];
    if (time) parts.push(`time ${time}`);
    parts.push(!(ratio >= 0) ? "learning" : `${short(ratio)} of the threshold`);
    const alarms = results.alarm_counts?.[at];
    if (alarms) parts.push(`${alarms} alarms in ${results.length} rows`);
    return parts.join(", ");
  }
}
