// The graph as trees to hang: which nodes are cards, where each tree balances, what hangs on what.

/** Neighbours of each variable, the strongest first. */
function listNeighbours(content) {
  const neighbours = content.variables.map(() => []);
  for (const { from, to, bits, share } of content.graph.edges) {
    const strength = { bits: bits || 0, share: share || 0 };
    neighbours[from].push({ id: to, ...strength });
    neighbours[to].push({ id: from, ...strength });
  }
  for (const list of neighbours) list.sort((a, b) => b.bits - a.bits || a.id - b.id);
  return neighbours.map((list) => joinPouches(list, content.graph.pouches || []));
}

/** Members of a pouch stand together, where the strongest of them is. */
function joinPouches(list, pouches) {
  const joined = [];
  for (const link of list) {
    if (joined.includes(link)) continue;
    const pouch = pouches.find((ids) => ids.length > 1 && ids.includes(link.id));
    joined.push(...(pouch ? list.filter((other) => pouch.includes(other.id)) : [link]));
  }
  return joined;
}

function listComponents(neighbours) {
  const seen = new Set();
  const components = [];
  neighbours.forEach((_, start) => {
    if (seen.has(start)) return;
    const ids = [start];
    seen.add(start);
    for (let k = 0; k < ids.length; k += 1) {
      for (const { id } of neighbours[ids[k]]) {
        if (!seen.has(id)) { seen.add(id); ids.push(id); }
      }
    }
    components.push(ids);
  });
  return components;
}

/** Cards: hidden variables, and columns that stand between others. */
function findCards(ids, neighbours, variables) {
  const cards = ids.filter((id) => variables[id].latent || neighbours[id].length > 1);
  return cards.length || ids.length < 2 ? cards : [Math.min(...ids)];
}

function distancesFrom(start, neighbours) {
  const distances = new Map([[start, 0]]);
  for (const [id, distance] of distances) {
    for (const next of neighbours[id]) {
      if (!distances.has(next.id)) distances.set(next.id, distance + 1);
    }
  }
  return distances;
}

/** The card nearest to all columns; trees that are less deep are preferred. */
function findCentre(ids, cards, neighbours, variables) {
  let [best, least] = [cards[0], Infinity];
  const hidden = cards.filter((id) => variables[id].latent);
  for (const id of hidden.length ? hidden : cards) {
    let [sum, largest] = [0, 0];
    for (const [other, distance] of distancesFrom(id, neighbours)) {
      if (!variables[other].latent) sum += distance;
      largest = Math.max(largest, distance);
    }
    const cost = sum + 0.12 * ids.length * largest;
    if (cost < least - 1e-9) [best, least] = [id, cost];
  }
  return best;
}

/** A node with its columns (leaves) and branches (cards), the strongest first. */
function hang(id, parent, link, neighbours, cards) {
  const node = { id, parent, link, columns: [], branches: [], total: link ? link.bits : 0 };
  for (const next of neighbours[id]) {
    if (parent && next.id === parent.id) continue;
    if (cards.has(next.id)) node.branches.push(hang(next.id, node, next, neighbours, cards));
    else node.columns.push(next);
  }
  node.count = node.columns.length;
  for (const column of node.columns) node.total += column.bits;
  for (const branch of node.branches) {
    node.count += branch.count;
    node.total += branch.total;
  }
  return node;
}

/** All trees of a forest, largest first, and the columns that are linked to nothing. */
function buildForest(content) {
  const neighbours = listNeighbours(content);
  const trees = [];
  const alone = [];
  for (const ids of listComponents(neighbours)) {
    const cards = findCards(ids, neighbours, content.variables);
    if (!cards.length) { alone.push(...ids); continue; }
    const centre = findCentre(ids, cards, neighbours, content.variables);
    trees.push({ root: hang(centre, null, null, neighbours, new Set(cards)), size: ids.length });
  }
  trees.sort((a, b) => b.size - a.size);
  return { trees: trees.map((tree) => tree.root), alone };
}

function walk(node, visit) {
  visit(node);
  for (const branch of node.branches) walk(branch, visit);
}
