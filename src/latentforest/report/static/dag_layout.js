// Places of a directed graph: layers by longest path, fewer crossings by medians, straight arcs.

/** Layer of each node: after all its parents, then as near to its children as it can be. */
function findLayers(ids, arcs) {
  const [above, below] = [new Map(), new Map()];
  for (const id of ids) { above.set(id, []); below.set(id, []); }
  for (const { from, to } of arcs) { above.get(to).push(from); below.get(from).push(to); }
  const layer = new Map();
  const waiting = new Map(ids.map((id) => [id, above.get(id).length]));
  const ready = ids.filter((id) => waiting.get(id) === 0);
  for (let k = 0; k < ready.length; k += 1) {
    const id = ready[k];
    layer.set(id, Math.max(-1, ...above.get(id).map((one) => layer.get(one))) + 1);
    for (const child of below.get(id)) {
      waiting.set(child, waiting.get(child) - 1);
      if (waiting.get(child) === 0) ready.push(child);
    }
  }
  for (const id of ready.reverse()) {
    const children = below.get(id).map((child) => layer.get(child));
    if (children.length && !above.get(id).length) layer.set(id, Math.min(...children) - 1);
  }
  return layer;
}

/** Long arcs pass through a dummy in every layer between. */
function buildLayers(ids, arcs, layer) {
  const nodes = new Map(ids.map((id) => [id, { id, layer: layer.get(id), up: [], down: [] }]));
  const layers = Array.from({ length: Math.max(...layer.values()) + 1 }, () => []);
  for (const id of ids) layers[layer.get(id)].push(nodes.get(id));
  const routes = arcs.map((arc) => {
    const route = [nodes.get(arc.from)];
    for (let k = layer.get(arc.from) + 1; k < layer.get(arc.to); k += 1) {
      const dummy = { id: null, layer: k, up: [], down: [] };
      layers[k].push(dummy);
      route.push(dummy);
    }
    route.push(nodes.get(arc.to));
    for (let k = 1; k < route.length; k += 1) {
      route[k - 1].down.push(route[k]);
      route[k].up.push(route[k - 1]);
    }
    return { arc, route };
  });
  return { layers, routes, nodes };
}

function numberPlaces(layers) {
  for (const layer of layers) layer.forEach((node, place) => { node.place = place; });
}

function countCrossings(layers) {
  let count = 0;
  for (const layer of layers) {
    const ends = layer.flatMap((node) =>
      node.down.map((next) => next.place).sort((a, b) => a - b));
    for (let i = 0; i < ends.length; i += 1) {
      for (let j = i + 1; j < ends.length; j += 1) if (ends[i] > ends[j]) count += 1;
    }
  }
  return count;
}

function median(values, otherwise) {
  if (!values.length) return otherwise;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function sweep(layers, isDown) {
  const order = isDown ? layers : [...layers].reverse();
  for (const layer of order.slice(1)) {
    for (const node of layer) {
      const beside = isDown ? node.up : node.down;
      node.rank = median(beside.map((other) => other.place), node.place);
    }
    layer.sort((a, b) => a.rank - b.rank || a.place - b.place);
    layer.forEach((node, place) => { node.place = place; });
  }
}

function reduceCrossings(layers) {
  numberPlaces(layers);
  let best = layers.map((layer) => [...layer]);
  let least = countCrossings(layers);
  const total = layers.reduce((sum, layer) => sum + layer.length, 0);
  for (let round = 0; round < (total > 2000 ? 6 : 24) && least > 0; round += 1) {
    sweep(layers, round % 2 === 0);
    const count = countCrossings(layers);
    if (count < least) { least = count; best = layers.map((layer) => [...layer]); }
  }
  best.forEach((layer, k) => layers.splice(k, 1, layer));
  numberPlaces(layers);
}

/** Nearest heights to the wished ones that keep order and distances (pooled neighbours). */
function spread(layer, wishes) {
  const offsets = [0];
  for (let k = 1; k < layer.length; k += 1) {
    offsets.push(offsets[k - 1] + (layer[k - 1].height + layer[k].height) / 2 + 10);
  }
  const pools = [];
  layer.forEach((node, k) => {
    const weight = node.id === null ? 3 : 1;
    pools.push({ sum: weight * (wishes[k] - offsets[k]), weight, count: 1 });
    while (pools.length > 1) {
      const [a, b] = pools.slice(-2);
      if (a.sum / a.weight <= b.sum / b.weight) break;
      pools.splice(-2, 2, { sum: a.sum + b.sum, weight: a.weight + b.weight, count: a.count + b.count });
    }
  });
  let k = 0;
  for (const pool of pools) {
    for (let n = 0; n < pool.count; n += 1, k += 1) layer[k].y = pool.sum / pool.weight + offsets[k];
  }
}

function placeHeights(layers) {
  for (const layer of layers) spread(layer, layer.map(() => 0));
  for (let round = 0; round < 16; round += 1) {
    const order = round % 2 ? [...layers].reverse() : layers;
    for (const layer of order) {
      spread(layer, layer.map((node) => {
        const beside = round < 12 ? (round % 2 ? node.down : node.up) : [...node.up, ...node.down];
        const known = beside.length ? beside : [...node.up, ...node.down];
        return known.length ? known.reduce((sum, other) => sum + other.y, 0) / known.length : node.y;
      }));
    }
  }
}

/** Arcs leave and enter a card at different heights, in the order of their other ends. */
function spreadPorts(routes) {
  const [out, into] = [new Map(), new Map()];
  for (const one of routes) {
    const [first, last] = [one.route[0], one.route[one.route.length - 1]];
    out.set(first, [...(out.get(first) || []), one]);
    into.set(last, [...(into.get(last) || []), one]);
  }
  const assignPorts = (groups, other, key) => {
    for (const [node, list] of groups) {
      list.sort((a, b) => other(a).y - other(b).y);
      const step = Math.min(9, (node.height - 12) / list.length);
      list.forEach((one, k) => { one[key] = node.y + step * (k - (list.length - 1) / 2); });
    }
  };
  assignPorts(out, (one) => one.route[1], "y0");
  assignPorts(into, (one) => one.route[one.route.length - 2], "y1");
}

/** Places of all nodes and the points of all arcs; `style` has card, gap and cardHeight(id). */
function layDag(ids, arcs, style) {
  const { layers, routes, nodes } = buildLayers(ids, arcs, findLayers(ids, arcs));
  for (const layer of layers) {
    for (const node of layer) node.height = node.id === null ? 4 : style.cardHeight(node.id);
  }
  reduceCrossings(layers);
  placeHeights(layers);
  const all = layers.flat();
  const top = Math.min(...all.map((node) => node.y - node.height / 2));
  const step = style.card + style.gap;
  for (const node of all) { node.y -= top; node.x = node.layer * step; }
  spreadPorts(routes);
  const height = Math.max(...all.map((node) => node.y + node.height / 2));
  return { nodes: [...nodes.values()], routes, height, width: layers.length * step - style.gap };
}
