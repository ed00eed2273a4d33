// details.js - one row in full: both sides beside each other, what was measured, where it comes from.
"use strict";

const SIDES = [["Name", "NPU Name", "Bench Name"], ["Dtype", "NPU Dtype", "Bench Dtype"],
  ["Shape", "NPU Tensor Shape", "Bench Tensor Shape"], ["Requires grad", "NPU Requires_grad", "Bench Requires_grad"],
  ["Max", "NPU max", "Bench max"], ["Min", "NPU min", "Bench min"], ["Mean", "NPU mean", "Bench mean"],
  ["L2 norm", "NPU l2norm", "Bench l2norm"], ["NaN", "NPU NaN", "Bench NaN"], ["Inf", "NPU Inf", "Bench Inf"],
  ["MD5", "NPU MD5", "BENCH MD5"], ["At the worst absolute", "Worst Abs NPU", "Worst Abs Bench"],
  ["At the worst relative", "Worst Rel NPU", "Worst Rel Bench"]];
const MOST_OTHERS = 64;

class Details {
  constructor(model) {
    this.model = model;
    this.box = byId("details");
  }

  sidesTable(row) {
    const { sheet } = this.model, body = make("tbody");
    for (const [word, left, right] of SIDES) {
      const columns = [sheet.column(left), sheet.column(right)];
      if (columns.includes(null)) continue;
      const texts = columns.map((column) => column.full(row));
      if (texts.every((text) => text === "" || text === "N/A")) continue;
      const cells = columns.map((column) => make("td", { title: visible(column.full(row)) }, visible(column.short(row))));
      body.append(make("tr", { class: texts[0] !== texts[1] ? "unlike" : null }, make("th", { scope: "row" }, word), ...cells));
    }
    return make("table", { class: "sides" }, make("thead", {}, make("tr", {}, make("td"),
      make("th", { scope: "col" }, "Test"), make("th", { scope: "col" }, "Ref"))), body);
  }

  others(row) {
    const { model } = this, call = model.calls[model.callOf[row]];
    if (model.facts.sources.length < 2) return null;
    const alike = model.calls.filter((other) => other.name === call.name && other !== call);
    if (alike.length === 0) return null;
    const list = make("ul", { class: "others" });
    for (const other of alike.slice(0, MOST_OTHERS))
      list.append(make("li", {}, make("button", { type: "button",
        onclick: () => State.set({ row: sameRow(model, other, row), source: State.get("source") === "" ? "" : other.source }) },
        badge(model.facts, other.kind), " " + visible(model.sourceName(other.source)))));
    return make("section", {}, make("h3", {}, "The same call elsewhere"), list);
  }

  async show() {
    const { model } = this, row = Number(State.get("row"));
    this.box.hidden = State.get("row") === "" || !(row >= 0 && row < model.rows);
    if (this.box.hidden) return;
    await Promise.all(model.sheet.columns.map((column) => column.load()));
    if (Number(State.get("row")) !== row) return;
    const name = model.name(row), measured = make("dl");
    const paired = new Set(SIDES.flat());
    for (const column of model.sheet.columns) {
      const text = column.name.startsWith("#") || paired.has(column.name) ? "" : column.full(row);
      if (text === "" || ["Err_message", "NPU_Stack_Info"].includes(column.name)) continue;
      measured.append(make("div", {}, make("dt", {}, column.name), make("dd", { title: visible(text) }, visible(column.short(row)))));
    }
    const longer = ["Err_message", "NPU_Stack_Info"].map((wanted) => {
      const column = model.sheet.column(wanted), text = column !== null ? column.full(row) : "";
      return text === "" || text === "N/A" ? null : make("section", {}, make("h3", {}, wanted === "Err_message" ? "Message" : "Stack"),
        make("p", { class: "long" }, ...stackLines(text)));
    });
    const parts = [
      make("div", { class: "line" }, badge(model.facts, model.kind[row]), make("b", {}, classWord(model.facts, model.kind[row])),
        make("span", { class: "quiet" }, model.facts.sources.length > 1 ? visible(model.sourceName(model.source[row])) : ""),
        make("span", { class: "grow" }),
        make("button", { type: "button", id: "copy-name", onclick: (event) => copyText(name, event.currentTarget) }, "Copy name"),
        make("button", { type: "button", "aria-label": "Close", onclick: () => State.set({ row: "" }) }, "\u2715")),
      make("h2", { class: "name" }, visible(name)),
      model.origin[row] !== 0 ? make("p", { class: "judge" }, "\u2691 A difference begins here.") : null,
      this.sidesTable(row), measured, ...longer, this.others(row)];
    this.box.replaceChildren(...parts.filter((part) => part !== null));
  }

  start() {
    State.on(["row"], () => this.show());
    this.show();
  }
}

// The row of another call with the same name as this one, or the one that stands for the call.
function sameRow(model, call, row) {
  const name = model.name(row);
  return call.rows.find((other) => model.name(other) === name) ?? worstRow(model, call);
}

// A list as Python writes it, entry by entry.
function stackLines(text) {
  const lines = text.replace(/^\[['"]|['"]\]$/g, "").split(/(?:\\n|['"],\s*['"]|\n)/);
  return lines.filter((line) => line.trim() !== "").flatMap((line) => [visible(line.trim()), make("br")]);
}
