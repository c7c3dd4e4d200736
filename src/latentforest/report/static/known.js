// What you know: choose a variable and a value, take values back, how likely all of it is.

function makeColumnMenu() {
  const option = (id) => make("option", { value: id, selected: id === chosen }, variableName(id, 60));
  const byName = (a, b) => variableName(a).localeCompare(variableName(b), "en", { numeric: true });
  const menu = make("select", { "aria-label": "Choose a column", "data-key": "choose",
    on: { change: () => { chosen = menu.value === "" ? null : Number(menu.value); drawKnown(); focusValue(); } } },
    make("option", { value: "" }, latentIds.length === everyId.length ? "Choose a variable\u2026" : "Choose a column\u2026"),
    columnIds.length ? make("optgroup", { label: "Columns" }, [...columnIds].sort(byName).map(option)) : null,
    latentIds.length ? make("optgroup", { label: "Hidden variables" }, [...latentIds].sort(byName).map(option)) : null);
  return menu;
}

function focusValue() {
  const field = byId("known").querySelector("[data-key=value]");
  if (field) field.focus();
}

function makeValueField() {
  if (chosen === null) return null;
  if (!isContinuous(chosen)) {
    const menu = make("select", { "aria-label": "Value of " + variableName(chosen, 60), "data-key": "value",
      on: { change: () => { if (menu.value !== "") take(Number(menu.value)); } } },
      make("option", { value: "" }, "Choose its value\u2026"),
      variables[chosen].states.map((_, code) => make("option", { value: code }, stateTitle(chosen, code, 60))));
    return menu;
  }
  const [low, high] = variables[chosen].range;
  const field = make("input", { type: "number", step: "any", "data-key": "value",
    "aria-label": "Value of " + variableName(chosen, 60),
    placeholder: `${formatValue(low)} to ${formatValue(high)}` });
  const form = make("form", { class: "number-form" }, field, make("button", { type: "submit" }, "Set"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (Number.isFinite(field.valueAsNumber)) take(field.valueAsNumber);
  });
  return form;
}

function take(value) {
  const id = chosen;
  chosen = null;
  setValue(id, value);
}

function makeChip([id, value]) {
  const text = isContinuous(id) ? formatValue(value) : stateName(id, value, 60);
  return make("div", { class: "chip" },
    make("span", {}, variableName(id, 70) + " = ", make("strong", {}, text)),
    button("\u00d7", () => clearValue(id), { "aria-label": "Take back " + variableName(id, 70),
      "data-key": "chip-" + id }));
}

/** How many embedded rows have exactly these values, or null if that cannot be said. */
function countRows() {
  const { rows, table } = content;
  if (!rows || rows.is_sample || !table || table.is_weighted) return null;
  const columns = [];
  for (const [id, value] of state.evidence) {
    const column = rows.columns.find((one) => one.variable === id);
    if (!column || !column.codes) return null;
    columns.push([column.codes, value]);
  }
  let count = 0;
  for (let row = 0; row < rows.n_rows; row += 1) {
    if (columns.every(([codes, value]) => codes[row] === value)) count += 1;
  }
  return count;
}

function makeProbability() {
  if (!state.evidence.size || [...state.evidence.keys()].some(isContinuous)) return null;
  const share = Math.exp(answer().logProbability);
  const { table, noun } = content;
  const weight = table ? table.total_weight : null;
  const expected = weight === null ? "." : `: about ${formatExpected(share * weight)} of ${formatCount(weight)}.`;
  const count = countRows();
  const seen = count === null ? "" : ` In the table it is ${formatCount(count)}.`;
  return [make("p", { class: "probability" }, formatRare(share)),
    make("p", { class: "probability-text" }, `of ${noun} are like this, says the model${expected}${seen}`)];
}

function formatExpected(count) {
  if (count >= 9.5) return formatFixed(count, 0);
  return count < 0.05 ? "none" : formatFixed(count, 1);
}

function makeParameterSwitch() {
  const hasBoth = content.model.families.some((family) => family.predictive)
    || content.model.blocks.some((block) => block.predictive);
  if (!hasBoth) return null;
  return make("div", { class: "parameters" }, makeSwitch("Parameters",
    [["reported", "reported"], ["predictive", "predictive"]], state.which, switchParameters),
    make("p", { class: "note" }, state.which === "predictive"
      ? "Predictive: the average over what the parameters may be. Nothing is impossible."
      : "Reported: the fitted parameters" + (profileOf.size ? ", as in the profiles." : ".")));
}

function drawKnown() {
  const holder = byId("known");
  const isPressable = state.evidence.size > 1;
  keepFocus(holder, () => fill(holder,
    make("h3", {}, "What you know"),
    make("p", { class: "note" }, "Pick a value here, or press any bar."),
    makeColumnMenu(), makeValueField(),
    state.refused ? make("p", { class: "refused", role: "alert" }, state.refused) : null,
    [...state.evidence].map(makeChip),
    isPressable ? button("Clear all", clearAll, { "data-key": "clear-all", class: "clear-all" }) : null,
    makeProbability(), makeParameterSwitch(), makeReach()),
  () => holder.querySelector(".chip button, select"));
}

function drawAsk() {
  if (!byId("ask") || !content.model.is_askable) return;
  drawKnown();
  drawAnswers();
}

/** A column pressed in the picture: its bars come to the front. */
function openInAsk(id) {
  if (!content.model.is_askable) return;
  chosen = id;
  drawAsk();
  byId("ask").scrollIntoView();
  focusValue();
}
