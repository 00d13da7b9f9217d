// The page and the report in a browser, against the tool. `cargo xtask test --only web` runs this.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const { PAGE, BUILT, TOOL, BROWSER, SEEN } = process.env;

/** Largest page, packed by gzip, in bytes: a second on a slow line. */
const MOST_BYTES = 300_000;
/** Longest time for which the page may not answer, in milliseconds: longer is felt as a stop. */
const LONGEST_TASK = 200;
/** Time by which all work has ended, in milliseconds by the clock, however busy the machine is. */
const PATIENCE = 900_000;
/** Rows of a log of pulses, each an alarm. */
const CROWDED = 800_000;
/** Rows of a long log. */
const MANY = 1_000_000;

let browser, context, page;
/** Requests to other places than the page's. */
const elsewhere = [];
/** What the page complained about. */
const complaints = [];

const log = path.join(SEEN, "pump.csv");
const tool = (...words) => spawnSync(TOOL, words, { encoding: "utf8", cwd: SEEN, maxBuffer: 1 << 26 });
const lines = (text) => text.trim().split("\n").map((line) => JSON.parse(line));

before(async () => {
  tool("demo", "--csv", log);
  browser = await chromium.launch({
    executablePath: BROWSER,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
  context = await browser.newContext({ viewport: { width: 1200, height: 1000 }, acceptDownloads: true });
  await context.route("**/*", (route) => {
    const address = route.request().url();
    const own = address.startsWith(PAGE) || /^(blob|data|file):/.test(address);
    if (!own) elsewhere.push(address);
    return own ? route.continue() : route.abort();
  });
  page = await context.newPage();
  page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(PAGE);
});

after(async () => { await browser?.close(); });

/** Waits until nothing is done any more, and there are results. */
async function settled() {
  await page.waitForFunction(() => app.busy === null && !app.changed && app.view.results !== null, null, { timeout: PATIENCE });
}

const shown = () => page.evaluate(() => app.view.results);

/** The cycle that the page takes, as an option. */
async function period() {
  const rows = await page.inputValue("#period");
  return rows === "" ? [] : ["--period", rows];
}

/** Opens a file by dropping it on the page. */
async function drop(file) {
  const bytes = fs.readFileSync(file).toString("base64");
  await page.evaluate(async ([name, bytes]) => {
    const raw = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([raw], name));
    app.view.results = null;
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [path.basename(file), bytes]);
  await settled();
}

/** Waits until this is said about the cursor. */
const read = (page, text) => page.waitForFunction((text) => document.getElementById("readout").textContent.startsWith(text), text, { timeout: 5000 });

async function saved(button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  const file = path.join(SEEN, `saved-${download.suggestedFilename()}`);
  await download.saveAs(file);
  return file;
}

/** Sets a field as a user does. */
async function set(id, value) {
  await page.fill(`#${id}`, String(value));
  await page.locator(`#${id}`).blur();
  await settled();
}

test("the page is small", () => {
  const all = fs.readdirSync(BUILT).map((name) => [name, gzipSync(fs.readFileSync(path.join(BUILT, name)), { level: 9 }).length]);
  const sum = all.reduce((sum, [, size]) => sum + size, 0);
  console.log(`${sum} bytes packed: ${all.map(([name, size]) => `${name} ${size}`).join(", ")}`);
  assert.ok(sum <= MOST_BYTES, `${sum} bytes`);
  assert.ok(all.length >= 7 && sum > 50_000, "the page is there");
});

test("the check of types notices what is wrong", () => {
  const wrong = path.join(SEEN, "wrong.js");
  const checked = (text) => {
    fs.writeFileSync(wrong, text);
    const options = ["--checkJs", "--allowJs", "--noEmit", "--strict", wrong];
    return spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", ...options]).status;
  };
  assert.notEqual(checked('/** @type {number} */ const one = "1";\n'), 0);
  assert.equal(checked("/** @type {number} */ const one = 1;\n"), 0);
});

test("the module does not name folders of this computer", () => {
  const module = fs.readFileSync(path.join(BUILT, "fastmmd_bg.wasm"), "latin1");
  assert.ok(!module.includes(process.cwd()) && !/\/(home|root|Users)\//.test(module));
  assert.ok(module.includes("fastmmd replay"), "texts can be found");
});

test("a dropped log is looked at, and has the alarms of the tool", async () => {
  await drop(log);
  const looked = JSON.parse(execFileSync(TOOL, ["look", "--json", "pump.csv"], { encoding: "utf8", cwd: SEEN }));
  assert.equal(await page.inputValue("#learn"), String(looked.learn));
  const text = execFileSync(TOOL, ["look", "pump.csv"], { encoding: "utf8", cwd: SEEN });
  assert.equal((await page.textContent("#look")).trim(), text.trim());
  assert.ok(looked.command.includes((await period()).join(" ")), "the cycle is that of the tool");
  for (const [learn, promise, cycle] of [[looked.learn, "", looked.period ?? ""], [2000, "", ""], [900, 2500, ""]]) {
    await set("learn", learn);
    await set("promise", promise);
    await set("period", cycle);
    const more = promise === "" ? [] : ["--mean-time-between-false-alarms", String(promise)];
    const told = lines(tool("replay", "pump.csv", "--json", "--learn", String(learn), ...await period(), ...more).stdout);
    const alarms = told.filter((it) => it.event === "alarm").map((alarm) => alarm.row);
    const results = await shown();
    assert.ok(alarms.length > 0);
    assert.deepEqual(results.alarms.map((alarm) => alarm.row), alarms);
    assert.deepEqual(results.summary, told.find((it) => it.event === "summary"));
    const rows = await page.$$eval("#alarms tbody tr td:first-child", (cells) => cells.map((cell) => Number(cell.textContent)));
    assert.deepEqual(rows, alarms);
  }
});

test("thresholds and alarms move with the promise", async () => {
  await set("learn", 2000);
  await set("promise", 200);
  const short = await shown();
  await set("promise", 1000000);
  const long = await shown();
  const sum = (results) => results.legs.reduce((sum, leg) => sum + (leg.threshold ?? 0), 0);
  assert.ok(sum(long) > sum(short), "thresholds are higher");
  assert.ok(long.summary.alarms <= short.summary.alarms);
  assert.ok(long.alarms[0].row > short.alarms[0].row, "the first alarm is later");
  // The table has the new thresholds beside those of before.
  const [, , , , now, before] = await page.$$eval("#legs tbody tr:first-child td", (cells) => cells.map((cell) => cell.textContent));
  assert.ok(await page.isVisible("#legs") && Number(now) > Number(before), `${now} ${before}`);
  await set("promise", "");
});

test("what is downloaded is what the tool writes", async () => {
  for (const [channels, features, cycle] of [[null, 32, ""], [null, 32, 157], [["vibration (g)", "temperature (°C)"], 16, ""]]) {
    for (const box of await page.$$("#channels label")) {
      const name = (await box.textContent()).trim();
      await (await box.$("input")).setChecked(channels === null || channels.includes(name));
    }
    await page.selectOption("#features", String(features));
    await set("learn", 2000);
    await set("period", cycle);
    const own = fs.readFileSync(await saved("#save-reference"));
    const options = ["--learn", "2000", "--features", String(features), ...await period(), ...(channels ? ["--columns", channels.join(",")] : [])];
    tool("export", "pump.csv", "-o", "exported.bin", ...options);
    const exported = fs.readFileSync(path.join(SEEN, "exported.bin"));
    assert.ok(own.equals(exported), `${own.length} and ${exported.length} bytes`);
    // The control: with other settings it is another.
    tool("export", "pump.csv", "-o", "other.bin", ...options, "--seed", "2");
    assert.ok(!own.equals(fs.readFileSync(path.join(SEEN, "other.bin"))));
    // The settings, and the command, lead to the same.
    const settings = await saved("#save-settings");
    tool("export", "pump.csv", "-o", "again.bin", "--settings", settings);
    assert.ok(own.equals(fs.readFileSync(path.join(SEEN, "again.bin"))));
    const command = await page.textContent("#command");
    const told = spawnSync("sh", ["-c", command.replace(/^fastmmd/, '"$0"') + " --json", TOOL], { encoding: "utf8", cwd: SEEN });
    assert.deepEqual(lines(told.stdout).at(-1), (await shown()).summary);
    assert.match(await page.textContent("#rust"), /static MAP: Fourier</);
    // A click marks the whole text, to be copied.
    await page.evaluate(() => { document.getElementById("rust").parentElement.open = true; });
    await page.click("#rust");
    assert.equal(await page.evaluate(() => String(getSelection()).trim()), (await page.textContent("#rust")).trim());
  }
});

/** A number as the page writes it. */
const written = (number) => number.toLocaleString("en");

test("the cost on a chip is that of the tool, and C is offered where it is compiled", async () => {
  await page.click("#demo");
  await settled();
  await page.selectOption("#features", "32");
  await set("learn", 2000);
  await set("period", "");
  await set("rate", 10);
  const budget = JSON.parse(fs.readFileSync("../firmware/bench/budget.json", "utf8"));
  const [told] = lines(tool("replay", "pump.csv", "--learn", "2000", "--json").stdout).slice(-1);
  const seen = new Set();
  for (const [chip, core, backend, kilobytes] of [["STM32F405", "m4f", "polynomial", 192], ["RP2040 (Pico)", "m0", "fixed", 264]]) {
    await page.selectOption("#chip", chip);
    const { instructions } = budget.find((row) => row.core === core && row.map === "detector" && row.backend === backend
      && row.opt === "3" && row.d === 3 && row.l === 32);
    const cost = await page.textContent("#cost");
    assert.ok(cost.includes(`${written(told.ram_bytes)} bytes`) && cost.includes(`of ${kilobytes} KB`), cost);
    assert.ok(cost.includes(`Instructions${written(instructions)} a row`), cost);
    assert.ok(cost.includes(`${written(10 * instructions)} a second`), cost);
    // A twelfth of a year at ten rows a second.
    const month = 10 * 2_629_800 / told.mean_time_between_false_alarms;
    assert.ok(cost.includes(`False alarms${written(Math.round(month))} a month`), cost);
    assert.equal(cost.includes("in integers"), backend === "fixed", cost);
    seen.add(cost);
  }
  assert.equal(seen.size, 2, "chips differ");
  assert.ok(await page.isVisible("#c-part"));
  assert.match(await page.textContent("#c"), /#include "fastmmd\.h"[^]*learning_rows = 2000;[^]*&fastmmd_f32_3,/);
  // No library has 16 frequencies.
  await page.selectOption("#features", "16");
  await settled();
  assert.ok(await page.isHidden("#c-part"));
  assert.equal(await page.textContent("#c"), "");
  await page.selectOption("#features", "32");
  await settled();
  assert.ok(await page.isVisible("#c-part"));
});

test("what cannot be read is said, and the next log is shown", async () => {
  const wrong = path.join(SEEN, "wrong.csv");
  fs.writeFileSync(wrong, Buffer.from("PK\x03\x04 no log\x00"));
  const before = complaints.length;
  await page.setInputFiles("#file", wrong);
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /wrong\.csv: a zip archive/);
  assert.ok(await page.isDisabled("#save-reference"), "nothing of the log before");
  assert.equal(complaints.length, before);
  await page.click("#demo");
  await settled();
  assert.ok(await page.isHidden("#error"));
  assert.ok(await page.isEnabled("#save-reference"));
  assert.equal((await shown()).rows, 6000);
});

test("keys move cursor, view and learning span; the span can be dragged", async () => {
  await page.focus("#charts");
  await page.keyboard.press("n");
  const { alarms } = await shown();
  await read(page, `row ${alarms[0].row}, time`);
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  const view = () => page.evaluate(() => [app.view.charts.from, app.view.charts.to]);
  let [from, to] = await view();
  assert.ok(to - from <= 1500 && from <= alarms[0].row && alarms[0].row < to, `${from} to ${to}`);
  await page.keyboard.press("0");
  [from, to] = await view();
  assert.deepEqual([from, to], [0, 6000]);
  const learned = (await shown()).learn;
  await page.keyboard.press("]");
  await settled();
  assert.equal((await shown()).learn, learned + 60);
  const box = await page.locator("#charts").boundingBox();
  const x = (row) => page.evaluate((row) => app.view.charts.x(row), row);
  await page.locator("#charts").scrollIntoViewIfNeeded();
  const top = (await page.locator("#charts").boundingBox()).y + 50;
  await page.mouse.move(box.x + await x(learned + 60), top);
  await page.mouse.down();
  await page.mouse.move(box.x + await x(1500), top, { steps: 5 });
  await page.mouse.up();
  await settled();
  const dragged = (await shown()).learn;
  assert.ok(Math.abs(dragged - 1500) < 30, `${dragged}`);
  assert.equal(await page.inputValue("#learn"), String(dragged));
});

/**
 * Does something, and tells the longest task of the page's main thread, in milliseconds of its
 * processor: a busy machine makes every task long by the clock.
 */
async function longest_task(act) {
  await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "__metadata"] });
  await act();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const named = traceEvents.filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain");
  const main = new Set(named.map((event) => `${event.pid} ${event.tid}`));
  const tasks = traceEvents.filter((event) => event.tdur !== undefined && main.has(`${event.pid} ${event.tid}`));
  assert.ok(tasks.length > 0, "tasks are seen");
  return Math.max(...tasks.map((event) => event.tdur)) / 1000;
}

test("a million rows: the page answers all the while, and shows progress", async () => {
  const file = path.join(SEEN, "long.csv");
  const rows = ["time,a,b,c"];
  let state = 1;
  const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  for (let row = 0; row < MANY; row++) {
    const noise = () => (random() + random() + random() - 1.5).toFixed(3);
    rows.push(`${row / 10},${noise()},${noise()},${noise()}`);
  }
  fs.writeFileSync(file, rows.join("\n") + "\n");
  await page.evaluate(() => {
    app.view.results = null;
    globalThis.parts = new Set();
    new MutationObserver(() => {
      if (!document.getElementById("status").hidden) globalThis.parts.add(document.getElementById("progress").value);
    }).observe(document.getElementById("progress"), { attributes: true });
  });
  const longest = await longest_task(async () => {
    await page.setInputFiles("#file", file);
    await settled();
  });
  const parts = await page.evaluate(() => globalThis.parts.size);
  console.log(`${MANY} rows: the page's longest task took ${longest.toFixed(0)} ms; ${parts} states of progress`);
  assert.equal((await shown()).rows, MANY);
  assert.ok(longest < LONGEST_TASK, `${longest} ms`);
  assert.ok(parts >= 5, `${parts}`);
  await page.screenshot({ path: path.join(SEEN, "long.png"), fullPage: true });
  // Settings that change while it works: what was begun is given up.
  const changing = await longest_task(async () => {
    await page.fill("#promise", "5000");
    await page.waitForTimeout(600);
    await page.fill("#promise", "20000");
    await settled();
  });
  assert.equal((await shown()).summary.mean_time_between_false_alarms, 20000);
  assert.ok(changing < LONGEST_TASK, `${changing} ms`);
  // The control: a page that stops is noticed. For long, since a busy machine leaves it a part of that only.
  const stopped = await longest_task(() => page.evaluate((time) => {
    for (const end = performance.now() + time; performance.now() < end;);
  }, 20 * LONGEST_TASK));
  assert.ok(stopped > LONGEST_TASK, `${stopped} ms`);
  fs.rmSync(file);
});

/** Whether something is wider than the window. */
const too_wide = (page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

test("dark, and as wide as a phone", async () => {
  await page.click("#demo");
  await settled();
  await page.screenshot({ path: path.join(SEEN, "light.png"), fullPage: true });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  assert.notEqual(await background(), light);
  await page.waitForTimeout(100);
  await page.screenshot({ path: path.join(SEEN, "dark.png"), fullPage: true });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForTimeout(200);
  assert.equal(await too_wide(page), false);
  for (const summary of await page.locator("summary:visible").all()) await summary.click();
  assert.equal(await too_wide(page), false, "with all that can be opened");
  await page.screenshot({ path: path.join(SEEN, "phone.png"), fullPage: true });
  await page.emulateMedia({ colorScheme: "light" });
});

test("a report is one file, and shows the same without a network", async () => {
  const made = tool("replay", "pump.csv", "--learn", "2000", "--report", "pump.html", "--json");
  assert.equal(made.status, 1, made.stderr);
  const text = fs.readFileSync(path.join(SEEN, "pump.html"), "utf8");
  const external = /\bhttps?:|\bwss?:|\/\/[a-z0-9.-]+\.[a-z]{2,}|(src|href)="(?!data:,")/i;
  assert.doesNotMatch(text, external);
  for (const link of ['<a href="x.js">', "http://example.org", '"//cdn.example.org/x.js"']) assert.match(link, external);
  const offline = await browser.newContext({ viewport: { width: 1200, height: 1000 } });
  await offline.setOffline(true);
  const report = await offline.newPage();
  const [asked, wrong] = [[], []];
  report.on("request", (request) => asked.push(request.url()));
  report.on("pageerror", (error) => wrong.push(String(error)));
  report.on("console", (message) => { if (message.type() === "error") wrong.push(message.text()); });
  const address = pathToFileURL(path.join(SEEN, "pump.html")).href;
  await report.goto(address);
  await report.waitForSelector("#alarms tbody tr");
  assert.deepEqual(asked.filter((it) => !it.startsWith("data:")), [address]);
  assert.deepEqual(wrong, []);
  const rows = await report.$$eval("#alarms tbody tr td:first-child", (cells) => cells.map((cell) => Number(cell.textContent)));
  assert.deepEqual(rows, lines(made.stdout).filter((it) => it.event === "alarm").map((alarm) => alarm.row));
  assert.equal(await report.textContent("#made-by"), "fastmmd replay pump.csv --learn 2000 --report pump.html --json");
  assert.ok(await report.isHidden("#controls") && await report.isHidden("#demo"));
  assert.match(await report.textContent("#look"), /^pump\.csv: CSV/);
  await report.screenshot({ path: path.join(SEEN, "report.png"), fullPage: true });
  await report.focus("#charts");
  await report.keyboard.press("n");
  await read(report, `row ${rows[0]}, time`);
  await report.setViewportSize({ width: 360, height: 740 });
  await report.waitForTimeout(100);
  assert.equal(await too_wide(report), false);
  await offline.close();
});

test("more alarms than have a line each are a strip", async () => {
  const rows = ["a"];
  let state = 1;
  const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  for (let row = 0; row < CROWDED; row++) {
    const pulse = row >= 3000 && row % 400 < 20 ? 4 : 0;
    rows.push((random() + random() + random() - 1.5 + pulse).toFixed(3));
  }
  fs.writeFileSync(path.join(SEEN, "crowded.csv"), rows.join("\n") + "\n");
  const made = tool("replay", "crowded.csv", "--learn", "2500", "--mtbfa", "100", "--report", "crowded.html", "--json");
  const count = lines(made.stdout).filter((it) => it.event === "alarm").length;
  assert.ok(count > 1000, `${count} alarms`);
  const report = await context.newPage();
  /** Pixels of the alarms' colour in a row of the statistic's panel, above what is plotted. */
  const red = async (name) => {
    await report.goto(pathToFileURL(path.join(SEEN, name)).href);
    await report.waitForSelector("#alarms tbody tr");
    await report.waitForTimeout(200);
    return report.evaluate(() => {
      const all = document.querySelectorAll("#charts canvas");
      const canvas = all[all.length - 2];
      const { data } = canvas.getContext("2d").getImageData(0, 16, canvas.width, 1);
      let found = 0;
      for (let at = 0; at < data.length; at += 4) found += data[at] > data[at + 1] + 40 && data[at + 3] > 20 ? 1 : 0;
      return found;
    });
  };
  const [strip, few] = [await red("crowded.html"), await red("pump.html")];
  assert.ok(strip > 500 && few < 200, `${strip} and ${few} pixels`);
  await red("crowded.html");
  assert.match(await report.textContent("#alarms tbody tr:last-child"), new RegExp(`and ${written(count - 1000)} more`));
  await report.focus("#charts");
  await report.keyboard.press("n");
  await read(report, "row ");
  assert.match(await report.textContent("#readout"), /\d+ alarms in \d+ rows/);
  await report.screenshot({ path: path.join(SEEN, "crowded.png"), fullPage: true });
  await report.close();
});

test("nothing was asked for elsewhere, and nothing complained", async () => {
  assert.deepEqual(complaints, []);
  assert.deepEqual(elsewhere, []);
  // The control: a page that asks elsewhere is noticed.
  const other = await context.newPage();
  await other.goto("data:text/html,<img src='http://127.0.0.1:9/x.png'>");
  await other.waitForTimeout(100);
  assert.deepEqual(elsewhere, ["http://127.0.0.1:9/x.png"]);
  await other.close();
});
