// table.js - the rows: made as they come into sight, whatever their number.
"use strict";

const ROW_HEIGHT = 28;
const MAIN_COLUMNS = ["NPU Dtype", "NPU Tensor Shape", "Relative Distance", "Worst To Largest", "Cosine", "MaxAbsErr",
  "MaxRelativeErr", "NormRelativeErr", "Max diff", "L2norm diff", "Err_message"];
const WIDE = { "NPU Name": 380, "Bench Name": 380, "Err_message": 340, "NPU_Stack_Info": 280, "Data_name": 280 };

class Table {
  constructor(model, filter) {
    this.model = model;
    this.filter = filter;
    this.grid = byId("grid");
    this.head = byId("grid-head");
    this.body = byId("grid-body");
    this.drawn = new Map(); // place in the list -> element
    this.columns = [];
  }

  // Level and name first, then what is looked at most, then the table's other columns in their order.
  chooseColumns() {
    const main = State.get("columns") === "main", { sheet, facts } = this.model;
    const own = sheet.columns.filter((column) => !column.name.startsWith("#") && column.name !== "NPU Name"
      && (!main || MAIN_COLUMNS.includes(column.name)));
    const rank = (column) => { const at = MAIN_COLUMNS.indexOf(column.name); return at < 0 ? MAIN_COLUMNS.length : at; };
    own.sort((one, other) => rank(one) - rank(other));
    this.columns = [{ name: "Level", width: 64 }, { name: "NPU Name", title: "Name", width: WIDE["NPU Name"] }];
    if (facts.sources.length > 1) this.columns.push({ name: "#source", title: "Of", width: 110 });
    for (const column of own)
      this.columns.push({ name: column.name, column, width: WIDE[column.name] || (column.numbers ? 116 : 128), number: column.numbers });
    this.width = this.columns.reduce((sum, column) => sum + column.width, 0);
    this.makeHead();
    this.clear();
  }

  makeHead() {
    this.head.replaceChildren();
    this.head.style.width = this.body.style.width = this.width + "px";
    this.grid.setAttribute("aria-colcount", this.columns.length);
    this.columns.forEach((column, at) => {
      const cell = make("div", { role: "columnheader", class: "cell" + (column.number ? " number" : ""), "aria-colindex": at + 1,
        "data-column": column.name, "aria-sort": "none" },
        make("button", { type: "button", title: column.name.startsWith("#") ? "" : column.name,
          onclick: () => this.sortBy(column.name) }, column.title || column.name));
      cell.style.width = column.width + "px";
      this.head.append(cell);
    });
    this.showSort();
  }

  sortBy(name) {
    const same = State.get("sort") === name, order = State.get("order");
    if (!same) State.set({ sort: name, order: "down" });
    else if (order === "down") State.set({ order: "up" });
    else State.set({ sort: "", order: "" });
  }

  showSort() {
    for (const cell of this.head.children) {
      const sorted = cell.dataset.column === State.get("sort");
      cell.setAttribute("aria-sort", !sorted ? "none" : State.get("order") === "up" ? "ascending" : "descending");
    }
  }

  // ---- rows --------------------------------------------------------------------------------------

  clear() {
    for (const element of this.drawn.values()) element.remove();
    this.drawn.clear();
    this.draw();
  }

  cellText(column, row) {
    if (column.name === "NPU Name") return [this.model.name(row), this.model.name(row)];
    if (column.name === "#source") return [this.model.sourceName(this.model.source[row]), ""];
    if (!column.column.ready) return ["\u2026", ""];
    return [column.column.short(row), column.column.full(row)];
  }

  rowElement(at) {
    const row = this.filter.order[at], { model } = this;
    const element = make("div", { role: "row", class: "row colour" + model.colour[row], "aria-rowindex": at + 2, "data-row": row,
      "aria-selected": String(String(row) === State.get("row")) });
    element.style.top = at * ROW_HEIGHT + "px";
    this.columns.forEach((column, number) => {
      const cell = make("div", { role: "gridcell", class: "cell" + (column.number ? " number" : ""), "aria-colindex": number + 1 });
      cell.style.width = column.width + "px";
      if (column.name === "Level") {
        cell.append(badge(model.facts, model.kind[row]));
        if (model.origin[row] !== 0) cell.append(make("span", { class: "flag", title: "a difference begins here" }, "\u2691",
          make("span", { class: "unseen" }, "origin")));
      } else {
        const [short, full] = this.cellText(column, row);
        cell.textContent = visible(short);
        if (full !== "") cell.title = visible(full);
      }
      element.append(cell);
    });
    return element;
  }

  draw() {
    const count = this.filter.order.length;
    this.body.style.height = Math.max(count * ROW_HEIGHT, ROW_HEIGHT) + "px";
    this.grid.setAttribute("aria-rowcount", count + 1);
    const top = this.grid.scrollTop - ROW_HEIGHT, height = this.grid.clientHeight;
    const from = Math.max(0, Math.floor(top / ROW_HEIGHT) - 6);
    const to = Math.min(count, Math.ceil((top + height) / ROW_HEIGHT) + 6);
    for (const [at, element] of this.drawn)
      if (at < from || at >= to) {
        element.remove();
        this.drawn.delete(at);
      }
    const made = [];
    for (let at = from; at < to; at++)
      if (!this.drawn.has(at)) {
        const element = this.rowElement(at);
        this.drawn.set(at, element);
        made.push(element);
      }
    this.body.append(...made);
    this.body.classList.toggle("empty", count === 0);
  }

  tellShown() {
    const count = this.filter.order.length, all = this.model.rows;
    byId("shown").textContent = count === all ? plural(count, "row") : grouped(count) + " of " + plural(all, "row");
    if (count === 0) byId("shown").textContent = all === 0 ? "No rows." : "No row passes these filters.";
  }

  // ---- selection ---------------------------------------------------------------------------------

  select(row) {
    State.set({ row });
  }

  showSelected() {
    const row = State.get("row");
    for (const element of this.drawn.values())
      element.setAttribute("aria-selected", String(element.dataset.row === row));
    if (row !== "") this.scrollTo(this.filter.place(Number(row)));
  }

  scrollTo(at) {
    if (at < 0 || this.grid.clientHeight === 0) return;
    const top = at * ROW_HEIGHT, height = this.grid.clientHeight - 2 * ROW_HEIGHT;
    if (top < this.grid.scrollTop || top > this.grid.scrollTop + height)
      this.grid.scrollTop = Math.max(0, top - height / 2);
    this.draw();
  }

  // The next difference in the list; around its end once.
  goToDifference(step) {
    const { filter, model } = this, from = filter.place(State.get("row") === "" ? -1 : Number(State.get("row")));
    let row = filter.nextDifference(from < 0 && step < 0 ? filter.order.length : from, step);
    if (row < 0) row = filter.nextDifference(step > 0 ? -1 : filter.order.length, step);
    if (row < 0) {
      say("No difference among these rows.");
      return;
    }
    State.set({ view: "table", row });
    say(model.name(row) + ", " + classWord(model.facts, model.kind[row]));
  }

  moveSelection(by) {
    const { order } = this.filter, from = this.filter.place(State.get("row") === "" ? -1 : Number(State.get("row")));
    if (order.length === 0) return;
    const at = from < 0 ? 0 : Math.min(order.length - 1, Math.max(0, from + by));
    this.select(order[at]);
  }

  start() {
    this.grid.addEventListener("scroll", () => this.draw(), { passive: true });
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row !== null && String(getSelection()) === "") this.select(row.dataset.row);
    });
    this.grid.addEventListener("keydown", (event) => {
      const page = Math.max(1, Math.floor(this.grid.clientHeight / ROW_HEIGHT) - 2), all = this.filter.order.length;
      const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -all, End: all }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      this.moveSelection(by);
    });
    this.filter.listeners.push(() => {
      this.showSort();
      this.clear();
      this.tellShown();
      this.showSelected();
    });
    State.on(["row"], () => this.showSelected());
    State.on(["columns"], () => this.chooseColumns());
    new ResizeObserver(() => this.draw()).observe(this.grid);
    this.chooseColumns();
  }

  // All other columns, behind what is on the screen already.
  async loadRest() {
    await Promise.all(this.model.sheet.columns.map((column) => column.load()));
    this.clear();
  }
}
