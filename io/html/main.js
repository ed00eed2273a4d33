// main.js - puts the page together, and the keys that work everywhere.
"use strict";

function tabsOf(model) {
  const { facts } = model, tabs = [];
  if (facts.answer !== null) tabs.push(["table", "Rows"]);
  if (facts.sources.length > 1) tabs.push(["heat", "Ranks and steps"]);
  if (facts.originCount !== 0 || facts.trace.length !== 0) tabs.push(["origins", "Origins"]);
  if (facts.classes[UNMATCHED] !== 0) tabs.push(["unmatched", "Unmatched"]);
  if (facts.prechecks.length !== 0) tabs.push(["precheck", "Precheck"]);
  tabs.push(["help", "Help"]);
  return tabs;
}

function showTabs(model) {
  const tabs = tabsOf(model), list = byId("tabs");
  const known = () => (tabs.some(([key]) => key === State.get("view")) ? State.get("view") : tabs[0][0]);
  for (const [key, word] of tabs)
    list.append(make("button", { type: "button", role: "tab", id: "tab-" + key, "aria-controls": "view-" + key,
      onclick: () => State.set({ view: key }) }, word));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const at = tabs.findIndex(([key]) => key === known());
    const next = tabs[(at + by + tabs.length) % tabs.length][0];
    State.set({ view: next });
    byId("tab-" + next).focus();
  });
  const show = () => {
    for (const [key] of tabs) {
      const chosen = key === known();
      byId("view-" + key).hidden = !chosen;
      byId("tab-" + key).setAttribute("aria-selected", String(chosen));
      byId("tab-" + key).tabIndex = chosen ? 0 : -1;
    }
  };
  State.on(["view"], show);
  show();
}

function showSources(model) {
  if (model.facts.sources.length < 2) return;
  const select = byId("source");
  byId("source-label").hidden = false;
  select.append(make("option", { value: "" }, "all comparisons"));
  model.facts.sources.forEach((source, number) => {
    const worst = CLASS_ORDER.find((kind) => source.classes[kind] !== 0);
    select.append(make("option", { value: number }, visible(model.sourceName(number))
      + (worst === undefined ? "" : " \u2013 " + classWord(model.facts, worst))));
  });
  select.value = State.get("source");
  select.addEventListener("change", () => State.set({ source: select.value }));
  State.on(["source"], () => { select.value = State.get("source"); });
}

function showHelp() {
  const keys = [["n, p", "next and previous difference among the rows shown"], ["/", "search"], ["Esc", "let go of the selected row"],
    ["Arrows", "go through rows, tree, strip and heat map"], ["Ctrl or Shift and wheel", "zoom the strip"]];
  const letters = CLASS_ORDER.map((kind) => make("div", {}, make("dt", {}, make("span", { class: "badge c-" + CLASS_KEYS[kind] },
    CLASS_LETTERS[kind])), make("dd", {}, CLASS_KEYS[kind] + ": " + MEANINGS[kind])));
  byId("view-help").append(make("h2", {}, "Keys"),
    make("dl", { class: "keys" }, ...keys.map(([key, text]) => make("div", {}, make("dt", {}, key), make("dd", {}, text)))),
    make("h2", {}, "Letters"), make("dl", { class: "keys" }, ...letters),
    make("p", { class: "quiet" }, "The address of this page holds what is selected and filtered: copy it to send someone to the same place. "
      + "Names of columns say NPU for the test and Bench for the reference, as in the tables."));
}

const MEANINGS = ["nothing to judge", "shown, its numbers mean nothing", "within tolerance", "no element differs",
  "within what the coarser dtype explains", "more than rounding, within tolerance", "out of tolerance",
  "on one side only, or of another shape", "could not be read", "left out by a tolerance file",
  "out of tolerance, and allowed by a tolerance file"];

function takeKeys(table) {
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (typing) event.target.blur();
      else State.set({ row: "" });
    }
    if (typing) return;
    if (event.key === "/" && table !== null) {
      event.preventDefault();
      State.set({ view: "table" });
      byId("search").focus();
      byId("search").select();
    } else if (event.key === "n" && table !== null) {
      table.goToDifference(1);
    } else if (event.key === "p" && table !== null) {
      table.goToDifference(-1);
    }
  });
}

async function showRows(model) {
  const filter = new Filter(model), table = new Table(model, filter), strip = new Strip(model);
  const tree = new Tree(model), heat = new HeatMap(model, strip);
  byId("strip-section").hidden = false;
  showSources(model);
  strip.start();
  await strip.fill();
  tree.start();
  tree.build();
  await makeFilters(model, byId("filters"));
  table.start();
  heat.start();
  await heat.fill();
  State.on(FILTER_NAMES, () => filter.run());
  await filter.run();
  new Details(model).start();
  byId("export-csv").addEventListener("click", () => exportCsv(model, filter));
  byId("export-map").addEventListener("click", () => exportMapping(model, filter));
  byId("skip").addEventListener("click", () => byId("grid").focus());
  return table;
}

async function start() {
  const report = await loadReport();
  State.read();
  window.addEventListener("hashchange", () => State.read());
  const model = await Model.load(report);
  showBanner(model);
  showTabs(model);
  showHelp();
  const rows = model.facts.answer !== null;
  const table = rows ? await showRows(model) : null;
  byId("skip").hidden = !rows;
  if (model.facts.originCount !== 0 || model.facts.trace.length !== 0) showOrigins(model);
  if (model.facts.classes[UNMATCHED] !== 0) showUnmatched(model);
  if (model.facts.prechecks.length !== 0) showPrecheck(model);
  takeKeys(table);
  window.addEventListener("beforeprint", () => fillPaper(model));
  document.documentElement.dataset.ready = "yes"; // it can be used from here on
  if (table !== null) await table.loadRest();
  document.documentElement.dataset.ready = "all";
}

// The page as it lies among the sources has no data: it can show that of a report.
function showSourcePage() {
  byId("answer").textContent = "No data";
  byId("sentence").textContent = "This is the page tdcmp fills in. Choose a report that it wrote to see these scripts at work on it.";
  const input = make("input", { type: "file", accept: ".html", "aria-label": "A report", onchange: async () => {
    const parsed = new DOMParser().parseFromString(await input.files[0].text(), "text/html");
    for (const block of parsed.querySelectorAll('script[type="application/octet-stream"]'))
      document.body.append(make("script", { type: "application/octet-stream", id: block.id }, block.textContent));
    input.remove();
    run();
  } });
  byId("banner").append(input);
}

function run() {
  start().catch((error) => {
    byId("answer").textContent = "Not shown";
    byId("sentence").textContent = "This page could not be drawn: " + error.message
      + ". The same rows are in the csv, xlsx and json results.";
    console.error(error);
  });
}

if (byId("block0") === null) showSourcePage();
else run();
