// The rows: a table of likeliest states and values, searched and saved.

const PAGE_ROWS = 10;
const rowNumbers = content.rows ? content.rows.numbers : [];
const table = { first: 0, text: "", found: null };

/** Which variables the table shows: those that say most, each with its most telling column. */
function shownVariables() {
  const width = byId("rows-table").clientWidth || 1152;
  const most = width < 620 ? 2 : 4;
  const given = new Map(content.rows.latents.map((one) => [one.variable, one]));
  const latents = (content.profiles || []).map((profile) => profile.latent).filter((id) => given.has(id)).slice(0, most);
  const columns = new Map(content.rows.columns.map((one) => [one.variable, one]));
  const chosenColumns = [];
  for (const id of latents) {
    const best = profileOf.get(id).columns.find((one) => columns.has(one.variable) && !chosenColumns.includes(one.variable));
    if (best) chosenColumns.push(best.variable);
  }
  for (const id of columns.keys()) {
    if (chosenColumns.length >= (latents.length ? most : 2 * most)) break;
    if (!chosenColumns.includes(id)) chosenColumns.push(id);
  }
  return { latents: latents.map((id) => given.get(id)), columns: chosenColumns.map((id) => columns.get(id)) };
}

function cellText(column, row) {
  if (column.codes) return column.codes[row] < 0 ? "" : stateName(column.variable, column.codes[row]);
  const value = column.values[row];
  return value === null ? "" : formatValue(value);
}

function rowMatches(row, wanted, shown) {
  const { rows } = content;
  if (String(rowNumbers[row]) === wanted) return true;
  if (rows.ids && visible(rows.ids[row]).toLowerCase().includes(wanted)) return true;
  if (shown.latents.some((one) => one.states[row] >= 0
    && stateTitle(one.variable, one.states[row]).toLowerCase() === wanted)) return true;
  return rows.columns.some((column) => cellText(column, row).toLowerCase() === wanted);
}

function findRows() {
  const wanted = table.text.trim().toLowerCase();
  const all = rowNumbers.length;
  if (!wanted) { table.found = null; return; }
  const shown = { latents: content.rows.latents };
  table.found = [];
  for (let row = 0; row < all; row += 1) if (rowMatches(row, wanted, shown)) table.found.push(row);
  const exact = rowNumbers.findIndex((number) => String(number) === wanted);
  if (exact >= 0) table.found = [exact, ...table.found.filter((row) => row !== exact)];
}

function latentCell(one, row) {
  const code = one.states[row];
  if (code < 0) return make("td", { class: "zero" }, "\u2013");
  const probability = one.probabilities[row];
  return make("td", {}, stateTitle(one.variable, code, 30) + " ", make("span",
    { class: Math.round(probability * 100) < 90 ? "you" : "quiet" }, formatPercent(probability)));
}

function makeRow(row, shown) {
  const { rows } = content;
  const note = rows.notes && rows.notes[row] ? make("span", { class: "you" }, " " + rows.notes[row]) : null;
  return make("tr", {}, make("th", { scope: "row", class: "number" },
    rows.ids ? cutText(visible(rows.ids[row]), 24) : formatCount(rowNumbers[row]), note),
  shown.latents.map((one) => latentCell(one, row)),
  shown.columns.map((column) => make("td", { class: isNumberLike(column) ? "number" : null },
    cutText(cellText(column, row), 30) || make("span", { class: "zero" }, "missing"))));
}

function isNumberLike(column) {
  return !column.codes || variables[column.variable].states
    .every((_, code) => /^-?[\d.,]+$/.test(stateName(column.variable, code)));
}

function drawRows() {
  const holder = byId("rows-table");
  if (!holder) return;
  const shown = shownVariables();
  const total = table.found ? table.found.length : rowNumbers.length;
  table.first = clamp(table.first, 0, Math.max(0, Math.floor((total - 1) / PAGE_ROWS) * PAGE_ROWS));
  const last = Math.min(total, table.first + PAGE_ROWS);
  const places = Array.from({ length: Math.max(0, last - table.first) }, (_, k) =>
    (table.found ? table.found[table.first + k] : table.first + k));
  drawTable(holder, shown, places);
  while (isCut(holder) && dropLast(shown)) drawTable(holder, shown, places);
  if (!total) holder.append(make("p", { class: "note" }, `No row has \u201c${cutText(table.text, 60)}\u201d.`));
  drawPager(total, last, shown);
}

/** Whether the table is wider than its place; then the last column is left out. */
function isCut(holder) {
  return holder.firstChild.scrollWidth > holder.clientWidth + 1 && holder.clientWidth > 0;
}

function dropLast(shown) {
  if (shown.columns.length + shown.latents.length < 2) return false;
  (shown.columns.length ? shown.columns : shown.latents).pop();
  return true;
}

function drawTable(holder, shown, places) {
  const head = make("tr", {}, make("th", { scope: "col", class: "number" }, content.rows.ids ? "Id" : "Row"),
    shown.latents.map(({ variable }) => make("th", { scope: "col", class: "latent", title: variableName(variable) },
      soft(variableName(variable, 40)))),
    shown.columns.map((column) => make("th", { scope: "col", class: isNumberLike(column) ? "number" : null,
      title: variableName(column.variable) }, soft(variableName(column.variable, 40)))));
  fill(holder, make("div", { class: "scroll" }, make("table", { class: "plain rows" }, make("thead", {}, head),
    make("tbody", {}, places.map((row) => makeRow(row, shown))))));
}

function drawPager(total, last, shown) {
  const turn = (step) => () => { table.first += step * PAGE_ROWS; drawRows(); };
  const of = table.found ? ` found, of ${formatCount(rowNumbers.length)}` : "";
  const sample = content.rows.is_sample ? ` (a sample of ${formatCount(content.rows.n_rows)})` : "";
  const holder = byId("rows-pager");
  keepFocus(holder, () => fill(holder, make("span", {}, total ? `Rows ${formatCount(table.first + 1)} to ${formatCount(last)} of `
    + `${formatCount(total)}${of}${sample}. ` : "", shown.latents.length ? ["The number beside a state is its probability; ",
    make("span", { class: "you" }, "orange"), " is below 90%."] : null),
  make("span", { class: "turn" },
    button("Back", turn(-1), { disabled: table.first === 0, "data-key": "back" }),
    button("Next", turn(1), { disabled: last >= total, "data-key": "next" }))));
}

/** All embedded rows with their states and values, safe to open in a spreadsheet. */
function rowsAsCsv() {
  const { rows } = content;
  const head = [rows.ids ? "id" : "row", ...rows.latents.flatMap(({ variable }) =>
    [variableName(variable), variableName(variable) + " probability"]),
  ...rows.columns.map(({ variable }) => variables[variable].name)];
  const lines = [head.map(csvCell).join(",")];
  rowNumbers.forEach((number, row) => {
    const cells = [rows.ids ? rows.ids[row] : number];
    for (const one of rows.latents) {
      cells.push(one.states[row] < 0 ? "" : stateName(one.variable, one.states[row]), one.probabilities[row]);
    }
    for (const column of rows.columns) {
      if (column.codes) cells.push(column.codes[row] < 0 ? "" : variables[column.variable].states[column.codes[row]]);
      else cells.push(column.values[row] === null ? "" : column.values[row]);
    }
    lines.push(cells.map(csvCell).join(","));
  });
  return lines.join("\r\n") + "\r\n";
}

function setUpRows() {
  if (!content.rows || !byId("rows-controls")) return;
  const field = make("input", { type: "search", id: "rows-find", placeholder: "row number or value", autocomplete: "off" });
  field.addEventListener("input", () => { table.text = field.value; table.first = 0; findRows(); drawRows(); });
  append(byId("rows-controls"), [make("span", { class: "control" }, make("label", { for: "rows-find" }, "Find"), field),
    button("Save as CSV", () => saveFile("rows.csv", "text/csv;charset=utf-8", "\ufeff" + rowsAsCsv()), { "data-key": "csv" })]);
}
