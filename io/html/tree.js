// tree.js - the modules of the network with the worst level below each; calls are its leaves.
"use strict";

const TREE_PART = 200; // children that are made at a time

// Where a call stands: its module's place, segment by segment, then its own name.
function treePath(call) {
  if (call.path === undefined) {
    const place = call.module !== "" ? call.module.split(".") : [call.name.split(".")[0]];
    call.path = [...place, call.name].map((part) => part.replaceAll("/", "\u2215")).join("/");
  }
  return call.path;
}

class TreeNode {
  constructor(name, path) {
    this.name = name;
    this.path = path;
    this.children = new Map();
    this.calls = []; // of a leaf
    this.kind = 0;
    this.rows = 0;
    this.bad = 0;
  }

  child(name) {
    let child = this.children.get(name);
    if (child === undefined)
      this.children.set(name, (child = new TreeNode(name, this.path === "" ? name : this.path + "/" + name)));
    return child;
  }

  add(kind, rows, bad) {
    if (CLASS_WEIGHT[kind] > CLASS_WEIGHT[this.kind] || this.rows === 0) this.kind = kind;
    this.rows += rows;
    this.bad += bad;
  }
}

class Tree {
  constructor(model) {
    this.model = model;
    this.list = byId("tree");
    this.open = new Set();
    this.items = new Map(); // path -> li
  }

  build() {
    const { model } = this, root = new TreeNode("", ""), source = State.get("source");
    for (const call of model.calls) {
      if (source !== "" && call.source !== Number(source)) continue;
      const bad = call.rows.filter((row) => model.isDifference(row)).length;
      let node = root;
      for (const part of treePath(call).split("/")) {
        node = node.child(part);
        node.add(call.kind, call.rows.length, bad);
      }
      node.calls.push(call);
    }
    if (source === "") this.addLeftOut(root);
    this.root = root;
    this.source = source;
    this.items.clear();
    this.list.replaceChildren();
    if (root.children.size === 0) this.list.append(make("li", { class: "empty", role: "none" }, "No rows."));
    this.fill(this.list, root, 1);
    // a network has one root more often than not
    if (root.children.size === 1 && this.open.size === 0) this.toggle([...root.children.values()][0], true);
    for (const path of [...this.open]) this.reopen(path);
    this.showSelected();
  }

  // Rows that are not on the page are in the numbers of their modules.
  addLeftOut(root) {
    for (const left of this.model.facts.leftOut) {
      let node = root;
      for (const part of (left.module !== "" ? left.module.split(".") : ["other calls"])) {
        node = node.child(part.replaceAll("/", "\u2215"));
        left.classes.forEach((count, kind) => {
          if (count !== 0) node.add(kind, count, CLASS_WEIGHT[kind] >= this.model.leastDifference() ? count : 0);
        });
      }
    }
  }

  find(path) {
    let node = this.root;
    for (const part of path.split("/")) {
      node = node.children.get(part);
      if (node === undefined) return null;
    }
    return node;
  }

  item(node, depth) {
    const leaf = node.children.size === 0;
    const item = make("li", { role: "treeitem", "aria-level": depth, "aria-selected": "false", tabindex: "-1",
      "aria-expanded": leaf ? null : "false", "data-path": node.path });
    const line = make("div", { class: "node", onclick: () => this.choose(node) },
      make("span", { class: "caret", "aria-hidden": "true", onclick: (event) => {
        event.stopPropagation();
        this.toggle(node);
      } }, leaf ? "" : "\u25b8"),
      badge(this.model.facts, node.kind),
      make("span", { class: "label", title: visible(node.name) }, visible(leaf ? shortCall(node) : node.name)),
      make("span", { class: "tally" }, node.bad !== 0 ? grouped(node.bad) + " of " + grouped(node.rows) : grouped(node.rows)));
    line.style.paddingInlineStart = 0.35 + 0.85 * (depth - 1) + "rem";
    item.append(line);
    this.items.set(node.path, item);
    return item;
  }

  fill(list, node, depth, from = 0) {
    const children = [...node.children.values()];
    for (const child of children.slice(from, from + TREE_PART)) list.append(this.item(child, depth));
    const rest = children.length - from - TREE_PART;
    if (rest <= 0) return;
    const more = make("li", { role: "none" }, make("button", { type: "button", class: "more", onclick: () => {
      more.remove();
      this.fill(list, node, depth, from + TREE_PART);
    } }, grouped(rest) + " more"));
    list.append(more);
  }

  toggle(node, wanted) {
    const item = this.items.get(node.path);
    if (item === undefined || node.children.size === 0) return;
    const open = wanted ?? item.getAttribute("aria-expanded") !== "true";
    item.setAttribute("aria-expanded", String(open));
    if (open) this.open.add(node.path);
    else this.open.delete(node.path);
    let list = item.querySelector(":scope > ul");
    if (open && list === null) {
      list = make("ul", { role: "group" });
      item.append(list);
      this.fill(list, node, Number(item.getAttribute("aria-level")) + 1);
    }
    if (list !== null) list.hidden = !open;
  }

  reopen(path) {
    const node = this.find(path);
    if (node === null) this.open.delete(path);
    else this.reveal(path + "/", () => this.toggle(node, true));
  }

  // Opens everything above a path, then does something.
  reveal(path, then) {
    const parts = path.split("/");
    let above = "";
    for (const part of parts.slice(0, -1)) {
      above = above === "" ? part : above + "/" + part;
      const node = this.find(above);
      if (node === null) return;
      this.makeUpTo(node);
      this.toggle(node, true);
    }
    if (then) then();
  }

  // A node far down a long list is made with all before it.
  makeUpTo(node) {
    while (!this.items.has(node.path)) {
      const cut = node.path.lastIndexOf("/");
      const list = cut < 0 ? this.list : this.items.get(node.path.slice(0, cut))?.querySelector(":scope > ul");
      const more = list && list.querySelector(":scope > li > .more");
      if (!more) return;
      more.click();
    }
  }

  // A module filters the rows, a call is selected.
  choose(node) {
    if (node.calls.length !== 0) {
      const worst = node.calls.reduce((a, b) => (CLASS_WEIGHT[b.kind] > CLASS_WEIGHT[a.kind] ? b : a));
      State.set({ row: worstRow(this.model, worst) });
    } else {
      State.set({ module: State.get("module") === node.path ? "" : node.path });
      this.toggle(node, true);
    }
  }

  selectedPath() {
    const row = Number(State.get("row"));
    if (State.get("row") !== "" && row < this.model.rows) return treePath(this.model.calls[this.model.callOf[row]]);
    return State.get("module");
  }

  showSelected() {
    const path = this.selectedPath(), module = State.get("module");
    for (const item of this.list.querySelectorAll("[aria-selected=true], .filtering")) {
      item.setAttribute("aria-selected", "false");
      item.classList.remove("filtering");
      item.tabIndex = -1;
    }
    if (path !== "" && this.find(path) !== null) {
      this.reveal(path);
      this.makeUpTo(this.find(path));
    }
    const item = this.items.get(path), filtering = this.items.get(module);
    if (filtering !== undefined) filtering.classList.add("filtering");
    if (item !== undefined) {
      item.setAttribute("aria-selected", "true");
      this.scrollTo(item.firstElementChild);
    }
    (item || this.list.querySelector("[role=treeitem]"))?.setAttribute("tabindex", "0");
  }

  // In the list alone: the page stays where it is.
  scrollTo(line) {
    const box = this.list.getBoundingClientRect(), place = line.getBoundingClientRect();
    if (place.top < box.top) this.list.scrollTop -= box.top - place.top + 8;
    else if (place.bottom > box.bottom) this.list.scrollTop += place.bottom - box.bottom + 8;
  }

  onKey(event) {
    const item = event.target.closest("[role=treeitem]");
    if (item === null) return;
    const node = this.find(item.dataset.path), shown = [...this.list.querySelectorAll("[role=treeitem]")]
      .filter((one) => one.offsetParent !== null);
    const at = shown.indexOf(item), open = item.getAttribute("aria-expanded") === "true";
    const focus = (other) => {
      if (!other) return;
      item.tabIndex = -1;
      other.tabIndex = 0;
      other.focus();
    };
    const keys = {
      ArrowDown: () => focus(shown[at + 1]),
      ArrowUp: () => focus(shown[at - 1]),
      Home: () => focus(shown[0]),
      End: () => focus(shown[shown.length - 1]),
      ArrowRight: () => (open ? focus(shown[at + 1]) : this.toggle(node, true)),
      ArrowLeft: () => (open ? this.toggle(node, false) : focus(item.parentElement.closest("[role=treeitem]"))),
      Enter: () => this.choose(node),
      " ": () => this.choose(node),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  start() {
    this.list.addEventListener("keydown", (event) => this.onKey(event));
    State.on(["source"], () => this.build());
    State.on(["row", "module"], () => this.showSelected());
  }
}

// A call below its module: without what the module's own name says.
function shortCall(node) {
  const call = node.calls[0];
  if (call === undefined || call.module === "") return node.name;
  const head = node.name.split(".")[0] + "." + call.module + ".";
  return node.name.startsWith(head) ? node.name.slice(head.length) : node.name;
}
