// state.js - what is shown and selected, in the address behind '#', so that a link tells it all.
"use strict";

const DEFAULTS = {
  view: "",        // tab
  q: "",           // words to look for
  levels: "",      // classes, by key, with commas between; empty: all
  colour: "",
  state: "",       // input, output, ...
  direction: "",
  dtype: "",       // "differ", or the name of one
  only: "",        // odd, test, ref, origin
  source: "",      // number of a comparison; empty: all
  sort: "",        // column
  order: "",       // up, down
  columns: "",     // main; empty: all
  metric: "",      // of the strip
  along: "",       // of the strip: layers; empty: calls
  row: "",         // selected
  module: "",      // selected
  api: "",         // selected in the precheck
  across: "",      // heat map: ranks, steps
};

const State = {
  values: { ...DEFAULTS },
  listeners: [],

  get(name) {
    return this.values[name];
  },

  // Runs action(changed names) whenever one of these changes.
  on(names, action) {
    this.listeners.push({ names, action });
  },

  set(patch) {
    const changed = Object.keys(patch).filter((name) => String(patch[name]) !== this.values[name]);
    if (changed.length === 0) return;
    for (const name of changed) this.values[name] = String(patch[name]);
    this.write();
    this.tell(changed);
  },

  tell(changed) {
    for (const { names, action } of this.listeners)
      if (names.some((name) => changed.includes(name))) action(changed);
  },

  address() {
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(this.values)) if (value !== DEFAULTS[name]) words.set(name, value);
    return words.toString();
  },

  write() {
    const address = this.address();
    if (address !== location.hash.slice(1)) history.replaceState(null, "", "#" + address);
  },

  // Takes over what the address says; unknown words are left alone.
  read() {
    const words = new URLSearchParams(location.hash.slice(1));
    const patch = {};
    for (const name of Object.keys(DEFAULTS)) patch[name] = words.get(name) ?? DEFAULTS[name];
    const changed = Object.keys(patch).filter((name) => patch[name] !== this.values[name]);
    Object.assign(this.values, patch);
    if (changed.length !== 0) this.tell(changed);
  },
};
