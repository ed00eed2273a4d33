// export.js - the rows that are shown, as files.
"use strict";

function save(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = make("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// A spreadsheet takes a text that begins so for a formula; an apostrophe keeps it a text. Numbers stay what they are.
function csvCell(text) {
  const safe = /^[\t\r]*[+\-=@\uff0b\uff0d\uff1d\uff20]/.test(text) && Number.isNaN(Number(text))
    && !/^[-+]?inf$/.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}

async function exportCsv(model, filter) {
  const columns = model.sheet.columns.filter((column) => !column.name.startsWith("#"));
  await Promise.all(columns.map((column) => column.load()));
  const many = model.facts.sources.length > 1;
  const lines = [[...(many ? ["Of"] : []), "Level", ...columns.map((column) => column.name)].map(csvCell).join(",") + "\n"];
  for (const row of filter.order) {
    const cells = [...(many ? [model.sourceName(model.source[row])] : []), classWord(model.facts, model.kind[row]),
      ...columns.map((column) => column.full(row))];
    lines.push(cells.map(csvCell).join(",") + "\n");
  }
  save("tdcmp_rows.csv", "text/csv", lines);
  say(plural(filter.order.length, "row") + " saved.");
}

// A text in double quotes as yaml takes it.
function yamlText(text) {
  return /^[A-Za-z][\w.-]*$/.test(text) ? text : JSON.stringify(text);
}

// Pairs as `tdcmp compare --data-mapping` reads them: test name: ref name.
async function exportMapping(model, filter) {
  const npu = model.sheet.column("NPU Name"), bench = model.sheet.column("Bench Name");
  if (npu === null || bench === null) return;
  await Promise.all([npu.load(), bench.load()]);
  const lines = new Map();
  for (const row of filter.order) {
    const left = npu.full(row), right = bench.full(row);
    if (left !== "N/A" && right !== "N/A" && !lines.has(left)) lines.set(left, yamlText(left) + ": " + yamlText(right) + "\n");
  }
  save("tdcmp_data_mapping.yaml", "text/yaml", [...lines.values()]);
  say(plural(lines.size, "pair") + " saved.");
}
