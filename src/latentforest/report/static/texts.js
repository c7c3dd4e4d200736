// Texts from tables: made harmless, cut in the middle, broken into lines. No document.

const ODD = /[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const LONGEST = 2000;

/** Characters that would be obeyed rather than shown become visible escapes. */
function visible(text) {
  return String(text).replace(ODD, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length <= 2 ? "\\x" + code.padStart(2, "0") : "\\u" + code.padStart(4, "0");
  });
}

/** At most some characters: 40% head, 60% tail. */
function cutText(text, most) {
  const signs = Array.from(text);
  if (signs.length <= most) return text;
  const head = Math.max(1, Math.floor((most - 1) * 0.4));
  const tail = Math.max(1, most - 1 - head);
  return signs.slice(0, head).join("").trimEnd() + "\u2026"
    + signs.slice(signs.length - tail).join("").trimStart();
}

/** As much of a text as fits a width; `measure` gives the width of a text. */
function fitText(text, width, measure) {
  const short = cutText(text, LONGEST);
  if (measure(short) <= width) return short;
  let [low, high] = [2, Math.min(Array.from(short).length, 400)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(cutText(short, middle)) <= width) low = middle;
    else high = middle - 1;
  }
  return cutText(short, low);
}

function wrapWords(text, width, measure) {
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines.length ? lines[lines.length - 1] : null;
    const isGlued = last === "+";
    if (last !== null && (isGlued || measure(last + " " + word) <= width)) {
      lines[lines.length - 1] = last + " " + word;
    } else lines.push(word);
  }
  return lines;
}

/** A name in up to three lines, broken before "+" first. */
function breakName(name, width, measure) {
  const short = cutText(name, LONGEST);
  if (measure(short) <= width) return [short];
  const parts = short.split(/ (?=\+ )/);
  let lines = parts.flatMap((part) => wrapWords(part, width, measure));
  const rejoined = wrapWords(short, width, measure);
  if (lines.length > 3 && rejoined.length < lines.length) lines = rejoined;
  if (lines.length > 3) lines = [...lines.slice(0, 2), lines.slice(2).join(" ")];
  return lines.map((line) => fitText(line, width, measure));
}

/** Beginnings that at least three names share and that end in a colon, dash or question mark. */
function findBeginnings(names) {
  const counts = new Map();
  for (const name of names) {
    const head = name.slice(0, 400);
    for (const match of head.matchAll(/[:?]\s+|\s[-\u2013\u2014]\s+|\?\s*/g)) {
      const beginning = head.slice(0, match.index + match[0].length);
      if (beginning.length >= 12 && beginning.length < name.length) {
        counts.set(beginning, (counts.get(beginning) || 0) + 1);
      }
    }
  }
  return [...counts].filter(([, count]) => count >= 3).map(([beginning]) => beginning)
    .sort((a, b) => b.length - a.length);
}

function dropBeginning(name, beginnings) {
  const found = beginnings.find((beginning) => name.startsWith(beginning));
  return found ? name.slice(found.length) : name;
}

/** A column without what its parent's card already says: "Car, premium" becomes "premium". */
function dropStem(name, stem) {
  if (name.length <= stem.length || !name.toLowerCase().startsWith(stem.toLowerCase())) return name;
  const rest = name.slice(stem.length);
  const match = rest.match(/^(\s*[,:;/|\u2013\u2014]\s*|\s+-\s+|\s+)(?=\S)/);
  return match ? rest.slice(match[0].length) : name;
}

/** A cell of a CSV file; what a spreadsheet would compute is kept as text. */
function csvCell(value) {
  if (typeof value === "number") return String(value);
  let text = String(value);
  if (/^[=+\-@\t\r]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) {
    text = "'" + text;
  }
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

/** "customers" to "a customer", "entries" to "an entry"; else "one of the people". */
function oneOf(noun) {
  let single = null;
  if (/[^aeiou]ies$/.test(noun)) single = noun.slice(0, -3) + "y";
  else if (/(ss|x|ch|sh)es$/.test(noun)) single = noun.slice(0, -2);
  else if (/[^s]s$/.test(noun)) single = noun.slice(0, -1);
  if (single === null) return "one of the " + noun;
  return (/^[aeiou]/i.test(single) ? "an " : "a ") + single;
}
