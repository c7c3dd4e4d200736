// Exact answers: messages in a junction tree, in logarithms. No document, only numbers.
//
// Discrete cells are row-major. A block of continuous variables is Gaussian for each configuration
// of its categorical parents: observed members weigh configurations, the others are mixtures.

const LOG_2_PI = Math.log(2 * Math.PI);

function sizeOf(ids, sizes) {
  return ids.reduce((product, id) => product * sizes[id], 1);
}

/** For each cell over `outer`, the cell over `inner`, whose variables are among the outer ones. */
function mapCells(outer, inner, sizes) {
  const stride = new Map();
  let step = 1;
  for (let k = inner.length - 1; k >= 0; k -= 1) {
    stride.set(inner[k], step);
    step *= sizes[inner[k]];
  }
  const map = new Int32Array(sizeOf(outer, sizes));
  let repeat = map.length;
  for (const id of outer) {
    repeat /= sizes[id];
    const own = stride.get(id) || 0;
    if (own === 0) continue;
    for (let cell = 0; cell < map.length; cell += 1) {
      map[cell] += own * (Math.floor(cell / repeat) % sizes[id]);
    }
  }
  return map;
}

/** Logarithm of the sums of exponentials over the cells that share a place in the map. */
function sumLogs(logs, map, length) {
  const peaks = new Float64Array(length).fill(-Infinity);
  for (let cell = 0; cell < map.length; cell += 1) {
    if (logs[cell] > peaks[map[cell]]) peaks[map[cell]] = logs[cell];
  }
  const sums = new Float64Array(length);
  for (let cell = 0; cell < map.length; cell += 1) {
    if (logs[cell] !== -Infinity) sums[map[cell]] += Math.exp(logs[cell] - peaks[map[cell]]);
  }
  for (let place = 0; place < length; place += 1) {
    sums[place] = sums[place] > 0 ? Math.log(sums[place]) + peaks[place] : -Infinity;
  }
  return sums;
}

function addLogs(target, map, source) {
  for (let cell = 0; cell < map.length; cell += 1) target[cell] += source[map[cell]];
}

function listParameters(owner, which) {
  return which === "predictive" && owner.predictive ? owner.predictive : owner.reported;
}

function compileClique(model, families, clique, sizes, which) {
  const variables = clique.variables;
  const logs = new Float64Array(sizeOf(variables, sizes));
  for (const id of clique.families) {
    const family = families.get(id);
    const table = Float64Array.from(listParameters(family, which), Math.log);
    addLogs(logs, mapCells(variables, [...family.parents, id], sizes), table);
  }
  const blocks = clique.blocks.map((index) => ({
    block: model.blocks[index],
    parameters: listParameters(model.blocks[index], which),
    map: mapCells(variables, model.blocks[index].parents, sizes),
    length: sizeOf(model.blocks[index].parents, sizes),
  }));
  return { variables, logs, blocks, parent: clique.parent };
}

/** What does not depend on the question: potentials, separators, who answers for whom. */
function compileModel(model, variables, which) {
  const sizes = variables.map((variable) => (variable.states || []).length);
  const families = new Map(model.families.map((family) => [family.variable, family]));
  const placed = new Set(model.cliques.flatMap((clique) => clique.blocks));
  const free = model.blocks.flatMap((_, index) => (placed.has(index) ? []
    : [{ variables: [], parent: -1, families: [], blocks: [index] }])); // depend on nothing
  const cliques = [...model.cliques, ...free].map((clique) =>
    compileClique(model, families, clique, sizes, which));
  const home = new Map();
  cliques.forEach((clique, index) => {
    clique.own = clique.variables.filter((id) => !home.has(id));
    for (const id of clique.own) home.set(id, index);
    clique.ownMaps = clique.own.map((id) => mapCells(clique.variables, [id], sizes));
    if (clique.parent < 0) return;
    const above = cliques[clique.parent];
    const shared = clique.variables.filter((id) => above.variables.includes(id));
    clique.sharedLength = sizeOf(shared, sizes);
    clique.fromHere = mapCells(clique.variables, shared, sizes);
    clique.fromAbove = mapCells(above.variables, shared, sizes);
  });
  const continuous = new Set(model.blocks.flatMap((block) => block.variables));
  return { sizes, cliques, home, continuous };
}

/** Lower triangle L with L L' = the covariance of the observed members. */
function factorize(matrix, size) {
  const lower = new Float64Array(size * size);
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let rest = matrix[i * size + j];
      for (let k = 0; k < j; k += 1) rest -= lower[i * size + k] * lower[j * size + k];
      lower[i * size + j] = i === j ? Math.sqrt(rest) : rest / lower[j * size + j];
    }
  }
  return lower;
}

function solveLower(lower, size, right) {
  const solution = new Float64Array(size);
  for (let i = 0; i < size; i += 1) {
    let rest = right[i];
    for (let k = 0; k < i; k += 1) rest -= lower[i * size + k] * solution[k];
    solution[i] = rest / lower[i * size + i];
  }
  return solution;
}

/** One configuration of a block: log-density of what is observed, moments of what is not. */
function conditionBlock(mean, covariance, values) {
  const size = mean.length;
  const seen = [];
  for (let i = 0; i < size; i += 1) if (values[i] !== undefined) seen.push(i);
  const among = seen.flatMap((i) => seen.map((j) => covariance[i * size + j]));
  const lower = factorize(among, seen.length);
  const scaled = solveLower(lower, seen.length, seen.map((i) => values[i] - mean[i]));
  let log = -0.5 * seen.length * LOG_2_PI;
  seen.forEach((_, k) => {
    log -= Math.log(lower[k * seen.length + k]) + 0.5 * scaled[k] * scaled[k];
  });
  const moments = (i) => {
    const weights = solveLower(lower, seen.length, seen.map((j) => covariance[i * size + j]));
    let [centre, variance] = [mean[i], covariance[i * size + i]];
    weights.forEach((weight, k) => {
      centre += weight * scaled[k];
      variance -= weight * weight;
    });
    return [centre, Math.max(variance, 0)];
  };
  return { log, moments };
}

function conditionConfigurations(part, evidence) {
  const values = part.block.variables.map((id) => evidence.get(id));
  return part.parameters.means.map((mean, index) =>
    conditionBlock(mean, part.parameters.covariances[index], values));
}

/** Potentials of the cliques with the evidence entered, and the blocks as they are given it. */
function enterEvidence(compiled, evidence) {
  return compiled.cliques.map((clique) => {
    const logs = Float64Array.from(clique.logs);
    clique.own.forEach((id, k) => {
      if (!evidence.has(id)) return;
      const map = clique.ownMaps[k];
      for (let cell = 0; cell < logs.length; cell += 1) {
        if (map[cell] !== evidence.get(id)) logs[cell] = -Infinity;
      }
    });
    const parts = clique.blocks.map((part) => {
      const given = conditionConfigurations(part, evidence);
      addLogs(logs, part.map, Float64Array.from(given, (one) => one.log));
      return { part, given };
    });
    return { logs, parts, message: null };
  });
}

/** From the leaves to the roots; returns the logarithm of the evidence's probability. */
function collect(compiled, entered) {
  let total = 0;
  for (let index = entered.length - 1; index >= 0; index -= 1) {
    const clique = compiled.cliques[index];
    if (clique.parent < 0) {
      total += sumLogs(entered[index].logs, new Int32Array(clique.logs.length), 1)[0];
      continue;
    }
    const message = sumLogs(entered[index].logs, clique.fromHere, clique.sharedLength);
    entered[index].message = message;
    addLogs(entered[clique.parent].logs, clique.fromAbove, message);
  }
  return total;
}

/** From the roots to the leaves: each clique learns what it did not say itself. */
function distribute(compiled, entered) {
  compiled.cliques.forEach((clique, index) => {
    if (clique.parent < 0) return;
    const down = sumLogs(entered[clique.parent].logs, clique.fromAbove, clique.sharedLength);
    const up = entered[index].message;
    const news = down.map((log, place) => (up[place] === -Infinity ? -Infinity : log - up[place]));
    addLogs(entered[index].logs, clique.fromHere, news);
  });
}

function normalize(logs) {
  const peak = logs.reduce((a, b) => Math.max(a, b), -Infinity);
  const shares = Float64Array.from(logs, (log) => Math.exp(log - peak));
  const sum = shares.reduce((a, b) => a + b, 0);
  return shares.map((share) => share / sum);
}

function makeMixtures(logs, { part, given }, evidence, mixtures) {
  const weights = normalize(sumLogs(logs, part.map, part.length));
  part.block.variables.forEach((id, i) => {
    if (evidence.has(id)) return;
    const moments = given.map((one) => one.moments(i));
    mixtures.set(id, {
      weights, means: moments.map((m) => m[0]), variances: moments.map((m) => m[1]),
    });
  });
}

/**
 * Posteriors of all variables given some: `shares` by id for categorical ones, `mixtures` for
 * continuous ones. If the evidence cannot occur, `logProbability` is −Infinity and nothing follows.
 */
function ask(compiled, evidence) {
  const entered = enterEvidence(compiled, evidence);
  const logProbability = collect(compiled, entered);
  const answer = { logProbability, shares: new Map(), mixtures: new Map() };
  if (!(logProbability > -Infinity)) return answer;
  distribute(compiled, entered);
  compiled.cliques.forEach((clique, index) => {
    clique.own.forEach((id, k) => {
      const logs = sumLogs(entered[index].logs, clique.ownMaps[k], compiled.sizes[id]);
      answer.shares.set(id, normalize(logs));
    });
    for (const part of entered[index].parts) {
      makeMixtures(entered[index].logs, part, evidence, answer.mixtures);
    }
  });
  return answer;
}

function mixtureMoments({ weights, means, variances }) {
  let mean = 0;
  weights.forEach((weight, k) => { mean += weight * means[k]; });
  let variance = 0;
  weights.forEach((weight, k) => {
    variance += weight * (variances[k] + (means[k] - mean) * (means[k] - mean));
  });
  return { mean, sd: Math.sqrt(variance) };
}

function mixtureDensity({ weights, means, variances }, x) {
  let sum = 0;
  weights.forEach((weight, k) => {
    if (weight < 1e-12) return;
    const variance = Math.max(variances[k], 1e-300);
    const distance = x - means[k];
    sum += weight * Math.exp(-0.5 * (LOG_2_PI + Math.log(variance) + distance * distance / variance));
  });
  return sum;
}

/** Densities at even places of a range. */
function densityOver(mixture, [low, high], count) {
  return Array.from({ length: count }, (_, k) =>
    mixtureDensity(mixture, low + (high - low) * k / (count - 1)));
}

/** Kullback-Leibler divergence in bits: how far an answer is from what it was before. */
function bitsMoved(after, before) {
  let bits = 0;
  for (let k = 0; k < after.length; k += 1) {
    if (after[k] > 0 && before[k] > 0) bits += after[k] * Math.log2(after[k] / before[k]);
  }
  return Math.max(0, bits);
}

/** The same for densities, summed over a fine grid where the new one has its mass. */
function bitsMovedBetween(after, before) {
  const { mean, sd } = mixtureMoments(after);
  const old = mixtureMoments(before);
  const low = Math.min(mean - 6 * sd, old.mean - 6 * old.sd);
  const high = Math.max(mean + 6 * sd, old.mean + 6 * old.sd);
  if (!(high > low)) return 0;
  const range = [low, high];
  const [now, past] = [densityOver(after, range, 400), densityOver(before, range, 400)];
  const [a, b] = [now, past].map((ys) => ys.reduce((sum, y) => sum + y, 0));
  return bitsMoved(now.map((y) => y / a), past.map((y) => y / b));
}
