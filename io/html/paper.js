// paper.js - what a printed page shows of the rows: the origins and the worst of them.
"use strict";

const PAPER_ROWS = 40;

function fillPaper(model) {
  const { facts } = model, paper = byId("paper"), origins = originsOf(facts).slice(0, 15), rows = [];
  for (let row = 0; row < model.rows && rows.length < 4000; row++) if (model.isDifference(row)) rows.push(row);
  const shown = rows.slice(0, PAPER_ROWS), metric = model.metrics()[0];
  const value = (row) => (metric.columns.every((column) => column.ready) ? shortNumber(metric.take(row, metric.columns)) : "");
  paper.replaceChildren();
  if (origins.length !== 0)
    paper.append(make("h2", {}, "Where differences begin"), make("ol", {},
      ...origins.map((origin) => make("li", {}, visible(origin.name), make("br"), visible(originLine(model, origin)
        + (origin.judge ? " \u00b7 judge: " + origin.judge : "") + (origin.nearer ? " \u00b7 " + origin.nearer : ""))))));
  if (shown.length !== 0)
    paper.append(make("h2", {}, "The first " + plural(shown.length, "row") + " to look at"), make("table", {},
      make("thead", {}, make("tr", {}, ...["Level", "Name", metric.name].map((head) => make("th", {}, head)))),
      make("tbody", {}, ...shown.map((row) => make("tr", {}, make("td", {}, classWord(facts, model.kind[row])),
        make("td", {}, visible(model.name(row))), make("td", { class: "number" }, value(row)))))));
  for (const precheck of facts.prechecks) {
    const failing = precheck.apis.filter((api) => api.failing !== 0).slice(0, PAPER_ROWS);
    if (failing.length !== 0)
      paper.append(make("h2", {}, "Failing operators"), make("table", {},
        make("thead", {}, make("tr", {}, ...["API", "Failing", "Calls", "Worst ULP"].map((head) => make("th", {}, head)))),
        make("tbody", {}, ...failing.map((api) => make("tr", {}, make("td", {}, visible(api.name)),
          make("td", { class: "number" }, grouped(api.failing)), make("td", { class: "number" }, grouped(api.calls)),
          make("td", { class: "number" }, api.ulp === undefined ? "" : shortNumber(factNumber(api, "ulp"))))))));
  }
}
