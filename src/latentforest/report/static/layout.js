// Places of a hung tree: two sides, rows that never overlap, edges stacked where they leave a card.
//
// The caller measures text: `style.cardHeight(node)`, `style.lines(node)` (what hangs beside a
// card: columns, words, "n more", or the fold) and the width that each line wants, `line.want`.

const ROW = 17;
const BETWEEN = 9;
const BESIDE = 24; // from a card to its columns
const MARK = 28;
const GAPS = { widest: 58, narrowest: 24 };
const LEAST_LABEL = 72;

function isOpenBranch(node, style) {
  return node.branches.length > 0 && style.isOpen(node);
}

/** Branches above and below the lines: the strongest nearest, both sides about as tall. */
function arrange(lines, branches) {
  const [above, below] = [[], []];
  let [up, down] = [0, 0];
  for (const branch of branches) {
    if (up <= down) { above.unshift(branch); up += branch.height + BETWEEN; }
    else { below.push(branch); down += branch.height + BETWEEN; }
  }
  const middle = lines.length ? [{ isLines: true, lines, height: lines.length * ROW }] : [];
  const parts = [...above, ...middle, ...below];
  const sum = parts.reduce((total, part) => total + part.height, 0);
  return { parts, height: sum + BETWEEN * Math.max(0, parts.length - 1) };
}

function copyNode(node, style) {
  const isOpen = isOpenBranch(node, style);
  const branches = isOpen ? node.branches.map((branch) => copyNode(branch, style)) : [];
  const lines = style.lines(node).map((line) => ({ ...line }));
  const isStar = !node.parent && !branches.length && lines.length > 6;
  const beside = isStar ? Math.min(130, BESIDE + 2 * lines.length) : BESIDE;
  for (const line of lines) line.beside = beside;
  const copy = { node, branches, lines, card: style.cardHeight(node) };
  copy.order = arrange(lines, branches);
  copy.height = Math.max(copy.card, copy.order.height);
  return copy;
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** Give rows to the parts of one side; returns the height at which their card should stand. */
function placeParts(parts, top, depth, side) {
  let y = top;
  let level = null;
  for (const part of parts) {
    if (part.isLines) {
      part.lines.forEach((line, k) => Object.assign(line, { y: y + ROW * (k + 0.5), depth, side }));
      level = y + part.height / 2;
    } else placeNode(part, y, depth + 1, side);
    y += part.height + BETWEEN;
  }
  if (level !== null || !parts.length) return level;
  return (parts[0].y + parts[parts.length - 1].y) / 2;
}

function placeNode(copy, top, depth, side) {
  const slack = (copy.height - copy.order.height) / 2;
  const level = placeParts(copy.order.parts, top + slack, depth, side);
  const middle = top + copy.height / 2;
  copy.y = clamp(level === null ? middle : level, top + copy.card / 2,
    top + copy.height - copy.card / 2);
  Object.assign(copy, { depth, side });
}

/** Branches of the centre to the left and right, tallest first, each to the shorter side. */
function divide(copy) {
  const items = copy.branches.map((branch) => ({ branch, height: branch.height }));
  if (copy.lines.length && items.length) {
    items.push({ lines: copy.lines, height: copy.lines.length * ROW });
  }
  items.sort((a, b) => b.height - a.height);
  const sides = [-1, 1].map((side) => ({ side, lines: [], branches: [], height: 0 }));
  for (const item of items) {
    const shorter = sides[0].height <= sides[1].height ? sides[0] : sides[1];
    if (item.branch) shorter.branches.push(item.branch);
    else shorter.lines = item.lines;
    shorter.height += item.height + BETWEEN;
  }
  if (!items.length) {
    const half = copy.lines.length > 3 ? Math.ceil(copy.lines.length / 2) : 0;
    sides[0].lines = copy.lines.slice(0, half);
    sides[1].lines = copy.lines.slice(half);
  }
  for (const side of sides) side.branches.sort((a, b) => b.node.link.bits - a.node.link.bits);
  return sides.map((side) => ({ ...side, ...arrange(side.lines, side.branches) }));
}

function placeCentre(copy, sides) {
  const height = Math.max(copy.card, ...sides.map((side) => side.height));
  const levels = sides.map((side) =>
    placeParts(side.parts, (height - side.height) / 2, 0, side.side));
  const withLines = sides.findIndex((side) => side.lines.length);
  const known = levels.filter((level) => level !== null);
  let y = known.length ? known.reduce((a, b) => a + b, 0) / known.length : height / 2;
  if (withLines >= 0) y = levels[withLines];
  copy.y = clamp(y, copy.card / 2, height - copy.card / 2);
  Object.assign(copy, { depth: 0, side: 0 });
  return height;
}

function gather(copy, cards, lines) {
  cards.push(copy);
  for (const line of copy.lines) lines.push(Object.assign(line, { owner: copy }));
  for (const branch of copy.branches) gather(branch, cards, lines);
}

function wantedLabels(lines, depths, step) {
  return [-1, 1].map((side, k) => Math.max(0, ...lines.filter((line) => line.side === side)
    .map((line) => line.beside + line.mark + line.want - (depths[k] - line.depth) * step)));
}

function leastLabels(lines, depths, step) {
  return [-1, 1].map((side, k) => Math.max(0, ...lines.filter((line) => line.side === side)
    .map((line) => line.beside + line.mark + Math.min(line.want, LEAST_LABEL)
      - (depths[k] - line.depth) * step)));
}

/** The gap between cards, then the room of the labels, until the drawing fits the width. */
function fitWidth(cards, lines, style) {
  const depths = [-1, 1].map((side) =>
    Math.max(0, ...cards.filter((card) => card.side === side).map((card) => card.depth)));
  const base = (gap) => (depths[0] + depths[1]) * (style.card + gap) + style.card;
  let gap = GAPS.widest;
  let labels = wantedLabels(lines, depths, style.card + gap);
  while (gap > GAPS.narrowest && base(gap) + labels[0] + labels[1] > style.width) {
    gap -= 2;
    labels = wantedLabels(lines, depths, style.card + gap);
  }
  const least = leastLabels(lines, depths, style.card + gap);
  const excess = base(gap) + labels[0] + labels[1] - style.width;
  if (excess > 0) labels = shareExcess(labels, least, excess);
  const width = base(gap) + labels[0] + labels[1];
  return { gap, labels, width, depths, fits: width <= style.width + 0.5 };
}

function shareExcess(labels, least, excess) {
  const room = labels.map((label, k) => Math.max(0, label - least[k]));
  const sum = room[0] + room[1];
  if (sum <= 0) return labels;
  const part = Math.min(1, excess / sum);
  return labels.map((label, k) => label - room[k] * part);
}

function placeAcross(cards, lines, fit, style) {
  const step = style.card + fit.gap;
  const centre = fit.labels[0] + fit.depths[0] * step;
  for (const card of cards) card.x = centre + card.side * card.depth * step;
  for (const line of lines) {
    const k = line.side < 0 ? 0 : 1;
    const edge = centre + line.side * line.depth * step + (line.side > 0 ? style.card : 0);
    line.x = edge + line.side * line.beside;
    line.room = fit.labels[k] + (fit.depths[k] - line.depth) * step - line.beside - line.mark;
  }
}

/** Edges leave a card on top of each other, in the order of where they go, as wide as they are. */
function stackEdges(cards, lines, style) {
  const edges = [];
  for (const card of cards) {
    for (const side of [-1, 1]) {
      const ends = [
        ...card.branches.filter((branch) => branch.side === side).map((branch) => ({
          to: branch.node.id, y: branch.y, x: side > 0 ? branch.x : branch.x + style.card,
          width: style.edgeWidth(branch.node.link), isCard: true, link: branch.node.link,
        })),
        ...card.lines.filter((line) => line.side === side && line.link !== undefined)
          .map((line) => ({
            to: line.id, y: line.y, x: line.x - side * 2, isCard: false, link: line.link,
            width: line.link ? style.edgeWidth(line.link) : 0.8,
          })),
      ].sort((a, b) => a.y - b.y);
      const sum = ends.reduce((total, end) => total + end.width, 0);
      const squeeze = Math.min(1, (card.card - 8) / Math.max(sum, 1));
      let y = card.y - sum * squeeze / 2;
      for (const end of ends) {
        const x = side > 0 ? card.x + style.card : card.x;
        edges.push({ ...end, from: card.node.id, x0: x, y0: y + end.width * squeeze / 2 });
        y += end.width * squeeze;
      }
    }
  }
  return edges;
}

/** Places of one tree in its own coordinates: `cards`, `lines`, `edges`, `width`, `height`. */
function layTree(root, style) {
  const copy = copyNode(root, style);
  const height = placeCentre(copy, divide(copy));
  const [cards, lines] = [[], []];
  gather(copy, cards, lines);
  const fit = fitWidth(cards, lines, style);
  placeAcross(cards, lines, fit, style);
  const edges = stackEdges(cards, lines, style);
  return { cards, lines, edges, width: fit.width, height, fits: fit.fits };
}

/** All trees below each other, each in the middle of the width. */
function layForest(roots, style) {
  const drawing = { cards: [], lines: [], edges: [], width: style.width, height: 0, fits: true };
  const trees = roots.map((root) => layTree(root, style));
  drawing.width = Math.max(style.width, ...trees.map((tree) => tree.width));
  for (const tree of trees) {
    const [dx, dy] = [(drawing.width - tree.width) / 2, drawing.height];
    for (const item of [...tree.cards, ...tree.lines]) { item.x += dx; item.y += dy; }
    for (const edge of tree.edges) {
      edge.x += dx; edge.x0 += dx; edge.y += dy; edge.y0 += dy;
    }
    drawing.cards.push(...tree.cards);
    drawing.lines.push(...tree.lines);
    drawing.edges.push(...tree.edges);
    drawing.height += tree.height + 24;
    drawing.fits = drawing.fits && tree.fits;
  }
  drawing.height = Math.max(0, drawing.height - 24);
  return drawing;
}
