// banner.js - the answer in a word, the counts, the first origin, and what made the page.
"use strict";

const SENTENCES = {
  "IDENTICAL": "No element differs.",
  "SAME": "Everything is within what rounding explains, or within tolerance.",
  "CLOSE": "More than rounding, within tolerance.",
  "UNMATCHED": "Nothing that was compared differs, but some rows have no partner.",
  "DIFFERENT": "Something is out of tolerance, or differences begin somewhere.",
  "NOTHING COMPARED": "No row could be judged.",
};

function answerOf(facts) {
  if (facts.answer !== null) return facts.answer;
  const sum = (name) => facts.prechecks.reduce((total, one) => total + one[name], 0);
  if (sum("error") !== 0) return "FAILING";
  if (sum("warning") !== 0) return "WARNINGS";
  return sum("pass") !== 0 ? "PASSED" : "NOTHING CHECKED";
}

function sentenceOf(facts) {
  if (facts.answer !== null) {
    const failed = facts.failures.length;
    return (SENTENCES[facts.answer] || "") + (failed === 0 ? "" : " " + plural(failed, "comparison") + " could not be done.");
  }
  const sum = (name) => facts.prechecks.reduce((total, one) => total + one[name], 0);
  return sum("error") !== 0
    ? plural(sum("error"), "call") + " of " + grouped(sum("calls")) + (sum("error") === 1 ? " fails" : " fail") + " against the float64 reference."
    : plural(sum("pass"), "call") + " of " + grouped(sum("calls")) + (sum("pass") === 1 ? " passes" : " pass") + " against the float64 reference.";
}

function toneOf(answer) {
  if (["DIFFERENT", "FAILING"].includes(answer)) return "bad";
  return ["IDENTICAL", "SAME", "PASSED"].includes(answer) ? "good" : "middling";
}

function countEntry(number, word, kind, facts) {
  return make("div", {}, make("dt", {}, kind === undefined ? null : badge(facts, kind), " " + word),
    make("dd", {}, grouped(number)));
}

function showCounts(facts) {
  const list = byId("counts");
  if (facts.answer !== null) {
    for (const kind of CLASS_ORDER)
      if (facts.classes[kind] !== 0) list.append(countEntry(facts.classes[kind], classWord(facts, kind), kind, facts));
    list.append(countEntry(facts.rows, facts.rows === 1 ? "row" : "rows"),
      countEntry(facts.calls, facts.calls === 1 ? "call" : "calls"),
      countEntry(facts.tensors, "tensors judged"));
    if (facts.originCount !== 0) list.append(countEntry(facts.originCount, facts.originCount === 1 ? "origin" : "origins"));
    if (facts.noData !== 0) list.append(countEntry(facts.noData, "without data"));
    if (facts.sources.length > 1) list.append(countEntry(facts.sources.length, "comparisons"));
  }
  for (const name of ["error", "warning", "pass", "skip"]) {
    const sum = facts.prechecks.reduce((total, one) => total + one[name], 0);
    if (sum !== 0) list.append(countEntry(sum, "calls " + name));
  }
}

// What the trace or the comparison says about where differences begin, the first first.
function originsOf(facts) {
  return facts.trace.length !== 0 ? facts.trace : facts.origins;
}

function originLine(model, origin) {
  const words = [origin.kind + (origin.backward ? ", backward" : ", forward")];
  if (model.facts.sources.length > 1) words.push(model.sourceName(origin.source));
  if (Number.isFinite(origin.distance)) words.push("relative distance " + shortNumber(origin.distance));
  if (origin.kind === "operator" && Number.isFinite(origin.inputDistance))
    words.push("of its inputs " + shortNumber(origin.inputDistance));
  if (origin.explains > 1) words.push(grouped(origin.explains) + " different rows follow from it");
  if (origin.consequence) words.push("may be a consequence");
  if (origin.arrived) words.push("came from another rank");
  if (origin.alike > 0) words.push("the same on " + plural(origin.alike, "other rank"));
  if (origin.ranks > 0) words.push("reached " + plural(origin.ranks, "other rank"));
  return words.join(" \u00b7 ");
}

function showFirst(model) {
  const origin = originsOf(model.facts)[0], box = byId("first");
  if (origin === undefined) return;
  const row = model.rowOf(origin);
  box.hidden = false;
  box.append(make("h2", {}, "Differences begin at"),
    make("button", { type: "button", class: "name", disabled: row === undefined,
      onclick: () => State.set({ view: "table", row }) }, visible(origin.name)),
    make("p", {}, originLine(model, origin)));
  if (origin.judge) box.append(make("p", { class: "judge" }, "Judge: " + visible(origin.judge)));
  if (origin.nearer) box.append(make("p", {}, visible(origin.nearer)));
  if (origin.element) box.append(make("p", { class: "quiet" }, visible(origin.element)));
}

function timeText(stamp) {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(stamp || "");
  return match ? match[1] + "-" + match[2] + "-" + match[3] + " " + match[4] + ":" + match[5] + ":" + match[6] : stamp;
}

function showFacts(facts) {
  const list = byId("facts");
  const add = (name, text) => {
    if (text) list.append(make("div", {}, make("dt", {}, name), make("dd", {}, visible(String(text)))));
  };
  const source = facts.sources[0], many = facts.sources.length > 1;
  add("Command", facts.command);
  add("Written", timeText(facts.time));
  add("Version", "tdcmp " + facts.version);
  add("Rules", facts.answer === null ? "" : facts.compat ? "msprobe" : "sound");
  if (source) {
    add("Test", source.test + (many ? ", and " + (facts.sources.length - 1) + " more" : ""));
    add("Ref", source.ref + (many ? ", and " + (facts.sources.length - 1) + " more" : ""));
    add("Dumps of", [source.framework, source.refFramework].filter((word, at, all) => word && all.indexOf(word) === at).join(" and "));
    add("They hold", [...new Set(facts.sources.map((one) => one.mode))].join(", "));
    add("Level", [source.level, source.refLevel].filter((word, at, all) => word && all.indexOf(word) === at).join(" and "));
    if (!many) add("Step and rank", [source.step, source.rank].filter((word) => word).join(" "));
    add("Compared", facts.bytes !== 0 ? byteText(facts.bytes) + " in " + shortNumber(Number(facts.seconds.toPrecision(3))) + " s" : "");
    add("Coloured", facts.red + facts.yellow === 0 ? "" : grouped(facts.red) + " red, " + grouped(facts.yellow) + " yellow");
  }
  for (const precheck of facts.prechecks.slice(0, 8)) add("Precheck of", precheck.dump);
  for (const failure of facts.failures.slice(0, 50)) add("Not compared", failure.test + ": " + failure.reason);
}

function showNotice(facts, rows) {
  const notice = byId("notice"), lines = [];
  if (facts.answer !== null && facts.chosen < facts.rows)
    lines.push("Only some levels were asked for: " + grouped(facts.chosen) + " of " + plural(facts.rows, "row") + ".");
  if (facts.answer !== null && rows < facts.chosen) {
    const csv = facts.sources.map((source) => source.csv).filter((file) => file);
    lines.push("This page holds " + grouped(rows) + " of " + grouped(facts.chosen)
      + " rows: those that are not the same, the worst first. The others are in the counts and, by module, in the tree. "
      + (csv.length !== 0 ? "All rows are in " + csv[0].replace(/^.*\//, "")
        + (csv.length > 1 ? " and " + plural(csv.length - 1, "other csv file") : "") + "."
        : "tdcmp compare --format csv writes all of them."));
  }
  if (facts.failures.length !== 0) lines.push(plural(facts.failures.length, "comparison") + " could not be done: see About this run.");
  notice.hidden = lines.length === 0;
  notice.textContent = lines.join(" ");
}

function showBanner(model) {
  const { facts } = model, answer = answerOf(facts);
  byId("answer").textContent = answer;
  byId("banner").classList.add(toneOf(answer));
  byId("sentence").textContent = sentenceOf(facts);
  document.title = answer + " \u2013 tdcmp report";
  showCounts(facts);
  showFirst(model);
  showFacts(facts);
  showNotice(facts, model.rows);
}
