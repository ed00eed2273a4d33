// data.js - the packed blocks of the page: facts, dictionaries, columns. io/html/pack.h says how
// they are laid out.
"use strict";

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// The bytes of a block, which is taken out of the page: it is not needed a second time.
async function unpack(number) {
  const element = byId("block" + number);
  const packed = fromBase64(element.textContent);
  element.remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpackJson(number) {
  return JSON.parse(new TextDecoder().decode(await unpack(number)));
}

// A cell of a column of numbers that is a text: the upper half of its bits. See tdc_html_box.
const BOX = 0xfffc0000;

// The bytes of the words in planes that begin at `at`, and what stands for planes that are not there.
function joinPlanes(packed, at, width, count) {
  const bytes = new Uint8Array(width * count);
  for (let byte = 0; byte < width; byte++) {
    const constant = packed[1 + byte];
    if ((packed[0] >> byte) & 1) {
      for (let row = 0, to = byte; row < count; row++, to += width) bytes[to] = packed[at + row];
      at += count;
    } else if (constant !== 0) {
      for (let row = 0, to = byte; row < count; row++, to += width) bytes[to] = constant;
    }
  }
  return bytes;
}

function unpackWords(packed, rows) {
  const words = new Uint32Array(joinPlanes(packed, 5, 4, rows).buffer);
  for (let row = 0, above = 0; row < rows; row++) {
    const step = words[row];
    above = words[row] = above + ((step >>> 1) ^ -(step & 1));
  }
  return words;
}

// The halves of doubles: those that differ from the usual one are in the planes.
function unpackNumbers(packed, rows) {
  if (packed[9] === 0) return new Uint32Array(joinPlanes(packed, 10, 8, rows).buffer);
  const usual = new Uint32Array(packed.slice(10, 18).buffer), bits = 18, planes = bits + ((rows + 7) >> 3);
  let count = rows;
  for (let row = 0; row < rows; row++) count -= (packed[bits + (row >> 3)] >> (row & 7)) & 1;
  const held = new Uint32Array(joinPlanes(packed, planes, 8, count).buffer), halves = new Uint32Array(2 * rows);
  for (let row = 0, at = 0; row < rows; row++) {
    const isUsual = (packed[bits + (row >> 3)] >> (row & 7)) & 1;
    halves[2 * row] = isUsual ? usual[0] : held[at];
    halves[2 * row + 1] = isUsual ? usual[1] : held[at + 1];
    at += isUsual ? 0 : 2;
  }
  return halves;
}

class Column {
  constructor(sheet, facts) {
    this.sheet = sheet;
    this.name = facts.name;
    this.numbers = facts.numbers;
    this.whole = facts.whole;
    this.block = facts.block;
    this.base = facts.base; // the column that this one is packed as the difference of; or undefined
    this.places = null; // of texts
    this.values = null; // numbers
    this.halves = null; // their bits
    this.loading = null;
  }

  get ready() {
    return this.places !== null || this.values !== null;
  }

  load() {
    if (this.loading === null) this.loading = this.read();
    return this.loading;
  }

  // Of columns with the same content one block is on the page.
  async read() {
    const first = this.sheet.columns.find((column) => column.block === this.block);
    if (first !== this) {
      await first.load();
      this.places = first.places;
      this.values = first.values;
      this.halves = first.halves;
      return this;
    }
    const packed = await unpack(this.block), rows = this.sheet.rows;
    const words = this.numbers && !this.whole ? unpackNumbers(packed, rows) : unpackWords(packed, rows);
    if (!this.numbers) {
      this.places = words;
      return this;
    }
    if (this.base !== undefined) {
      const { halves } = await this.sheet.columns[this.base].load();
      for (let i = 0; i < words.length; i++) words[i] ^= halves[i];
    }
    this.values = this.whole ? Float64Array.from(words) : new Float64Array(words.buffer);
    this.halves = new Uint32Array(this.values.buffer);
    return this;
  }

  // The place of the cell's text in the dictionary; -1 for a number.
  place(row) {
    if (!this.numbers) return this.places[row];
    return this.halves[2 * row + 1] === BOX ? this.halves[2 * row] : -1;
  }

  // The number in a cell, also of a text that is one; NaN when there is none.
  value(row) {
    const place = this.place(row);
    return place < 0 ? this.values[row] : this.sheet.numberOf(place);
  }

  // Whether the cell holds NaN or an infinity, as a number or in words.
  isOdd(row) {
    const place = this.place(row);
    return place < 0 ? !Number.isFinite(this.values[row]) : this.sheet.isOddWord(place);
  }

  // All of a cell, and what fits the screen.
  full(row) {
    const place = this.place(row);
    return place < 0 ? fullNumber(this.values[row]) : this.sheet.texts[place];
  }

  short(row) {
    const place = this.place(row);
    if (place < 0) return shortNumber(this.values[row]);
    const text = this.sheet.texts[place];
    const percent = text.length > 8 && /^-?[\d.]+(e[-+]?\d+)?%$/i.test(text);
    return percent ? shortNumber(Number(text.slice(0, -1))) + "%" : text;
  }
}

class Sheet {
  constructor(facts) {
    this.rows = facts.rows;
    this.columns = facts.columns.map((column) => new Column(this, column));
    this.byName = new Map(this.columns.map((column) => [column.name, column]));
    this.blocks = facts.texts;
    this.texts = [""];
    this.parsed = new Map();
  }

  column(name) {
    return this.byName.get(name) || null;
  }

  async loadTexts() {
    const parts = await Promise.all(this.blocks.map(unpackJson));
    if (parts.length !== 0) this.texts = [];
    for (const part of parts)
      for (let i = 0, text = ""; i < part.length; i += 2) {
        text = text.slice(0, part[i]) + part[i + 1];
        this.texts.push(text);
      }
  }

  numberOf(place) {
    let number = this.parsed.get(place);
    if (number === undefined) this.parsed.set(place, (number = numberInText(this.texts[place])));
    return number;
  }

  isOddWord(place) {
    return /^\s*(nan|[-+]?inf(inity)?)\s*$/i.test(this.texts[place]);
  }

  // Flags by place: texts that hold all the words of a query, letter case apart.
  matching(query) {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const flags = new Uint8Array(this.texts.length);
    this.texts.forEach((text, place) => {
      const lower = text.toLowerCase();
      flags[place] = words.every((word) => lower.includes(word)) ? 1 : 0;
    });
    return flags;
  }
}

async function loadReport() {
  const facts = await unpackJson(0);
  const sheets = {};
  for (const sheet of facts.sheets) sheets[sheet.name] = new Sheet(sheet);
  return { facts, rows: sheets.rows, slots: sheets.slots };
}
