// Names of variables and states: suggested or given, changed by the reader, kept in the browser.

const STORE = "latentforest-names:" + ((content.table && content.table.hash) || content.title);
const edits = loadEdits();
let beginnings = null;

function loadEdits() {
  const empty = { variables: {}, states: {} };
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) || "null");
    if (!kept || typeof kept !== "object") return empty;
    return { variables: { ...kept.variables }, states: { ...kept.states } };
  } catch {
    return empty; // no storage, or not ours
  }
}

function keepEdits() {
  try {
    localStorage.setItem(STORE, JSON.stringify(edits));
  } catch {
    announce("This browser keeps no names; save them as a file.");
  }
}

function own(object, key) {
  return Object.prototype.hasOwnProperty.call(object, key) ? object[key] : undefined;
}

/** The whole name of a variable, cut in the middle if it is longer than asked for. */
function variableName(id, most) {
  const variable = variables[id];
  const text = visible(own(edits.variables, variable.name) || variable.label || variable.name);
  return most ? cutText(text, most) : text;
}

function stateName(id, code, most) {
  const variable = variables[id];
  const name = variable.states[code];
  const edited = own(own(edits.states, variable.name) || {}, name);
  const text = visible(edited || (variable.state_labels || variable.states)[code]);
  return most ? cutText(text, most) : text;
}

const hasStateName = (id, code) => stateName(id, code) !== visible(variables[id].states[code]);

/** A state in a sentence or a table: "State 3" where it has no name of its own. */
function stateTitle(id, code, most) {
  const isBare = variables[id].latent && !hasStateName(id, code);
  return (isBare ? "State " : "") + stateName(id, code, most);
}

/** A column as the picture shows it, without what the card or many others say, too. */
function shortName(id, cardId) {
  beginnings = beginnings || findBeginnings(columnIds.map((column) => variableName(column)));
  const name = dropBeginning(variableName(id), beginnings);
  return cardId === undefined || cardId === null ? name : dropStem(name, variableName(cardId));
}

function renameVariable(id, text) {
  const variable = variables[id];
  if (!text || text === visible(variable.label || variable.name)) {
    delete edits.variables[variable.name];
  } else edits.variables[variable.name] = text;
  afterRenaming();
}

function renameState(id, code, text) {
  const variable = variables[id];
  const name = variable.states[code];
  const names = { ...own(edits.states, variable.name) };
  if (!text || text === visible((variable.state_labels || variable.states)[code])) delete names[name];
  else names[name] = text;
  if (Object.keys(names).length) edits.states[variable.name] = names;
  else delete edits.states[variable.name];
  afterRenaming();
}

function afterRenaming() {
  beginnings = null;
  keepEdits();
  tell("names");
}

/** All names as a file that the library reads back: given, suggested and edited ones. */
function namesDocument() {
  const document_ = { variables: {}, states: {} };
  for (const id of everyId) {
    const { name, states, label, suggested, state_labels: labels } = variables[id];
    const edited = own(edits.variables, name);
    if (edited || (label && label !== name && (!suggested || variables[id].latent))) {
      document_.variables[name] = edited || label;
    }
    const texts = {};
    (states || []).forEach((one, code) => {
      const text = own(own(edits.states, name) || {}, one) || (labels && labels[code]);
      if (text && text !== one) texts[one] = text;
    });
    if (Object.keys(texts).length) document_.states[name] = texts;
  }
  const table = (content.table && content.table.hash) || null;
  return { format: "latentforest-labels", version: 1, table, ...document_ };
}

function saveNames() {
  saveFile("names.json", "application/json", JSON.stringify(namesDocument(), null, 2) + "\n");
}

/** A name that can be changed in place: Enter keeps the change, Escape restores. */
function editable(text, label, key, keep) {
  const shown = make("button", {
    type: "button", class: "edit", "data-key": key, "aria-label": label + ": " + text,
    title: text.length > 60 ? text : null, on: { click: () => begin() },
  }, text);
  const begin = () => {
    const field = make("input", { class: "edit-field", value: text, "aria-label": label,
      maxlength: 300, "data-key": key });
    let isDone = false;
    const finish = (isKept) => {
      if (isDone) return;
      isDone = true;
      const next = field.value.trim();
      field.replaceWith(shown);
      shown.focus({ preventScroll: true });
      if (isKept && next !== text) keep(next);
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") {
        event.preventDefault();
        finish(event.key === "Enter");
      }
      event.stopPropagation();
    });
    field.addEventListener("blur", () => finish(true));
    shown.replaceWith(field);
    field.focus();
    field.select();
  };
  return shown;
}
