// Find a variable in the picture: matches while typing, the way to it is opened.

function matchNames(text, most) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const ranked = [];
  for (const id of everyId) {
    const name = variableName(id).toLowerCase();
    const own = visible(variables[id].name).toLowerCase();
    const at = name.indexOf(wanted);
    if (at < 0 && !own.includes(wanted)) continue;
    ranked.push([at === 0 ? 0 : at > 0 ? 1 : 2, id]);
  }
  ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return ranked.slice(0, most).map(([, id]) => id);
}

/** Open what hides a variable and go there. */
function reveal(id) {
  const home = nodeOf.get(id) || columnHome.get(id);
  if (home) {
    const isOwn = nodeOf.has(id);
    const target = isOwn ? home.parent : home;
    state.lastUsed.set(home.id, state.lastUsed.size + 1);
    if (!isOwn && needsListing(home, id)) state.listed.add(home.id);
    if (target) openTo(target);
  }
  drawPicture();
  const element = findKey(byId("picture-frame"), "node-" + id);
  if (element) element.classList.add("found");
  showNode(element);
}

function needsListing(home, id) {
  const isOpen = () => true;
  const isListed = (node) => state.listed.has(node.id);
  return !listLines(home, { nColumns: columnIds.length, isOpen, isListed })
    .some((line) => line.kind === "column" && line.id === id);
}

function openTo(target) {
  const lay = layWith(Math.max(NARROW, pictureWidth()));
  if (columnIds.length > OPEN_ALL) {
    openPath(target, openBranches(), forest.trees, lay, state.lastUsed);
    return;
  }
  for (let node = target; node; node = node.parent) openBranches().add(node.id);
}

function makeFind() {
  const list = make("ul", { class: "matches", role: "listbox", id: "find-matches", hidden: true });
  const field = make("input", { type: "search", placeholder: "a column", id: "find-field",
    role: "combobox", "aria-expanded": "false", "aria-controls": "find-matches",
    autocomplete: "off", spellcheck: "false" });
  let [matches, at] = [[], 0];
  const show = () => {
    list.hidden = !field.value.trim();
    field.setAttribute("aria-expanded", String(!list.hidden));
    fill(list, matches.length ? matches.map((id, k) => make("li", {
      role: "option", id: "match-" + k, "aria-selected": String(k === at),
      class: variables[id].latent ? "latent" : null,
      on: { mousedown: (event) => { event.preventDefault(); choose(id); } },
    }, variableName(id, 70))) : make("li", { class: "none" }, "Nothing has this name."));
    field.setAttribute("aria-activedescendant", matches.length ? "match-" + at : "");
  };
  const choose = (id) => { field.value = ""; list.hidden = true; reveal(id); };
  field.addEventListener("input", () => { matches = matchNames(field.value, 8); at = 0; show(); });
  field.addEventListener("blur", () => { list.hidden = true; });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && matches.length && !list.hidden) choose(matches[at]);
    else if (event.key === "Escape") { field.value = ""; matches = []; show(); }
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      at = clamp(at + step, 0, Math.max(0, matches.length - 1));
      show();
    } else return;
    event.preventDefault();
  });
  return make("span", { class: "control find" }, make("label", { for: "find-field" }, "Find"),
    make("span", { class: "holder" }, field, list));
}
