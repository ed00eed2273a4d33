// unmatched.js - what has no partner, side by side, and the mapping lines that tdcmp proposes.
"use strict";

const MOST_UNMATCHED = 300;

// Calls of one side with how many of their rows have no partner.
function unmatchedCalls(model, side) {
  const column = model.sheet.column(side === "test" ? "Bench Name" : "NPU Name"), calls = new Map();
  for (let row = 0; row < model.rows; row++) {
    if (model.kind[row] !== UNMATCHED || column === null || column.full(row) !== "N/A") continue;
    const number = model.callOf[row];
    if (!calls.has(number)) calls.set(number, []);
    calls.get(number).push(row);
  }
  return calls;
}

function unmatchedList(model, side, calls) {
  const list = make("ul", { class: "plain" });
  for (const [number, rows] of [...calls].slice(0, MOST_UNMATCHED)) {
    const call = model.calls[number];
    list.append(make("li", {}, make("button", { type: "button", class: "name", onclick: () => State.set({ view: "table", row: rows[0] }) },
      visible(call.name)), make("span", { class: "quiet" }, " " + plural(rows.length, "row")
        + (model.facts.sources.length > 1 ? ", " + visible(model.sourceName(call.source)) : ""))));
  }
  const title = side === "test" ? "Test only" : "Ref only";
  return make("section", {}, make("h3", {}, title + ": " + plural(calls.size, "call")),
    calls.size === 0 ? make("p", { class: "quiet" }, "Nothing.") : list,
    calls.size > MOST_UNMATCHED ? make("p", { class: "quiet" }, grouped(calls.size - MOST_UNMATCHED) + " more in the rows: filter by Only.") : "");
}

// Each section once, and of lines for the same name the first, as `tdcmp match --suggest` prints them.
function mergedSuggestions(texts) {
  const sections = new Map();
  for (const text of texts) {
    let section = "";
    for (const line of text.split("\n")) {
      if (line === "") continue;
      if (!line.startsWith(" ")) section = line;
      else {
        if (!sections.has(section)) sections.set(section, new Map());
        const key = line.replace(/:[^:]*$/, "");
        if (!sections.get(section).has(key)) sections.get(section).set(key, line);
      }
    }
  }
  return [...sections].map(([name, lines]) => [name, ...lines.values()].join("\n")).join("\n\n") + "\n";
}

function suggestionBox(facts) {
  if (facts.suggestions.length === 0)
    return make("section", {}, make("h3", {}, "Mapping"), make("p", { class: "quiet" },
      "tdcmp has no lines to propose: it looks for layers of equal shape and position, and needs stack.json and construct.json beside both dumps."));
  const yaml = mergedSuggestions(facts.suggestions);
  return make("section", {}, make("div", { class: "line" }, make("h3", {}, "Mapping that tdcmp proposes"),
    make("button", { type: "button", onclick: (event) => copyText(yaml, event.currentTarget) }, "Copy")),
    make("p", { class: "quiet" }, "As a file for tdcmp compare --layer-mapping FILE. Look at the lines before you use them."),
    make("pre", { tabindex: "0" }, visible(yaml)));
}

function showUnmatched(model) {
  byId("view-unmatched").append(make("h2", {}, "Without a partner"),
    make("div", { class: "halves" }, unmatchedList(model, "test", unmatchedCalls(model, "test")),
      unmatchedList(model, "ref", unmatchedCalls(model, "ref"))), suggestionBox(model.facts));
}
