// The picture on narrow screens: an indented tree, one line for each card, edges as elbows.

const CARD_ROW = 27;

function listNarrow(node, depth, rows) {
  const open = openBranches();
  const isOpen = (one) => open.has(one.id);
  rows.push({ kind: "card", id: node.id, depth, node, up: node.link });
  const at = rows.length - 1;
  const isListed = (one) => state.listed.has(one.id);
  for (const line of listLines(node, { nColumns: columnIds.length, isOpen, isListed })) {
    rows.push({ ...line, depth: depth + 1, node, above: at });
  }
  if (!isOpen(node)) return;
  for (const branch of node.branches) {
    const place = rows.length;
    listNarrow(branch, depth + 1, rows);
    rows[place].above = at;
  }
}

function placeNarrow(rows, indent) {
  let y = 2;
  let last = null;
  for (const row of rows) {
    const height = row.kind === "card" ? CARD_ROW - 2 : ROW;
    if (row.kind === "card" && last !== null) y += last === "card" ? 3 : 5;
    row.x = row.depth * indent + 1;
    row.y = y + height / 2;
    row.height = height;
    y += height + (row.kind === "card" ? 1 : 0);
    last = row.kind;
  }
  return y + 4;
}

function drawNarrowCard(row, width) {
  const bold = measureIn("600 12px");
  const wide = width - row.x - 2;
  const bar = Math.min(92, wide * 0.36);
  const kind = variables[row.id].latent ? "latent" : "observed";
  const group = draw("g", { class: "node card " + kind + (state.open === row.id ? " open" : ""),
    role: "button", tabindex: 0, "data-key": "node-" + row.id, "aria-label": nodeSentence(row.id),
    on: activate(() => openVariable(row.id)) });
  group.append(
    draw("title", {}, variableName(row.id)),
    draw("rect", { x: row.x, y: row.y - row.height / 2, width: wide, height: row.height, rx: 6,
      class: "frame" }),
    draw("text", { x: row.x + 8, y: row.y + 4, class: "name" },
      fitText(variableName(row.id), wide - bar - 24, bold)),
    variableMark(row.id, width - bar - 9, row.y - 4, bar, 8),
  );
  group.place = { x: row.x, y: row.y };
  return group;
}

function drawNarrowLine(row, width) {
  const plain = measureIn("12px");
  const from = row.x + 4;
  const room = width - from - 34;
  const described = describeLine(row, row.node, plain);
  const text = row.kind === "words" ? joinWords(described.words, room + 28, plain)
    : fitText(described.text, room, plain);
  const isColumn = row.kind === "column";
  const group = draw("g", {
    class: "node line " + row.kind + (isColumn && state.evidence.has(row.id) ? " chosen" : ""),
    role: "button", tabindex: isColumn ? -1 : 0,
    "data-key": (isColumn ? "node-" : row.kind + "-") + row.id,
    "aria-label": lineSentence({ ...row, ...described }), on: activate(() => pressLine(row)),
  });
  group.append(draw("rect", { class: "ground", x: from, y: row.y - ROW / 2, width: width - from,
    height: ROW }));
  if (isColumn) group.append(variableMark(row.id, from, row.y - 4, 22, 8));
  const shown = row.kind === "fold" ? "\u25b8 " + text : text;
  group.append(draw("text", { x: from + (isColumn ? 28 : 2), y: row.y + 4,
    class: isColumn || row.kind === "words" ? null : "quiet" }, shown));
  group.place = { x: from, y: row.y };
  return group;
}

function drawElbow(row, rows, indent) {
  const above = rows[row.above];
  const link = row.kind === "card" ? row.up : row.link;
  const width = link ? Math.min(5, Math.max(0.8, edgeWidth(link) * 0.45)) : 0.8;
  const x = above.x + Math.min(7, indent / 2);
  const end = row.kind === "card" ? row.x : row.x + 2;
  const radius = Math.min(5, end - x);
  const isHidden = row.kind === "card" && variables[row.id].latent && variables[above.id].latent;
  return draw("path", { class: isHidden ? "edge hidden-edge" : "edge",
    "stroke-width": width.toFixed(2),
    d: `M${x} ${above.y + above.height / 2}V${row.y - radius}Q${x} ${row.y} ${x + radius} ${row.y}`
      + `H${end}` });
}

function drawNarrowForest() {
  const width = pictureWidth();
  const rows = [];
  for (const tree of forest.trees) listNarrow(tree, 0, rows);
  const deepest = Math.max(1, ...rows.map((row) => row.depth));
  const indent = Math.min(17, width * 0.36 / deepest);
  const height = placeNarrow(rows, indent);
  const view = draw("g", { class: "view" });
  const joined = rows.filter((row) => row.above !== undefined && row.kind !== "fold"
    && row.kind !== "more");
  view.append(
    ...joined.map((row) => drawElbow(row, rows, indent)).reverse(),
    ...rows.map((row) => (row.kind === "card" ? drawNarrowCard(row, width)
      : drawNarrowLine(row, width))),
  );
  state.places = new Map(rows.filter((row) => row.kind === "card" || row.kind === "column")
    .map((row) => [row.id, { x: row.x * 6, y: row.y }]));
  state.joints = joined.map((row) => ({ from: rows[row.above].id, to: row.id }))
    .filter((joint) => state.places.has(joint.to));
  return draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "picture",
    role: "group", "aria-label": pictureLabel() }, view);
}
