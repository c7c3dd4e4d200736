// The picture of a forest: cards, columns, edges; drawn again when anything changes.

const forest = content.graph.kind === "dag" ? { trees: [], alone: [] } : buildForest(content);
const nodeOf = new Map();
for (const tree of forest.trees) walk(tree, (node) => nodeOf.set(node.id, node));
const columnHome = new Map();
for (const node of nodeOf.values()) for (const link of node.columns) columnHome.set(link.id, node);

const NARROW = 760;
const WIDEST_EDGE = 11;
const strongest = {
  bits: Math.max(1e-9, ...content.graph.edges.map((edge) => edge.bits || 0)),
  share: Math.max(1e-9, ...content.graph.edges.map((edge) => edge.share || 0)),
};

function edgeWidth(link) {
  const part = (link[state.width] || 0) / strongest[state.width];
  return Math.max(0.8, WIDEST_EDGE * part);
}

/** How layout.js measures: widths of texts, heights of cards, what hangs beside them. */
function treeStyle(width, open) {
  const small = columnIds.length <= 14;
  const card = small ? 128 : 104;
  const bold = measureIn("600 12px");
  const plain = measureIn("12px");
  const isOpen = (node) => open.has(node.id);
  const isListed = (node) => state.listed.has(node.id);
  const names = (node) => breakName(variableName(node.id), card - 12, bold);
  return {
    width, card, isOpen, edgeWidth, names,
    cardHeight: (node) => 22 + 14 * names(node).length,
    lines: (node) => listLines(node, { nColumns: columnIds.length, isOpen, isListed })
      .map((line) => ({ ...line, ...describeLine(line, node, plain) })),
  };
}

function describeLine(line, node, measure) {
  if (line.kind === "column") {
    const text = shortName(line.id, node.id);
    return { text, mark: MARK, want: Math.min(measure(cutText(text, 80)) + 2, 260) };
  }
  if (line.kind === "words") {
    const words = node.columns.map((link) => shortName(link.id, node.id));
    return { words, mark: 2, want: Math.min(measure(joinWords(words, 150, measure)) + 2, 170) };
  }
  const text = line.kind === "fold" ? countOf(line.count, "column") : line.count + " more\u2026";
  return { text, mark: line.kind === "fold" ? 0 : MARK, want: measure(text) + 16 };
}

/** "acm, ieee, symposium + 5": as many words as fit, at least one. */
function joinWords(words, width, measure) {
  let text = null;
  for (let count = Math.min(words.length, 8); count >= 1; count -= 1) {
    const rest = words.length - count;
    const joined = words.slice(0, count).join(", ");
    text = joined + (rest ? " + " + rest : "");
    if (joined.length < 400 && measure(text) <= width) return text;
  }
  const tail = words.length > 1 ? " + " + (words.length - 1) : "";
  return fitText(words[0], Math.max(24, width - measure(tail)), measure) + tail;
}

function layWith(width) {
  return (open) => layForest(forest.trees, treeStyle(width, open));
}

function openBranches() {
  if (!state.openBranches) {
    const width = Math.max(NARROW, pictureWidth());
    state.openBranches = chooseOpen(forest.trees, columnIds.length, layWith(width));
  }
  return state.openBranches;
}

function pictureWidth() {
  return state.printWidth || byId("picture-frame").clientWidth || 1152;
}

/** A sentence for those who hear the picture. */
function nodeSentence(id) {
  const variable = variables[id];
  const name = variableName(id, 200);
  if (isContinuous(id)) return name + ", continuous column, mean " + formatValue(variable.mean);
  const shares = [...sharesNow(id)].slice(0, 8)
    .map((share, k) => stateName(id, k, 40) + " " + formatPercent(share));
  const kind = variable.latent ? ", hidden variable, " : ", column, ";
  return name + kind + countOf(variable.states.length, variable.latent ? "state" : "value") + ": "
    + shares.join(", ");
}

function variableMark(id, x, y, width, height) {
  const isSet = state.evidence.has(id);
  if (isSet && !isContinuous(id)) {
    return draw("rect", { x, y, width, height, class: "set" });
  }
  if (isContinuous(id)) {
    const heights = isSet ? spikeAt(id) : densityNow(id);
    return draw("path", { d: densityPath(heights, x, y - 3, width, height + 4),
      class: isSet ? "shape set" : "shape" });
  }
  return cutBar(x, y, width, height, sharesNow(id), variables[id].latent ? "state" : "value");
}

/** A narrow peak where a continuous variable was set. */
function spikeAt(id) {
  const { range: [low, high], density } = variables[id];
  const place = (state.evidence.get(id) - low) / (high - low || 1) * (density.length - 1);
  return density.map((_, k) => Math.exp(-Math.pow((k - clamp(place, 0, density.length - 1)) / 1.5, 2)));
}

function activate(handler) {
  return {
    click: handler,
    keydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      handler(event);
    },
  };
}

function drawCard(card, style) {
  const id = card.node.id;
  const top = card.y - card.card / 2;
  const kind = variables[id].latent ? "latent" : "observed";
  const isOpen = state.open === id && variables[id].latent;
  const lines = style.names(card.node);
  const middle = card.x + style.card / 2;
  const group = draw("g", {
    class: "node card " + kind + (isOpen ? " open" : "") + (state.evidence.has(id) ? " chosen" : ""),
    role: "button", tabindex: 0, "data-key": "node-" + id, "aria-label": nodeSentence(id),
    on: activate(() => openVariable(id)),
  });
  group.append(
    draw("title", {}, variableName(id)),
    draw("rect", { x: card.x, y: top, width: style.card, height: card.card, rx: 7, class: "frame" }),
    ...lines.map((line, k) => draw("text", { x: middle, y: top + 14 + 14 * k, class: "name",
      "text-anchor": "middle" }, line)),
    variableMark(id, card.x + 7, top + card.card - 15, style.card - 14, 8),
  );
  group.place = { x: middle, y: card.y };
  return group;
}

/** The handle that folds an open branch, at the outer corner of its card. */
function drawHandle(card, style) {
  const x = card.side < 0 ? card.x + 1 : card.x + style.card - 1;
  const y = card.y - card.card / 2 + 1;
  const handle = draw("g", { class: "node handle", role: "button", tabindex: 0,
    "data-key": "fold-" + card.node.id,
    "aria-label": "Fold the branch of " + variableName(card.node.id, 80),
    on: activate(() => toggleBranch(card.node)) });
  handle.append(draw("circle", { cx: x, cy: y, r: 7 }), draw("path", { d: `M${x - 3.5} ${y}h7` }));
  handle.place = { x, y };
  return handle;
}

function drawLine(line, style) {
  const plain = measureIn("12px");
  const isColumn = line.kind === "column";
  const anchor = line.side < 0 ? "end" : "start";
  const text = line.kind === "words" ? joinWords(line.words, line.room, plain)
    : fitText(line.text, Math.max(line.room, 24), plain);
  const at = line.x + line.side * line.mark;
  const group = draw("g", {
    class: "node line " + line.kind + (isColumn && state.evidence.has(line.id) ? " chosen" : ""),
    role: "button", tabindex: isColumn ? -1 : 0,
    "data-key": (isColumn ? "node-" : line.kind + "-") + line.id,
    "aria-label": lineSentence(line), on: activate(() => pressLine(line)),
  });
  const width = plain(text) + line.mark + 4;
  group.append(draw("title", {}, isColumn ? variableName(line.id) : lineSentence(line)),
    draw("rect", { class: "ground", x: line.side < 0 ? line.x - width : line.x, y: line.y - ROW / 2,
      width, height: ROW }));
  if (isColumn) {
    const left = line.side < 0 ? line.x - 22 : line.x;
    group.append(variableMark(line.id, left, line.y - 4, 22, 8));
  }
  group.append(drawLineText(line, text, at, anchor));
  group.place = { x: at, y: line.y };
  return group;
}

function drawLineText(line, text, x, anchor) {
  const attributes = { x, y: line.y + 4, "text-anchor": anchor };
  if (line.kind === "fold") {
    const shown = line.side < 0 ? text + " \u25c2" : "\u25b8 " + text;
    return draw("text", { ...attributes, x: line.x - line.side * 20, class: "quiet" }, shown);
  }
  const match = line.kind === "words" ? text.match(/^(.*?)( \+ \d+)$/) : null;
  if (!match) return draw("text", { ...attributes, class: line.kind === "more" ? "quiet" : null }, text);
  return draw("text", attributes, match[1], draw("tspan", { class: "quiet" }, match[2]));
}

function lineSentence(line) {
  if (line.kind === "column") return nodeSentence(line.id);
  const name = variableName(line.id, 80);
  if (line.kind === "fold") return "Unfold " + countOf(line.count, "column") + " under " + name;
  if (line.kind === "more") return "List " + line.count + " more columns of " + name;
  return "List the columns of " + name + ": " + line.words.slice(0, 12).join(", ");
}

function pressLine(line) {
  if (line.kind === "column") return openVariable(line.id);
  if (line.kind === "fold") return toggleBranch(nodeOf.get(line.id));
  state.listed.add(line.id);
  return drawPicture();
}

function toggleBranch(node) {
  const open = openBranches();
  if (open.has(node.id)) open.delete(node.id);
  else open.add(node.id);
  state.lastUsed.set(node.id, state.lastUsed.size + 1);
  drawPicture();
  const again = findKey(byId("picture-frame"), "node-" + node.id);
  if (again) again.focus({ preventScroll: true });
}

function edgePath(edge) {
  const bend = (edge.x + edge.x0) / 2;
  const f = (value) => value.toFixed(1);
  return `M${f(edge.x0)} ${f(edge.y0)}C${f(bend)} ${f(edge.y0)} ${f(bend)} ${f(edge.y)} `
    + `${f(edge.x)} ${f(edge.y)}`;
}

function drawEdge(edge) {
  const isHidden = edge.isCard && variables[edge.from].latent && variables[edge.to].latent;
  return draw("path", { d: edgePath(edge), "stroke-width": edge.width.toFixed(2),
    class: isHidden ? "edge hidden-edge" : "edge" });
}

/** A bracket beside columns that go together beyond what their card explains. */
function drawPouches(drawing) {
  const places = new Map(drawing.lines.filter((line) => line.kind === "column")
    .map((line) => [line.id, line]));
  return (content.graph.pouches || []).flatMap((pouch) => {
    const lines = pouch.map((id) => places.get(id)).filter(Boolean).sort((a, b) => a.y - b.y);
    if (lines.length < 2) return [];
    const x = lines[0].x + lines[0].side * 24.5;
    return [draw("path", { class: "pouch",
      d: `M${x} ${lines[0].y - 5}V${lines[lines.length - 1].y + 5}` })];
  });
}

function drawForest() {
  const width = pictureWidth();
  const style = treeStyle(width, openBranches());
  const drawing = layForest(forest.trees, style);
  const size = { width: drawing.width, height: drawing.height + 4 };
  const view = draw("g", { class: "view" });
  view.append(
    ...drawing.edges.filter((edge) => !edge.isCard).map(drawEdge),
    ...drawing.edges.filter((edge) => edge.isCard).map(drawEdge),
    ...drawPouches(drawing),
    ...drawing.lines.map((line) => drawLine(line, style)),
    ...drawing.cards.map((card) => drawCard(card, style)),
    ...drawing.cards.filter((card) => card.branches.length && card.depth > 0)
      .map((card) => drawHandle(card, style)),
  );
  state.places = new Map([
    ...drawing.cards.map((card) => [card.node.id, { x: card.x + style.card / 2, y: card.y }]),
    ...drawing.lines.filter((line) => line.kind === "column")
      .map((line) => [line.id, { x: line.x + line.side * 11, y: line.y }]),
  ]);
  state.joints = drawing.edges.filter((edge) => state.places.has(edge.to));
  return makeCanvas(view, size);
}
