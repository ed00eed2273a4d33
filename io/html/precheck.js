// precheck.js - operators against their float64 reference: ULP per API, and the slots of one.
"use strict";

const MOST_SLOTS = 400;

function ulpBar(ulp, most) {
  if (ulp === undefined || ulp === null) return make("span", { class: "quiet" }, "not measured");
  const number = Number(ulp), bar = make("span", { class: "bar", "aria-hidden": "true" }, make("i"));
  const share = number > 0 ? Math.log10(1 + number) / Math.log10(1 + Math.max(most, 1)) : 0;
  bar.firstChild.style.width = 100 * Math.min(1, Number.isFinite(share) ? share : 1) + "%";
  return make("span", { class: "ulp", title: String(ulp) }, bar, shortNumber(number));
}

function apiRow(api, most) {
  const failing = api.failing !== 0;
  return make("tr", { class: failing ? "bad" : null, "data-api": api.name, tabindex: "0", "aria-selected": "false",
    onclick: () => State.set({ api: api.name }),
    onkeydown: (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        State.set({ api: api.name });
      }
    } },
    make("th", { scope: "row" }, visible(api.name)),
    make("td", {}, make("span", { class: "badge " + (failing ? "c-different" : api.skipped === api.calls ? "c-none" : "c-identical") },
      failing ? "F" : api.skipped === api.calls ? "\u00b7" : "P"), failing ? " failing" : api.skipped === api.calls ? " skipped" : " pass"),
    make("td", { class: "number" }, grouped(api.calls)), make("td", { class: "number" }, grouped(api.failing)),
    make("td", { class: "number" }, grouped(api.skipped)), make("td", {}, ulpBar(factNumber(api, "ulp"), most)),
    make("td", { class: "number", title: api.abs === undefined ? null : fullNumber(factNumber(api, "abs")) },
      api.abs === undefined ? "" : shortNumber(factNumber(api, "abs"))),
    make("td", {}, visible(api.call || "")), make("td", { class: "quiet" }, visible(api.reason || "")));
}

function apiTable(precheck) {
  const finite = precheck.apis.map((api) => factNumber(api, "ulp")).filter((ulp) => Number.isFinite(ulp));
  const most = finite.reduce((a, b) => Math.max(a, b), 1);
  const heads = ["API", "Verdict", "Calls", "Failing", "Skipped", "Worst ULP", "Worst absolute", "Worst call", "Why skipped"];
  return make("div", { class: "wide" }, make("table", { class: "apis" },
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...precheck.apis.map((api) => apiRow(api, most)))));
}

function gapList(precheck) {
  if (precheck.gaps.length === 0) return "";
  return make("details", {}, make("summary", {}, "Why records were not checked"), make("ul", { class: "plain" },
    ...precheck.gaps.slice(0, 100).map((gap) => make("li", {}, plural(gap.records, "record") + ": " + visible(gap.reason)
      + (gap.first ? " (first: " + visible(gap.first) + ")" : "")))));
}

// The slots of the chosen API, failing ones first, then by ULP.
async function showSlots(model, box) {
  const { slots } = model, api = State.get("api");
  for (const row of byId("view-precheck").querySelectorAll("[data-api]"))
    row.setAttribute("aria-selected", String(row.dataset.api === api));
  box.replaceChildren();
  if (api === "" || slots.rows === 0) return;
  if (slots.texts.length <= 1) await slots.loadTexts();
  await Promise.all(slots.columns.map((column) => column.load()));
  const column = slots.column("API"), verdict = slots.column("Verdict"), ulp = slots.column("Max ULP"), rows = [];
  for (let row = 0; row < slots.rows; row++) if (column.full(row) === api) rows.push(row);
  const key = (row) => (verdict.full(row) === "error" ? 1e300 : 0) + (ulp.value(row) || 0);
  rows.sort((a, b) => key(b) - key(a) || a - b);
  const shown = slots.columns.filter((one) => !one.name.startsWith("#") && one.name !== "API");
  box.append(make("h3", {}, visible(api) + ": " + plural(rows.length, "slot")),
    make("div", { class: "wide" }, make("table", { class: "apis" },
      make("thead", {}, make("tr", {}, ...shown.map((one) => make("th", { scope: "col" }, one.name)))),
      make("tbody", {}, ...rows.slice(0, MOST_SLOTS).map((row) => make("tr", { class: verdict.full(row) === "error" ? "bad" : null },
        ...shown.map((one) => make("td", { class: one.numbers ? "number" : null, title: visible(one.full(row)) }, visible(one.short(row))))))))),
    rows.length > MOST_SLOTS ? make("p", { class: "quiet" }, grouped(rows.length - MOST_SLOTS) + " more in the details csv.") : "");
}

function showPrecheck(model) {
  const box = byId("view-precheck"), below = make("section", { id: "slots", "aria-live": "polite" });
  for (const precheck of model.facts.prechecks) {
    box.append(make("h2", {}, "Operators of " + visible(precheck.dump)),
      make("p", { class: "quiet" }, plural(precheck.calls, "call") + ", " + plural(precheck.slots, "slot") + " judged, "
        + grouped(precheck.failedSlots) + " failing"
        + (precheck.drawn ? "; inputs were drawn from statistics" : "")
        + (precheck.executor ? "; calls were run by " + visible(precheck.executor) : "; the recorded outputs were judged")
        + (precheck.resumed !== 0 ? "; " + grouped(precheck.resumed) + " calls of an earlier run are in the csv alone" : "")
        + ". Choose an API for its slots."),
      apiTable(precheck), gapList(precheck));
  }
  box.append(below);
  State.on(["api"], () => showSlots(model, below));
  showSlots(model, below);
}
