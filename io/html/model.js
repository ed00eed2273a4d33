// model.js - the rows as calls of networks: what strip, tree, heat map and details share.
"use strict";

const STATE_WORDS = /\.(input|output|parameters_grad|parameters|args|kwargs)(?=\.|$)/g;

function stateIn(name) {
  let state = "other";
  for (const match of name.matchAll(STATE_WORDS)) state = match[1];
  return state === "args" || state === "kwargs" ? "input" : state;
}

function isBackward(call) {
  return /(^|\.)(backward|parameters_grad)(\.|$)/.test(call);
}

// The layer of a call: its module's place up to the first number in it, or the whole place; "" outside of modules.
function layerOf(call) {
  const numbered = /^(?:[^.]*\.)*?\d+(?=\.|$)/.exec(call.module);
  return numbered !== null ? numbered[0] : call.module;
}

// One number for a row of the table of a comparison.
function originKey(source, row) {
  return source * 0x100000000 + row;
}

class Model {
  constructor(report) {
    this.facts = report.facts;
    this.sheet = report.rows;
    this.slots = report.slots;
    this.rows = this.sheet.rows;
    this.kind = new Uint8Array(this.rows);
    this.colour = new Uint8Array(this.rows);
    this.origin = new Uint8Array(this.rows);
    this.source = new Uint32Array(this.rows);
    this.callOf = new Uint32Array(this.rows);
    this.nameOf = new Uint32Array(this.rows); // place of the test's name, or of the ref's
    this.stateOf = new Uint8Array(this.rows);
    this.states = ["input", "output", "parameters", "parameters_grad", "other"];
    this.calls = []; // {source, name, module, backward, rows: [...], kind}
    this.rowAt = new Map(); // of origins: where rows of tables stand on the page
  }

  static async load(report) {
    const model = new Model(report);
    if (model.rows === 0) return model;
    const needed = ["#source", "#call", "#module", "#class", "#colour", "#origin", "#row", "NPU Name", "Bench Name"];
    const columns = needed.map((name) => model.sheet.column(name)).filter((column) => column !== null);
    await Promise.all([model.sheet.loadTexts(), ...columns.map((column) => column.load())]);
    model.makeRows();
    return model;
  }

  text(place) {
    return this.sheet.texts[place];
  }

  makeRows() {
    const { sheet } = this;
    const [source, kind, colour, origin, row] = ["#source", "#class", "#colour", "#origin", "#row"]
      .map((name) => sheet.column(name).values);
    const call = sheet.column("#call").places, module = sheet.column("#module").places;
    const npu = sheet.column("NPU Name"), bench = sheet.column("Bench Name");
    const begun = new Set(originsOf(this.facts).map((one) => originKey(one.source, one.row)));
    const known = new Map(), stateOfPlace = new Map(), missing = sheet.texts.indexOf("N/A");
    let key = -1, number = 0;
    for (let i = 0; i < this.rows; i++) {
      this.kind[i] = kind[i];
      this.colour[i] = colour[i];
      this.origin[i] = origin[i];
      this.source[i] = source[i];
      const own = npu !== null ? npu.place(i) : 0;
      this.nameOf[i] = own === missing && bench !== null ? bench.place(i) : own;
      const word = this.nameOf[i];
      let state = stateOfPlace.get(word);
      if (state === undefined)
        stateOfPlace.set(word, (state = this.states.indexOf(stateIn(this.text(word)))));
      this.stateOf[i] = state;
      const thisKey = source[i] * 0x100000000 + call[i];
      if (thisKey !== key) {
        key = thisKey;
        number = known.get(key);
        if (number === undefined) {
          number = this.calls.length;
          known.set(key, number);
          const name = this.text(call[i]);
          this.calls.push({ number, source: source[i], name, module: this.text(module[i]),
            backward: isBackward(name), rows: [], kind: 0 });
        }
      }
      const held = this.calls[number];
      held.rows.push(i);
      if (CLASS_WEIGHT[kind[i]] >= CLASS_WEIGHT[held.kind]) held.kind = kind[i];
      this.callOf[i] = number;
      const place = originKey(source[i], row[i]);
      if (begun.has(place)) this.rowAt.set(place, i);
    }
  }

  name(row) {
    return this.text(this.nameOf[row]);
  }

  // The row of the page with which an origin was found; undefined when it was left out.
  rowOf(origin) {
    return this.rowAt.get(originKey(origin.source, origin.row));
  }

  state(row) {
    return this.states[this.stateOf[row]];
  }

  sourceName(number) {
    const source = this.facts.sources[number];
    const words = [source.folder, source.step, source.rank, source.debug ? "debug" : ""].filter((word) => word);
    return words.length !== 0 ? words.join(" ") : "comparison " + (number + 1);
  }

  // Rows whose class is a difference to go to; of runs without any, what is not the same.
  isDifference(row) {
    return CLASS_WEIGHT[this.kind[row]] >= this.leastDifference();
  }

  leastDifference() {
    if (this.least === undefined) {
      const has = (kind) => this.facts.classes[kind] !== 0;
      this.least = has(DIFFERENT) || has(UNREADABLE) ? 5 : has(UNMATCHED) ? 4 : has(5) ? 3 : 2;
    }
    return this.least;
  }

  // Whether a call is that of a module which holds layers: it repeats what the last of them gave.
  holdsLayers(call) {
    if (this.holders === undefined) {
      this.holders = new Set();
      for (const { module } of this.calls)
        for (let at = module.lastIndexOf("."); at > 0 && !this.holders.has(module.slice(0, at)); at = module.lastIndexOf(".", at - 1))
          this.holders.add(module.slice(0, at));
    }
    return /^(Module|Cell)\./.test(call.name) && layerOf(call) === call.module && !/(^|\.)\d+$/.test(call.module)
      && this.holders.has(call.module);
  }

  // Whether calls stand in several layers.
  hasLayers() {
    if (this.layered === undefined) {
      const layers = new Set();
      this.layered = this.calls.some((call) => call.module !== "" && layers.add(layerOf(call)).size > 1);
    }
    return this.layered;
  }

  // ---- what is measured -------------------------------------------------------------------------

  // Choices for the strip: each a name and what it takes of a row.
  metrics() {
    const found = [];
    const add = (name, columns, take) => {
      const held = columns.map((column) => this.sheet.column(column)).filter((column) => column !== null);
      if (held.length === columns.length && held.length !== 0) found.push({ name, columns: held, take });
    };
    add("Relative Distance", ["Relative Distance"], (row, [c]) => c.value(row));
    add("1 - Cosine", ["Cosine"], (row, [c]) => Math.max(0, 1 - c.value(row)));
    add("Worst To Largest", ["Worst To Largest"], (row, [c]) => c.value(row));
    const relative = ["MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr", "NormRelativeErr"];
    if (this.sheet.column("NormRelativeErr") !== null)
      add("Largest relative error of a statistic", relative, (row, columns) => {
        let most = NaN;
        for (const column of columns) {
          const value = Math.abs(column.value(row));
          if (!(value <= most)) most = Number.isNaN(value) ? most : value;
        }
        return most;
      });
    else add("MaxRelativeErr", ["MaxRelativeErr"], (row, [c]) => c.value(row));
    add("MaxAbsErr", ["MaxAbsErr"], (row, [c]) => c.value(row));
    found.push({ name: "Level", columns: [], take: (row) => [0, 1e-9, 1e-6, 1e-3, 1e-2, 1e-1, 1][CLASS_WEIGHT[this.kind[row]]] });
    return found;
  }

  // The largest of a call's outputs, or of all it has when none is an output.
  valueOf(call, metric) {
    let most = -1, any = -1;
    for (const row of call.rows) {
      const value = metric.take(row, metric.columns);
      if (Number.isNaN(value)) {
        if (this.kind[row] === DIFFERENT) any = most = Infinity;
        continue;
      }
      if (value > any) any = value;
      if (this.stateOf[row] === 1 && value > most) most = value;
    }
    return most >= 0 ? most : any; // -1: nothing was measured
  }
}
