// Which branches are open, and what stands beside a card: columns, words, or how many are folded.

const OPEN_ALL = 60;
const LIST_ALL = 80;
const LISTED = 8;
const STAR_LISTED = 40;
const TALLEST = 780;

/** The lines beside a card, without texts. `link` is there if a line is drawn to the card. */
function listLines(node, { nColumns, isOpen, isListed }) {
  const nHidden = node.branches.length && !isOpen(node) ? node.count : 0;
  if (nHidden) return [{ kind: "fold", id: node.id, count: nHidden }];
  if (!node.columns.length) return [];
  const isStar = !node.parent && !node.branches.length; // one card: its columns on both sides
  if (nColumns > LIST_ALL && !isStar && !isListed(node)) {
    return [{ kind: "words", id: node.id, link: null }];
  }
  const isWhole = isListed(node) || node.columns.length <= (isStar ? OPEN_ALL : LISTED + 1);
  const shown = isWhole ? node.columns : node.columns.slice(0, isStar ? STAR_LISTED : LISTED);
  const lines = shown.map((link) => ({ kind: "column", id: link.id, link }));
  if (shown.length < node.columns.length) {
    lines.push({ kind: "more", id: node.id, count: node.columns.length - shown.length });
  }
  return lines;
}

/** Branches to open: the one with the most mutual information in it, while the drawing fits. */
function chooseOpen(roots, nColumns, lay) {
  const open = new Set();
  if (nColumns <= OPEN_ALL) {
    for (const root of roots) walk(root, (node) => open.add(node.id));
    return open;
  }
  for (const root of roots) open.add(root.id);
  let waiting = roots.flatMap((root) => root.branches);
  while (waiting.length) {
    waiting.sort((a, b) => b.total - a.total || a.id - b.id);
    const node = waiting.shift();
    if (!node.branches.length) continue;
    open.add(node.id);
    const drawing = lay(open);
    if (drawing.height > TALLEST || !drawing.fits) open.delete(node.id);
    else waiting.push(...node.branches);
  }
  return open;
}

/** Open the way to a node; then fold what is used least until the drawing fits again. */
function openPath(target, open, roots, lay, lastUsed) {
  const path = new Set();
  for (let node = target; node; node = node.parent) { path.add(node.id); open.add(node.id); }
  for (let drawing = lay(open); drawing.height > TALLEST || !drawing.fits; drawing = lay(open)) {
    const spare = [];
    for (const root of roots) {
      walk(root, (node) => {
        const isSpare = open.has(node.id) && node.parent && node.branches.length
          && !path.has(node.id) && node.branches.every((branch) =>
            !branch.branches.length || !open.has(branch.id));
        if (isSpare) spare.push(node);
      });
    }
    if (!spare.length) return;
    spare.sort((a, b) => (lastUsed.get(a.id) || 0) - (lastUsed.get(b.id) || 0)
      || a.total - b.total);
    open.delete(spare[0].id);
  }
}
