// The page as a whole: theme, sections, printing, and who draws what when.

function preferredTheme() {
  try {
    const kept = localStorage.getItem("latentforest-theme");
    if (kept === "dark" || kept === "light") return kept;
  } catch { /* no storage */ }
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  readPalette();
}

function setUpTheme() {
  setTheme(preferredTheme());
  byId("theme").hidden = false;
  byId("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("latentforest-theme", theme); } catch { /* no storage */ }
    setTheme(theme);
    drawAll();
  });
}

/** Names in the sentences of the page, which the template wrote, follow what the reader changes. */
function drawWords() {
  for (const element of document.querySelectorAll("[data-variable]")) {
    const id = Number(element.getAttribute("data-variable"));
    element.textContent = variableName(id, 80);
    element.title = variableName(id).length > 80 ? variableName(id) : "";
  }
}

/** Links of warnings: to a variable's profile, to a chart, or to the predictive parameters. */
function followAnchor(event, element) {
  const anchor = element.getAttribute("data-anchor");
  const place = byId(anchor) || byId("fit-" + anchor);
  if (/^v\d+$/.test(anchor)) openVariable(Number(anchor.slice(1)));
  else if (anchor && place) place.scrollIntoView();
  else return;
  event.preventDefault();
}

function setUpWords() {
  for (const element of document.querySelectorAll("a[data-variable]")) {
    const id = Number(element.getAttribute("data-variable"));
    element.addEventListener("click", (event) => { event.preventDefault(); openVariable(id); });
  }
  for (const element of document.querySelectorAll("a[data-anchor]")) {
    element.addEventListener("click", (event) => followAnchor(event, element));
  }
}

/** Mark the section that is read in the bar on top. */
function setUpSections() {
  const links = [...document.querySelectorAll("#sections a")];
  const sections = links.map((link) => byId(link.hash.slice(1)));
  let marked = null;
  const mark = () => {
    const line = Math.min(window.innerHeight * 0.3, 240);
    let at = 0;
    sections.forEach((section, k) => { if (section.getBoundingClientRect().top <= line) at = k; });
    const isEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
    if (isEnd && window.scrollY > 0) at = sections.length - 1;
    if (at === marked) return;
    marked = at;
    links.forEach((link, k) => (k === at ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    const strip = byId("sections");
    const link = links[at];
    if (link && strip.scrollWidth > strip.clientWidth) strip.scrollLeft = link.offsetLeft - strip.offsetLeft - 60;
  };
  window.addEventListener("scroll", mark, { passive: true });
  mark();
}

function drawAll() {
  drawWords();
  drawPicture();
  if (byId("profile")) drawProfile();
  drawAsk();
  drawFit();
  if (content.rows) { drawPair(); drawRows(); }
}

/** Print: light, the picture at 1,240 px, all profiles that are clear enough. */
function beforePrint() {
  if (state.printWidth) return;
  state.keptTheme = document.documentElement.dataset.theme;
  setTheme("light");
  state.printWidth = 1240;
  drawAll();
  const svg = byId("picture-frame") && currentCanvas();
  if (svg) svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
  const holder = byId("printed-profiles");
  if (!holder) return;
  const printed = content.profiles.filter(({ latent }) => variables[latent].r2 === null
    || variables[latent].r2 === undefined || variables[latent].r2 > 0.5 || latent === state.open);
  fill(holder, printed.map((profile) => makeProfile(profile.latent, true)));
}

function afterPrint() {
  state.printWidth = null;
  setTheme(state.keptTheme || preferredTheme());
  if (byId("printed-profiles")) fill(byId("printed-profiles"));
  drawAll();
}

function setUpWidth() {
  let width = window.innerWidth;
  let timer = null;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width || state.printWidth) return;
    width = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => { if (!state.printWidth) drawAll(); }, 60);
  });
}

function start() {
  document.documentElement.classList.add("alive");
  setUpTheme();
  if (byId("picture-frame")) byId("picture-frame").addEventListener("keydown", moveByArrow);
  if (byId("profile-menu")) {
    byId("profile-menu").addEventListener("change", (event) => openProfile(Number(event.target.value), false));
    byId("save-names").addEventListener("click", saveNames);
  }
  setUpRows();
  setUpWords();
  when("evidence", () => { drawPicture(); drawAsk(); if (byId("profile-list")) drawProfileList(); });
  when("names", drawAll);
  when("opened", drawPicture);
  drawAll();
  setUpSections();
  setUpWidth();
  window.addEventListener("beforeprint", beforePrint);
  window.addEventListener("afterprint", afterPrint);
}

start();
