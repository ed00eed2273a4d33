// filter.js - which rows are shown, in which order; the form above the table.
"use strict";

const ODD_COLUMNS = ["NPU NaN", "NPU Inf", "Bench NaN", "Bench Inf"];
const STAT_COLUMNS = ["NPU max", "NPU min", "NPU mean", "NPU l2norm", "Bench max", "Bench min", "Bench mean", "Bench l2norm"];
const FILTER_NAMES = ["q", "levels", "colour", "state", "direction", "dtype", "only", "source", "module", "sort", "order"];

class Filter {
  constructor(model) {
    this.model = model;
    this.order = new Uint32Array(0); // rows shown
    this.placeInOrder = null;
    this.round = 0;
    this.listeners = [];
  }

  columnsOf(names) {
    return names.map((name) => this.model.sheet.column(name)).filter((column) => column !== null);
  }

  async oddRow() {
    const counts = this.columnsOf(ODD_COLUMNS), stats = this.columnsOf(STAT_COLUMNS);
    await Promise.all([...counts, ...stats].map((column) => column.load()));
    return (row) => counts.some((column) => column.value(row) > 0) || stats.some((column) => column.isOdd(row));
  }

  async dtypeRow(wanted) {
    const [npu, bench] = this.columnsOf(["NPU Dtype", "Bench Dtype"]);
    if (!npu || !bench) return () => true;
    await Promise.all([npu.load(), bench.load()]);
    const missing = "N/A";
    if (wanted === "differ")
      return (row) => npu.place(row) !== bench.place(row) && npu.full(row) !== missing && bench.full(row) !== missing;
    return (row) => npu.full(row) === wanted || bench.full(row) === wanted;
  }

  async textRow(query) {
    const searched = this.columnsOf(["NPU Name", "Bench Name", "#call", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape",
      "Bench Tensor Shape", "Err_message", "NPU_Stack_Info", "Data_name"]);
    await Promise.all(searched.map((column) => column.load()));
    const flags = this.model.sheet.matching(query);
    return (row) => searched.some((column) => {
      const place = column.place(row);
      return place >= 0 && flags[place] === 1;
    });
  }

  async onlyRow(only) {
    const { model } = this;
    if (only === "odd") return this.oddRow();
    if (only === "origin") return (row) => model.origin[row] !== 0;
    if (only !== "test" && only !== "ref") return (row) => model.kind[row] === UNMATCHED;
    const [column] = this.columnsOf([only === "test" ? "Bench Name" : "NPU Name"]);
    return (row) => model.kind[row] === UNMATCHED && column !== undefined && column.full(row) === "N/A";
  }

  async tests() {
    const { model } = this, tests = [];
    const value = (name) => State.get(name);
    if (value("source") !== "") tests.push((row) => model.source[row] === Number(value("source")));
    if (value("levels") !== "") {
      const kinds = new Set(value("levels").split(",").map((key) => CLASS_KEYS.indexOf(key)));
      tests.push((row) => kinds.has(model.kind[row]));
    }
    if (value("colour") !== "") {
      const colour = { none: 0, yellow: 1, red: 2 }[value("colour")];
      tests.push((row) => model.colour[row] === colour);
    }
    if (value("state") !== "") tests.push((row) => model.state(row) === value("state"));
    if (value("direction") !== "")
      tests.push((row) => model.calls[model.callOf[row]].backward === (value("direction") === "backward"));
    if (value("module") !== "") tests.push(moduleTest(model, value("module")));
    if (value("dtype") !== "") tests.push(await this.dtypeRow(value("dtype")));
    if (value("only") !== "") tests.push(await this.onlyRow(value("only")));
    if (value("q") !== "") tests.push(await this.textRow(value("q")));
    return tests;
  }

  async run() {
    const round = ++this.round;
    const tests = await this.tests();
    const column = this.model.sheet.column(State.get("sort"));
    if (column !== null) await column.load();
    if (round !== this.round) return; // another one has begun
    const rows = [];
    for (let row = 0; row < this.model.rows; row++) if (tests.every((test) => test(row))) rows.push(row);
    this.order = Uint32Array.from(rows);
    const up = State.get("order") === "up" ? 1 : -1;
    if (State.get("sort") === "Level") this.sortBy((row) => CLASS_WEIGHT[this.model.kind[row]], up);
    else if (column !== null) this.sortColumn(column, up);
    this.placeInOrder = null;
    for (const listener of this.listeners) listener();
  }

  // Numbers first, by value; then texts; rows that are alike stay in the order of the run.
  sortColumn(column, up) {
    let texts = 0;
    for (const row of this.order) if (column.place(row) >= 0 && Number.isNaN(column.value(row))) texts++;
    if (texts * 2 > this.order.length) {
      const full = new Map();
      for (const row of this.order) full.set(row, column.full(row));
      this.order.sort((a, b) => {
        const x = full.get(a), y = full.get(b);
        return x < y ? -up : x > y ? up : a - b;
      });
      return;
    }
    this.sortBy((row) => column.value(row), up);
  }

  sortBy(take, up) {
    const keys = new Float64Array(this.model.rows);
    for (const row of this.order) keys[row] = take(row);
    this.order.sort((a, b) => {
      const x = keys[a], y = keys[b], none = Number.isNaN(x) - Number.isNaN(y);
      return none !== 0 ? none : x < y ? -up : x > y ? up : a - b;
    });
  }

  place(row) {
    if (this.placeInOrder === null) {
      this.placeInOrder = new Int32Array(this.model.rows).fill(-1);
      this.order.forEach((held, at) => { this.placeInOrder[held] = at; });
    }
    return row >= 0 && row < this.model.rows ? this.placeInOrder[row] : -1;
  }

  // The next row behind a place in the list, or before it, that is a difference; -1 when there is none.
  nextDifference(from, step) {
    for (let at = from + step; at >= 0 && at < this.order.length; at += step)
      if (this.model.isDifference(this.order[at])) return this.order[at];
    return -1;
  }
}

// Rows at or below a node of the tree (tree.js names them).
function moduleTest(model, path) {
  const inside = model.calls.map((call) => {
    const own = treePath(call);
    return own === path || own.startsWith(path + "/");
  });
  return (row) => inside[model.callOf[row]];
}

// ---- the form ------------------------------------------------------------------------------------

function choice(name, label, options) {
  const select = make("select", { "data-filter": name, onchange: () => State.set({ [name]: select.value }) });
  for (const [value, text] of options) select.append(make("option", { value }, text));
  return make("label", {}, label + " ", select);
}

function levelChips(model) {
  const chips = make("div", { class: "chips", role: "group", "aria-label": "Levels" });
  for (const kind of CLASS_ORDER) {
    const count = model.facts.classes[kind];
    if (count === 0) continue;
    const key = CLASS_KEYS[kind];
    chips.append(make("button", { type: "button", class: "chip", "data-level": key, "aria-pressed": "false",
      onclick: () => toggleLevel(key) }, badge(model.facts, kind), " " + classWord(model.facts, kind) + " ",
      make("b", {}, grouped(count))));
  }
  return chips;
}

function toggleLevel(key) {
  const levels = new Set(State.get("levels").split(",").filter((word) => word !== ""));
  if (!levels.delete(key)) levels.add(key);
  State.set({ levels: CLASS_KEYS.filter((word) => levels.has(word)).join(",") });
}

async function dtypesOf(model) {
  const column = model.sheet.column("NPU Dtype");
  if (column === null) return [];
  await column.load();
  return [...new Set(column.places || [])].map((place) => model.text(place)).filter((text) => text !== "" && text !== "N/A").sort();
}

async function makeFilters(model, form) {
  const search = make("input", { type: "search", id: "search", placeholder: "Words in names, messages, shapes",
    "aria-label": "Search rows", "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false" });
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => State.set({ q: search.value.trim() }), 150);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    State.set({ q: search.value.trim() });
  });
  const dtypes = await dtypesOf(model);
  const any = ["", "any"];
  form.append(search, levelChips(model),
    choice("state", "State", [any, ...model.states.map((state) => [state, state])]),
    choice("direction", "Direction", [any, ["forward", "forward"], ["backward", "backward"]]),
    choice("dtype", "Dtype", [any, ["differ", "sides differ"], ...dtypes.map((dtype) => [dtype, dtype])]),
    choice("colour", "Colour", [any, ["red", "red"], ["yellow", "yellow"], ["none", "none"]]),
    choice("only", "Only", [["", "all rows"], ["odd", "NaN or Inf"], ["origin", "origins"], ["test", "test only"],
      ["ref", "ref only"]]),
    choice("columns", "Columns", [["", "all"], ["main", "main"]]),
    make("button", { type: "button", id: "filters-clear", onclick: () => {
      const patch = {};
      for (const name of FILTER_NAMES) patch[name] = "";
      State.set(patch);
    } }, "Clear"));
  const show = () => {
    if (document.activeElement !== search) search.value = State.get("q");
    for (const select of form.querySelectorAll("select")) select.value = State.get(select.dataset.filter);
    const levels = State.get("levels").split(",");
    for (const chip of form.querySelectorAll(".chip"))
      chip.setAttribute("aria-pressed", String(levels.includes(chip.dataset.level)));
    byId("filters-clear").disabled = FILTER_NAMES.every((name) => State.get(name) === "");
  };
  State.on([...FILTER_NAMES, "columns"], show);
  show();
}
