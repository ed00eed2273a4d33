// origins.js - every call with which differences begin, and what the judge says about it.
"use strict";

const MOST_LISTED = 500;

function originItem(model, origin, at) {
  const row = model.rowOf(origin);
  const lines = [origin.judge ? "Judge: " + origin.judge : "", origin.nearer, origin.element, origin.module ? "In " + origin.module : "",
    origin.stack].filter((line) => line);
  return make("li", {},
    make("button", { type: "button", class: "name", disabled: row === undefined, onclick: () => State.set({ view: "table", row }) },
      at + 1 + ". " + visible(origin.name)),
    make("p", {}, visible(originLine(model, origin))),
    ...lines.map((line) => make("p", { class: "quiet" }, visible(line))));
}

function showOrigins(model) {
  const { facts } = model, box = byId("view-origins"), origins = originsOf(facts);
  const judged = facts.trace.length !== 0;
  const list = make("ol", { class: "plain" }, ...origins.slice(0, MOST_LISTED).map((origin, at) => originItem(model, origin, at)));
  const rest = Math.max(facts.originCount, origins.length) - Math.min(origins.length, MOST_LISTED);
  box.append(make("h2", {}, "Where differences begin"),
    make("p", { class: "quiet" }, judged
      ? "Calls whose outputs differ more than their inputs explain, over all comparisons, in the order of the network. The judge computes "
        + "the first of them again in float64 from each side's own inputs."
      : "Calls whose outputs differ more than their inputs explain, in the order of each run. tdcmp trace orders them over all ranks "
        + "and says which side is off."),
    list, rest > 0 ? make("p", { class: "quiet" }, plural(rest, "more origin") + " in the rows: filter by Only, origins.") : "");
}
