// What surrounds the picture: switches, the line about evidence, the key.

let isSureToUnfold = false;

function makeSwitch(label, choices, chosen, choose) {
  const group = make("span", { class: "switch", role: "group", "aria-label": label });
  group.append(...choices.map(([value, text]) => button(text, () => choose(value), {
    "aria-pressed": String(value === chosen), "data-key": "switch-" + value })));
  return make("span", { class: "control" }, make("span", {}, label), group);
}

function countFolded() {
  const open = openBranches();
  let shown = 0;
  const look = (node) => {
    shown += 1;
    if (open.has(node.id)) node.branches.forEach(look);
  };
  forest.trees.forEach(look);
  return nodeOf.size - shown;
}

function unfoldAll() {
  if (columnIds.length > 400 && !isSureToUnfold) {
    isSureToUnfold = true;
    drawControls();
    return;
  }
  for (const node of nodeOf.values()) openBranches().add(node.id);
  drawPicture();
}

function foldAgain() {
  isSureToUnfold = false;
  state.openBranches = null;
  state.listed.clear();
  drawPicture();
}

function makeFoldControls() {
  if (content.graph.kind !== "forest" || columnIds.length <= OPEN_ALL
    || nodeOf.size < 2) return [];
  const nFolded = countFolded();
  const text = nFolded ? countOf(nFolded, "hidden variable")
    + (nFolded === 1 ? " is folded away" : " are folded away") : "Everything is open";
  const question = `Draw all ${formatCount(columnIds.length)} columns?`;
  return [make("span", { class: "control note" }, text), nFolded
    ? button(isSureToUnfold ? question : "Unfold all", unfoldAll, { "data-key": "unfold" })
    : button("Fold", foldAgain, { "data-key": "unfold" })];
}

function makeZoomControls() {
  const middle = () => [view.width / 2, view.height / 2];
  return make("span", { class: "zoom", role: "group", "aria-label": "Zoom" },
    button("\u2212", () => zoomBy(1 / 1.3, ...middle()), { "aria-label": "Smaller", "data-key": "out" }),
    button("+", () => zoomBy(1.3, ...middle()), { "aria-label": "Larger", "data-key": "in" }),
    button("Fit", zoomToFit, { "data-key": "fit" }));
}

function isNarrow() {
  return !state.printWidth && pictureWidth() < NARROW - 40;
}

function drawControls() {
  const holder = byId("picture-controls");
  if (!holder.querySelector(".find")) holder.append(make("span", { class: "before" }), makeFind());
  const choose = (width) => { state.width = width; drawPicture(); };
  const before = make("span", { class: "before" }, makeSwitch("Line width",
    [["bits", "bits shared"], ["share", "share explained"]], state.width, choose));
  const after = make("span", { class: "after" }, makeFoldControls(),
    isNarrow() ? null : makeZoomControls());
  keepFocus(holder, () => {
    holder.querySelector(".before").replaceWith(before);
    const old = holder.querySelector(".after");
    if (old) old.replaceWith(after);
    else holder.append(after);
  });
}

function drawEvidenceLine() {
  const line = byId("picture-evidence");
  const count = state.evidence.size;
  line.hidden = count === 0;
  if (!count) return;
  const values = [...state.evidence].map(describeValue).join("; ");
  const what = count === 1 ? "the value that you set: " : `the ${count} values that you set: `;
  fill(line, "The bars show what follows from " + what + values + ". ",
    button("Clear", clearAll, { "data-key": "clear" }));
}

function keyValues() {
  if (state.width === "share") return [0.1, 0.5, 1].map((part) => part * Math.min(1, strongest.share));
  if (strongest.bits >= 1) return [0.05, 0.5, 1];
  const unit = Math.pow(10, Math.floor(Math.log10(strongest.bits)));
  return [0.1, 0.5, 1].map((part) => part * unit);
}

function drawKey() {
  const values = keyValues();
  const texts = values.map((value) => (state.width === "share" ? formatPercent(value)
    : String(Number(value.toPrecision(1)))));
  const said = state.width === "share" ? " of the column\u2019s entropy explained" : " bit shared";
  const lines = draw("svg", { width: 126, height: 14, "aria-hidden": "true" });
  const isDag = content.graph.kind === "dag";
  values.forEach((value, k) => lines.append(draw("path", {
    class: latentIds.length > 1 ? "edge hidden-edge" : "edge", d: `M${k * 44} 7h36`,
    "stroke-width": (isDag ? arcWidth : edgeWidth)({ [state.width]: value }) })));
  const parts = [];
  if (latentIds.length) parts.push(make("span", {}, keyCard(), "hidden variable, cut by the sizes of its states"));
  if (columnIds.some((id) => !isContinuous(id))) {
    parts.push(make("span", {}, keyBar(), "column, cut by the shares of its values"));
  }
  const first = columnIds.find((id) => isContinuous(id));
  if (first !== undefined) {
    const shape = draw("svg", { width: 22, height: 12, "aria-hidden": "true" }, draw("path",
      { class: "shape", d: densityPath(variables[first].density, 0, 0, 22, 12) }));
    parts.push(make("span", {}, shape, "continuous column"));
  }
  if ((content.graph.pouches || []).some((pouch) => pouch.length > 1)) {
    parts.push(make("span", {}, draw("svg", { width: 4, height: 24, "aria-hidden": "true" },
      draw("path", { class: "pouch", d: "M2 0V24" })), "these go together beyond what the card explains"));
  }
  if (content.graph.edges.length) parts.push(make("span", {}, lines, texts.join(", ") + said));
  fill(byId("picture-key"), parts);
}

function keyCard() {
  const svg = draw("svg", { width: 86, height: 36, class: "picture", "aria-hidden": "true" });
  const card = draw("g", { class: "card latent" });
  card.append(draw("rect", { x: 1, y: 1, width: 84, height: 34, rx: 7, class: "frame" }),
    draw("text", { x: 43, y: 14, class: "name", "text-anchor": "middle" }, "Hidden"),
    cutBar(8, 20, 70, 8, [0.5, 0.3, 0.2], "state"));
  svg.append(card);
  return svg;
}

function keyBar() {
  return draw("svg", { width: 22, height: 8, "aria-hidden": "true" },
    cutBar(0, 0, 22, 8, [0.7, 0.3], "value"));
}

function drawAlone() {
  const alone = content.graph.kind === "dag" ? aloneInDag() : forest.alone;
  const line = byId("picture-alone");
  line.hidden = !alone.length;
  if (!alone.length) return;
  const names = alone.slice(0, 60).map((id) => variableName(id, 60));
  const rest = alone.length > 60 ? ` and ${alone.length - 60} more` : "";
  const isAll = alone.length === everyId.length;
  fill(line, isAll ? "" : alone.length === 1 ? "Linked to nothing: " : "Linked to nothing: ",
    names.join(", ") + rest + ".");
}

/** Draw the picture and all that belongs to it. */
function drawPicture() {
  const frame = byId("picture-frame");
  if (!frame) return;
  if (content.graph.edges.length || forest.trees.length) {
    keepFocus(frame, () => {
      let svg = null;
      if (content.graph.kind === "dag") svg = isNarrow() ? listDag() : drawDag();
      else svg = isNarrow() ? drawNarrowForest() : drawForest();
      fill(frame, svg);
    });
    drawControls();
    drawKey();
  }
  drawEvidenceLine();
  drawAlone();
}
