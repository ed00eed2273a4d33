// text.js - elements made of data, and numbers as people read them.
//
// Everything that comes from a dump reaches the page through textContent or an attribute that is no
// code: nothing here, and nothing elsewhere, makes markup of a text.
"use strict";

function byId(id) {
  return document.getElementById(id);
}

// make("p", {class: "note"}, "text", child, ...): properties that begin with "on" are listeners.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Characters that show nothing or turn the direction of reading, made visible; line breaks stay.
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function visible(text) {
  return text.replace(UNSEEN, (c) => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));
}

function stripZeros(text) {
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return exponent === undefined ? short : short + "e" + exponent.replace("+", "");
}

// At most six digits.
function shortNumber(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value);
  return stripZeros(size >= 1e-4 && size < 1e6 ? value.toPrecision(6) : value.toExponential(5));
}

// All digits: the shortest text that reads back as the same number.
function fullNumber(value) {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf";
}

// A number of the facts; JSON has no word for some, which stand beside the others.
function factNumber(object, name) {
  const value = object[name];
  return value === null && object.not_finite && name in object.not_finite ? Number(object.not_finite[name]) : value;
}

function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

function plural(count, one, many) {
  return grouped(count) + " " + (count === 1 ? one : many || one + "s");
}

function byteText(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (bytes >= 1000 && at < units.length - 1) {
    bytes /= 1000;
    at++;
  }
  return (at === 0 ? String(bytes) : bytes.toPrecision(3)) + " " + units[at];
}

// A percentage or another number that a cell holds as text; NaN when it is none.
function numberInText(text) {
  const match = /^\s*(-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%?)\s*$/i.exec(text);
  if (match) return Number(match[1]) / (match[2] ? 100 : 1);
  if (/^\s*-?inf(inity)?\s*$/i.test(text)) return text.includes("-") ? -Infinity : Infinity;
  return NaN;
}

// What a screen reader should say now.
function say(text) {
  byId("said").textContent = text;
}

async function copyText(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { class: "unseen", readonly: true });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = done ? "Copied" : "Not copied";
  say(button.textContent);
  setTimeout(() => { button.textContent = before; }, 1200);
}

// Letters beside every colour, by class of a row as tdcmp numbers them.
const CLASS_LETTERS = ["\u00b7", "N", "S", "I", "R", "C", "D", "U", "E", "G", "A"];
const CLASS_KEYS = ["none", "shown", "same", "identical", "rounding", "close", "different", "unmatched", "error", "ignored", "allowed"];
// From harmless to bad.
const CLASS_WEIGHT = [0, 0, 1, 1, 2, 3, 6, 4, 5, 0, 2];
const CLASS_ORDER = [6, 8, 7, 5, 4, 3, 2, 10, 9, 1, 0];
const DIFFERENT = 6, UNMATCHED = 7, UNREADABLE = 8;

function classWord(facts, kind) {
  return facts.levels[kind] || CLASS_KEYS[kind];
}

function badge(facts, kind) {
  return make("span", { class: "badge c-" + CLASS_KEYS[kind], title: classWord(facts, kind) },
    make("span", { "aria-hidden": "true" }, CLASS_LETTERS[kind]),
    make("span", { class: "unseen" }, classWord(facts, kind)));
}

// A colour of the stylesheet, for canvases.
function styleColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
