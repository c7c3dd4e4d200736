// The content of the page and what the reader has done with it.

const content = JSON.parse(byId("content").textContent);
const variables = content.variables;
unpackRows(content.rows);
content.profiles = [...(content.profiles || [])].sort((a, b) => b.entropy - a.entropy);
const everyId = variables.map((_, id) => id);
const latentIds = everyId.filter((id) => variables[id].latent)
  .sort((a, b) => variables[b].entropy - variables[a].entropy || a - b);
const columnIds = everyId.filter((id) => !variables[id].latent);
const profileOf = new Map(content.profiles.map((profile) => [profile.latent, profile]));

const state = {
  evidence: new Map(), // id to code, or to number for continuous variables
  refused: null,
  which: "reported",
  width: "bits",
  open: content.profiles.length ? content.profiles[0].latent : null,
  isWholeAnswer: false,
  openBranches: null,
  listed: new Set(),
  lastUsed: new Map(),
};

const listeners = {};

/** Parts of the page say what they draw again, and when. */
function when(event, handler) {
  (listeners[event] = listeners[event] || []).push(handler);
}

function tell(event) {
  for (const handler of listeners[event] || []) handler();
}

/** Numbers of rows are whole, unless rows have weights. */
function formatRows(count) {
  return content.table && content.table.is_weighted ? formatCount(count) : formatFixed(count, 0);
}

/** A value of a continuous variable, with the decimals that its range asks for. */
function formatIn(id, value) {
  const [low, high] = variables[id].range;
  if (value === 0) return "0";
  if (Math.abs(value) < 0.1 && high - low >= 0.2) return formatFixed(value, 2);
  return formatValue(value);
}

const isContinuous = (id) => variables[id].kind === "continuous";

const compiledModels = {};

function compiled() {
  const which = state.which;
  compiledModels[which] = compiledModels[which] || compileModel(content.model, variables, which);
  return compiledModels[which];
}

const priors = {};

/** What the model says when nothing is set. */
function prior() {
  priors[state.which] = priors[state.which] || ask(compiled(), new Map());
  return priors[state.which];
}

let current = null;

/** What follows from the values that are set, or null if none is. */
function answer() {
  if (!state.evidence.size) return null;
  current = current || ask(compiled(), state.evidence);
  return current;
}

/** Change what is set and draw what follows; the outcome may be known already. */
function changeEvidence(change, outcome) {
  change(state.evidence);
  current = outcome || null;
  tell("evidence");
}

/** Set a value, or refuse it with a sentence if it cannot occur beside the others. */
function setValue(id, value) {
  const trial = new Map(state.evidence).set(id, value);
  const outcome = ask(compiled(), trial);
  state.refused = null;
  if (outcome.logProbability > -Infinity) {
    changeEvidence((evidence) => evidence.set(id, value), outcome);
    return true;
  }
  const others = [...state.evidence].filter(([other]) => other !== id).map(describeValue);
  state.refused = describeValue([id, value]) + " was dropped: the model gives it no probability"
    + (others.length ? " together with " + others.join("; ") + "." : ".");
  changeEvidence(() => {});
  announce(state.refused);
  return false;
}

function clearValue(id) {
  state.refused = null;
  changeEvidence((evidence) => evidence.delete(id));
}

function clearAll() {
  state.refused = null;
  changeEvidence((evidence) => evidence.clear());
}

/** The other parameters may forbid what was set: then the last values that do are dropped. */
function switchParameters(which) {
  state.which = which;
  state.refused = null;
  const dropped = [];
  const kept = new Map();
  for (const [id, value] of state.evidence) {
    const trial = new Map(kept).set(id, value);
    if (ask(compiled(), trial).logProbability > -Infinity) kept.set(id, value);
    else dropped.push(describeValue([id, value]));
  }
  if (dropped.length) state.refused = dropped.join("; ") + " was dropped: it cannot occur here.";
  changeEvidence((evidence) => {
    evidence.clear();
    for (const [id, value] of kept) evidence.set(id, value);
  });
}

function describeValue([id, value]) {
  const text = isContinuous(id) ? formatIn(id, value) : stateName(id, value, 60);
  return variableName(id, 80) + " = " + text;
}

/** Shares of a categorical variable as the picture shows them: given the evidence, or before. */
function sharesNow(id) {
  const now = answer();
  if (now && now.shares.has(id)) return now.shares.get(id);
  const own = state.which === "predictive" ? variables[id].predictive_shares : null;
  return own || variables[id].shares;
}

/** Densities of a continuous variable over its range. */
function densityNow(id) {
  const now = answer();
  const variable = variables[id];
  if (now && now.mixtures.has(id)) {
    return densityOver(now.mixtures.get(id), variable.range, variable.density.length);
  }
  return variable.density;
}
