// heat.js - calls against ranks, or against steps: where many comparisons agree and which stands out.
"use strict";

const CELL = { least: 3, most: 26, height: 22, label: 132, top: 8 };

class HeatMap {
  constructor(model, strip) {
    this.model = model;
    this.strip = strip; // for its metric
    this.box = byId("view-heat");
    this.spot = null; // {line, column}
  }

  wanted() {
    return this.model.facts.sources.length > 1;
  }

  names(field) {
    return [...new Set(this.model.facts.sources.map((source) => source[field]))];
  }

  across() {
    const ranks = this.names("rank").length, steps = this.names("step").length;
    return State.get("across") || (ranks > 1 || steps <= 1 ? "ranks" : "steps");
  }

  // Comparisons that make the lines: all of one step, or all of one rank.
  lines() {
    const { sources } = this.model.facts, across = this.across(), shared = across === "ranks" ? "step" : "rank";
    const held = sources[this.strip.shownSource()] || sources[0];
    return sources.map((source, number) => ({ source, number }))
      .filter(({ source }) => source[shared] === held[shared] || this.names(shared).length === 1);
  }

  async fill() {
    if (!this.wanted() || State.get("view") !== "heat") return;
    const metric = this.strip.metric();
    await Promise.all(metric.columns.map((column) => column.load()));
    this.shown = this.lines();
    const place = new Map(this.shown.map(({ number }, line) => [number, line])), columns = new Map();
    for (const call of this.model.calls) {
      const line = place.get(call.source);
      if (line === undefined) continue;
      let column = columns.get(call.name);
      if (column === undefined) columns.set(call.name, (column = { name: call.name, calls: [] }));
      column.calls[line] = { call, value: this.model.valueOf(call, metric) };
    }
    this.columns = [...columns.values()];
    this.draw();
  }

  cellWidth() {
    const room = this.canvas.parentElement.clientWidth - CELL.label - 2;
    return Math.min(CELL.most, Math.max(CELL.least, room / Math.max(1, this.columns.length)));
  }

  draw() {
    if (this.columns === undefined || this.canvas.parentElement.clientWidth === 0) return;
    const scale = window.devicePixelRatio || 1, width = this.cellWidth();
    // browsers refuse a canvas that is wider
    const full = Math.min(16000, CELL.label + width * this.columns.length + 2);
    const height = CELL.top + CELL.height * this.shown.length + 8;
    this.canvas.style.width = full + "px";
    this.canvas.style.height = height + "px";
    this.canvas.width = full * scale;
    this.canvas.height = height * scale;
    this.step = (full - CELL.label - 2) / Math.max(1, this.columns.length);
    const paint = this.canvas.getContext("2d");
    paint.scale(scale, scale);
    paint.font = "12px system-ui, sans-serif";
    paint.textBaseline = "middle";
    const colours = CLASS_KEYS.map((key) => styleColour("--c-" + key));
    this.shown.forEach(({ number }, line) => this.drawLine(paint, number, line, colours));
    this.drawSelection(paint);
    this.tell();
  }

  drawLine(paint, number, line, colours) {
    const y = CELL.top + line * CELL.height;
    paint.textAlign = "right";
    paint.fillStyle = styleColour("--text");
    paint.fillText(this.model.sourceName(number).slice(0, 18), CELL.label - 8, y + CELL.height / 2);
    const [low, high] = [this.strip.low ?? -9, this.strip.high ?? 0];
    this.columns.forEach((column, at) => {
      const cell = column.calls[line], x = CELL.label + at * this.step, width = Math.max(1, this.step - (this.step > 5 ? 1 : 0));
      if (cell === undefined) {
        paint.fillStyle = styleColour("--line");
        paint.fillRect(x, y + CELL.height / 2, width, 1);
        return;
      }
      const share = cell.value > 0 ? (Math.log10(cell.value) - low) / (high - low) : 0;
      const bad = CLASS_WEIGHT[cell.call.kind] >= 4;
      paint.globalAlpha = bad ? 1 : 0.25 + 0.5 * Math.min(1, Math.max(0, share));
      paint.fillStyle = colours[cell.call.kind];
      // the worse the taller: the picture can be read without its colours
      const tall = CELL.height - 4, part = bad ? tall : tall * (0.25 + 0.55 * Math.min(1, Math.max(0, share)));
      paint.fillRect(x, y + 2 + tall - part, width, part);
      paint.globalAlpha = 1;
      if (this.step >= 11 && bad) {
        paint.fillStyle = styleColour("--ground");
        paint.textAlign = "center";
        paint.fillText(CLASS_LETTERS[cell.call.kind], x + width / 2, y + CELL.height / 2);
      }
    });
  }

  drawSelection(paint) {
    const row = Number(State.get("row"));
    if (State.get("row") === "" || !(row < this.model.rows)) return;
    const call = this.model.calls[this.model.callOf[row]];
    const at = this.columns.findIndex((column) => column.name === call.name);
    const line = this.shown.findIndex(({ number }) => number === call.source);
    if (at < 0) return;
    paint.strokeStyle = styleColour("--accent");
    paint.lineWidth = 2;
    const x = CELL.label + at * this.step;
    paint.strokeRect(x - 2, CELL.top - 2, this.step + 3, CELL.height * this.shown.length + 4);
    if (line >= 0) paint.strokeRect(x - 2, CELL.top + line * CELL.height, this.step + 3, CELL.height);
    this.spot = { line: Math.max(0, line), column: at };
  }

  tell() {
    const bad = this.columns.filter((column) => column.calls.some((cell) => cell && CLASS_WEIGHT[cell.call.kind] >= this.model.leastDifference()));
    this.text.textContent = plural(this.columns.length, "call") + " of " + plural(this.shown.length, "comparison") + "; "
      + plural(bad.length, "call") + (bad.length === 1 ? " differs" : " differ") + " on at least one. A line for each "
      + (this.across() === "ranks" ? "rank" : "step") + ", a cell for each call in the order of the run: the worse the fuller; "
      + "an empty place is a call that is missing there. Arrow keys go from cell to cell.";
  }

  spotAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - CELL.label) / this.step);
    const line = Math.floor((event.clientY - box.top - CELL.top) / CELL.height);
    const inside = column >= 0 && column < this.columns.length && line >= 0 && line < this.shown.length;
    return inside ? { line, column } : null;
  }

  describe(spot) {
    const column = this.columns[spot.column], cell = column.calls[spot.line];
    return visible(column.name) + ", " + visible(this.model.sourceName(this.shown[spot.line].number)) + ": "
      + (cell === undefined ? "missing" : classWord(this.model.facts, cell.call.kind)
        + (cell.value >= 0 ? ", " + this.strip.metric().name + " " + shortNumber(cell.value) : ""));
  }

  choose(spot) {
    this.spot = spot;
    this.tip.textContent = this.describe(spot);
    say(this.tip.textContent);
    const cell = this.columns[spot.column].calls[spot.line];
    if (cell !== undefined) State.set({ row: worstRow(this.model, cell.call) });
  }

  onKey(event) {
    const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (event.key === "Enter") State.set({ view: "table" });
    if (by === undefined) return;
    event.preventDefault();
    const from = this.spot || { line: 0, column: -1 };
    this.choose({ line: Math.min(this.shown.length - 1, Math.max(0, from.line + by[0])),
      column: Math.min(this.columns.length - 1, Math.max(0, from.column + by[1])) });
  }

  start() {
    if (!this.wanted()) return;
    this.canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": "Calls against comparisons", "aria-describedby": "heat-text",
      onclick: (event) => {
        const spot = this.spotAt(event);
        if (spot !== null) this.choose(spot);
      },
      onmousemove: (event) => {
        const spot = this.spotAt(event);
        this.tip.textContent = spot === null ? "\u00a0" : this.describe(spot);
      },
      onkeydown: (event) => this.onKey(event) });
    this.text = make("p", { id: "heat-text", class: "quiet" });
    this.tip = make("p", { class: "reading" }, "\u00a0");
    const pick = make("select", { onchange: () => State.set({ across: pick.value }) },
      make("option", { value: "ranks" }, "ranks"), make("option", { value: "steps" }, "steps"));
    const both = this.names("rank").length > 1 && this.names("step").length > 1;
    this.box.append(make("div", { class: "line" }, make("h2", {}, "Calls against comparisons"),
      both ? make("label", {}, "Lines are ", pick) : null,
      make("button", { type: "button", onclick: () => State.set({ view: "table" }) }, "Show the selected row")),
      this.tip, make("div", { class: "wide" }, this.canvas), this.text);
    State.on(["across", "source", "metric", "view"], () => {
      pick.value = this.across();
      this.fill();
    });
    State.on(["row"], () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.box);
    pick.value = this.across();
  }
}
