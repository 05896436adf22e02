// The page of `sayso label`. Every decision is first kept in this browser, then sent until the server
// says that it is stored; each has a name, so that what is sent twice counts once.
"use strict";
(() => {
  const base = location.pathname.replace(/[^/]*$/, "");
  const by = (id) => document.getElementById(id);
  const GOLDS = 8; // true answers that are shown without a click
  const PAUSE = 120000; // milliseconds after which nobody is looking any more
  let about = null, who = "", items = [], at = 0, step = 0, picked = {}, since = 0, hidden = 0;
  // by place: what was said, and the name of the write that said it
  let said = new Map(), names = new Map(), seconds = [], history = [], skipping = false, sending = false, gone = false;

  const make = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const clear = (node) => node.replaceChildren();
  const call = (name, body) => fetch(base + "api/" + name, body === undefined ? {} : {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
  });
  // what is wrong, by where: it stands until the same place says that it is over
  const problems = {};
  const problem = (text, where = "page") => {
    problems[where] = text;
    const all = [...new Set(Object.values(problems))].filter(Boolean).join(" ");
    by("problem").textContent = all;
    by("problem").hidden = !all;
  };
  const show = (id) => { for (const one of ["start", "work", "done"]) by(one).hidden = one !== id; };

  // ---- what is not stored yet lies in this browser, one entry each: tabs do not disturb each other
  const prefix = () => `sayso-label:${about.design}:`;
  const waiting = () => Object.keys(localStorage).filter((key) => key.startsWith(prefix())).sort();
  const kept = new Map(); // of those, the ones that this server does not take, with whose they are
  const stuck = new Map(); // and those that it refuses whatever is sent again
  const pending = () => waiting().filter((key) => !kept.has(key) && !stuck.has(key));
  const random = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (n) => n.toString(16).padStart(2, "0")).join("");
  let count = 0;
  function put(place, more) {
    const write = {annotator: who, place, name: random(), on: counting(place), ...more};
    const order = String(Date.now()).padStart(15, "0") + String(count++).padStart(6, "0");
    const {item} = items.find((one) => one.place === place) || {};
    changed.clear();
    tell();
    apply(write);
    localStorage.setItem(prefix() + order + ":" + write.name, JSON.stringify({item, ...write}));
    send();
  }
  function counting(place) { // the write that the server should have as the last word on an item
    let name = names.get(place) || "";
    for (const one of [...stuck.values()].reverse()) if (one.name === name) name = one.on || "";
    return name;
  }
  async function send() {
    if (sending) return;
    sending = true;
    let wait = 300;
    for (let keys = pending(); keys.length; keys = pending()) {
      saved();
      const body = localStorage.getItem(keys[0]);
      if (body === null) continue;
      const {item, ...write} = JSON.parse(body);
      const answer = await call("write", write).catch(() => null);
      const told = answer && !answer.ok ? await answer.json().catch(() => ({})) : {};
      const error = told.error || "";
      if (answer && (answer.ok || answer.status === 409 || (answer.status === 400 && error))) {
        gone = false;
        problem("", "server");
        wait = 300;
        if (answer.status === 409 && !told.changed) { keep(keys[0], write.annotator); continue; }
        localStorage.removeItem(keys[0]);
        if (!answer.ok) await refuse(write, error, told.changed);
        else if (write.place === refused) problem("", "refused");
        continue;
      }
      if (answer && final(answer.status)) { strand(keys[0], {...write, item}, answer.status); continue; }
      gone = true;
      problem(!answer ? "The server does not answer. Your labels are kept in this browser; start sayso label again with the same run, and open its address here." :
        answer.status === 403 ? "This is the address of a server that has ended. Open the address that sayso label printed last: your labels are kept in this browser until then." :
        `Your labels are not stored: ${error || "error " + answer.status}. They are kept in this browser and sent again.`, "server");
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(2 * wait, 4000);
    }
    sending = false;
    saved();
  }
  // a refusal that is the same each time; 400 has a reason, and 403 is an address that has ended
  const final = (status) => status >= 400 && status < 500 && ![403, 408, 409, 423, 425, 429].includes(status);
  function strand(key, write, status) {
    stuck.set(key, write);
    const [labels, they] = stuck.size === 1 ? ["a label", "It is"] : [`${stuck.size} labels`, "They are"];
    problem(`The server refuses ${labels} (error ${status}), and would again. ${they} kept in this browser. Download the file below, and store it with sayso label RUN --import labels.jsonl.`, "stuck");
    by("rescue").hidden = false;
  }
  function download() { // as a file of labels, each item as it was labeled last
    const last = new Map();
    for (const write of stuck.values()) last.set(write.annotator + ":" + write.place, write);
    const rows = [...last.values()].filter((one) => !one.undo && one.item);
    const lines = rows.map((one) => JSON.stringify({annotator: one.annotator, ...one.item, ...one.said, seconds: one.seconds}) + "\n");
    const link = make("a");
    link.href = URL.createObjectURL(new Blob(lines, {type: "application/x-ndjson"}));
    link.download = "labels.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }
  function keep(key, annotator) { // of somebody else: stored when a page for them is open
    kept.set(key, annotator);
    const names = [...new Set(kept.values())].join(", ");
    problem(`Labels of ${names} that are not stored yet are kept in this browser (${kept.size}): this page is for ${about.annotator}. Start sayso label with --annotator, and open its address here.`, "kept");
  }
  let refused = null;
  // labels that other tabs changed, by place: with the write of this page that is not stored, if any
  const changed = new Map();
  function tell() {
    const texts = [...changed].map(([place, write]) => {
      const number = items.findIndex((one) => one.place === place) + 1;
      if (!number || (write && write.annotator !== who)) return `A label of ${write ? write.annotator : who} is not stored: its item was labeled elsewhere.`;
      const now = said.has(place) ? `was labeled elsewhere, such as in another tab: ${words(said.get(place))}.` : "has no label now: it was taken back elsewhere, such as in another tab.";
      const lost = !write ? "" : write.undo ? " It is not taken back." : ` Your label here (${words(write.said)}) is not stored; to change it, go back to the item.`;
      return `Item ${number} ${now}${lost}`;
    });
    problem(texts.join(" "), "changed");
  }
  async function refuse(write, error, elsewhere) {
    if (elsewhere) { changed.set(write.place, write); tell(); }
    else { refused = write.place; problem(`A label was refused: ${error}.`, "refused"); }
    if (write.annotator !== who || !items.length) return;
    apply({place: write.place, undo: true});
    if (await refresh()) { // what was said before counts again
      const place = items.findIndex((one) => one.place === write.place);
      const finished = !by("done").hidden;
      if (finished && place >= 0 && !said.has(write.place)) { go(place); return; }
      if (finished) { done(); return; }
      if (place === at) { draw(); return; }
    }
    progress();
  }
  const saved = () => {
    const left = waiting().length;
    by("saved").textContent = left ? `${left} not saved yet` : said.size ? "All labels saved" : "";
  };

  // ---- who labels
  async function start() {
    const answer = await call("start").catch(() => null);
    if (answer && answer.status === 503) { problem((await answer.json()).error); return; }
    if (!answer || !answer.ok) { problem("Open the address that sayso label printed."); return; }
    about = await answer.json();
    by("title").textContent = "· " + about.guide.title;
    document.title = "sayso: label " + about.guide.title.toLowerCase();
    guide();
    const known = about.annotator || sessionStorage.getItem("sayso-label-name") || "";
    if (known) { begin(known); return; }
    for (const name of about.annotators) by("names").append(new Option(name));
    show("start");
    by("name").focus();
  }
  by("who").addEventListener("submit", (event) => {
    event.preventDefault();
    begin(by("name").value);
  });
  async function begin(name) {
    who = name.trim().replace(/\s+/g, " ");
    send();
    while (pending().length && !gone) await new Promise((done) => setTimeout(done, 50));
    if (!(await refresh())) return;
    sessionStorage.setItem("sayso-label-name", who);
    const first = items.findIndex((one) => !said.has(one.place));
    first < 0 ? done() : go(first);
  }
  async function refresh() {
    const asked = count;
    const answer = await call("work", {annotator: who}).catch(() => null);
    if (!answer) { problem("The server does not answer: start sayso label again."); return false; }
    const told = await answer.json().catch(() => ({error: "Open the address that sayso label printed."}));
    if (!answer.ok) {
      problem(told.error);
      if (!items.length || answer.status !== 503) { by("name").value = who; who = ""; show("start"); }
      return false;
    }
    if (asked !== count) return refresh(); // something was said here in between
    const place = items[at] && items[at].place;
    who = told.annotator; items = told.items;
    at = Math.max(0, items.findIndex((one) => one.place === place));
    said = new Map(told.said.map((one) => [one.place, one.said]));
    names = new Map(told.said.map((one) => [one.place, one.name]));
    history = told.said.map((one) => one.place);
    seconds = told.said.map((one) => one.seconds).filter((one) => one !== null);
    for (const key of waiting()) { // said here, and not stored yet
      const write = JSON.parse(localStorage.getItem(key) || "{}");
      if (write.annotator === who) apply(write);
    }
    problem("");
    tell();
    return true;
  }
  function apply(write) {
    history = history.filter((place) => place !== write.place);
    if (write.undo) { said.delete(write.place); names.delete(write.place); return; }
    said.set(write.place, write.said);
    names.set(write.place, write.name);
    history.push(write.place);
  }

  // ---- an item
  function go(place) {
    at = Math.max(0, Math.min(place, items.length - 1));
    step = 0; picked = {}; skipping = false; since = performance.now(); hidden = 0;
    show("work");
    draw();
    by("item").focus({preventScroll: true});
    scrollTo(0, 0);
  }
  function draw() {
    const one = items[at], shown = one.shown, here = said.get(one.place);
    by("item").textContent = `Item ${at + 1} of ${items.length}`;
    by("now").textContent = here ? "Your label: " + words(here) : "";
    const texts = by("texts");
    clear(texts);
    const block = (title, text, kind) => {
      if (!text.length) return;
      const box = make("section", undefined, "block " + (kind || ""));
      box.append(make("h2", title));
      const paragraph = make("p");
      paragraph.dir = "auto";
      for (const part of text) paragraph.append(part);
      box.append(paragraph);
      if (kind && kind.includes("text")) { box.tabIndex = 0; box.setAttribute("aria-label", title); box.setAttribute("role", "group"); }
      texts.append(box);
      return box;
    };
    const [before, marked, after] = shown.text;
    const parts = marked ? [before, make("mark", marked), after] : [before];
    const paragraph = about.kind === "aspect" || about.kind === "claim" || (marked && about.kind !== "answer");
    if (shown.claim) {
      block("Claim", [shown.claim], "main");
      shown.passages.forEach(([title, text], number) => block(`Passage ${number + 1}: ${title}`, [text], "text"));
      if (!shown.passages.length) block("Passages", ["There is no passage."]);
      block("The text in which it stands", parts, "text");
    } else {
      block("Question", [shown.question], "main");
      block(about.kind === "aspect" ? "Paragraph" : marked ? "Answer, with the statement marked" : "Answer", parts, paragraph ? "text main" : "main");
      if (about.kind === "pair") block("Another answer", [shown.other || "(empty)"], "main");
      if (shown.golds.length) {
        const box = block(shown.golds.length > 1 ? "True answers (any of them)" : "True answer", [shown.golds.slice(0, GOLDS).join("\n")]);
        const rest = shown.golds.slice(GOLDS);
        if (rest.length) {
          const more = make("details"), text = make("p", rest.join("\n"));
          text.dir = "auto";
          more.append(make("summary", `${rest.length} more`), text);
          box.append(more);
        }
      }
      for (const [, text] of shown.passages) {
        const box = block("Passage that was shown with the question", [text], "text");
        if (about.guide.passage) box.append(make("p", about.guide.passage, "note"));
      }
    }
    ask();
    progress();
    const mark = texts.querySelector("mark");
    if (mark) { const box = mark.closest(".block"); box.scrollTop = mark.offsetTop - box.offsetTop - 60; }
  }
  const steps = () => about.guide.steps;
  const words = (label) => {
    if (label.skipped) return "skipped (" + label.skipped + ")";
    return steps().flatMap((one) => {
      const value = label[one.field];
      if (about.kind === "sureness") return value === undefined ? [] : [Math.round(100 * value) + " %"];
      const choice = one.choices.find((each) => each.value === says(label, one));
      return choice ? [choice.words] : [];
    }).join(", ").toLowerCase();
  };
  // what a label says at a step; undefined where there is no label, or the step is not asked
  const says = (label, at) => !label || label.skipped || (at.after.length && !at.after.includes(label.stance)) ? undefined : String(label[at.field] ?? "");
  function ask() {
    const now = steps()[step], here = said.get(items[at].place);
    const next = steps()[step + 1], then = next && next.choices.find((one) => one.value === says(here, next));
    by("then").textContent = then && items[at].shown.golds.length ? `${next.question} Your label: ${then.words}` : "";
    by("ask").hidden = skipping;
    by("skips").hidden = !skipping;
    const before = step && steps()[step - 1].choices.find((one) => one.value === picked[steps()[step - 1].field]);
    by("question").textContent = before ? `${before.words}. ${now.question}` : now.question;
    const slide = about.kind === "sureness";
    by("slider").hidden = !slide;
    if (slide) slideTo(!here || here.number === undefined ? 50 : 100 * here.number);
    clear(by("choices"));
    for (const choice of now.choices) {
      const button = make("button");
      button.type = "button";
      button.append(make("kbd", choice.key), choice.words);
      if (!slide) button.setAttribute("aria-pressed", String(says(here, now) === choice.value));
      button.addEventListener("click", (event) => once(event) && choose(choice.value));
      by("choices").append(button);
    }
    clear(by("reasons"));
    for (const [key, text] of about.reasons) {
      const button = make("button");
      button.type = "button";
      button.append(make("kbd", key), text);
      button.addEventListener("click", (event) => once(event) && finish({skipped: text}));
      by("reasons").append(button);
    }
  }
  // the second half of a double click would land on the next item
  const once = (event) => event.detail < 2;
  const slideTo = (value) => {
    by("sure").value = String(Math.max(0, Math.min(100, Math.round(value))));
    by("percent").value = by("sure").value + " %";
  };
  by("sure").addEventListener("input", () => slideTo(Number(by("sure").value)));
  function choose(value) {
    const now = steps()[step];
    if (about.kind === "sureness") { slideTo(100 * Number(value)); return; }
    picked[now.field] = value;
    const following = steps()[step + 1];
    const asked = following && following.after.includes(value) && items[at].shown.golds.length;
    if (asked) { step += 1; ask(); return; }
    finish(picked);
  }
  function finish(label) {
    const place = items[at].place;
    const spent = Math.min(performance.now() - since - hidden, 10 * PAUSE) / 1000;
    seconds.push(spent);
    put(place, {said: label, seconds: spent});
    const after = items.findIndex((one, number) => number > at && !said.has(one.place));
    const any = after < 0 ? items.findIndex((one) => !said.has(one.place)) : after;
    any < 0 ? done() : go(any);
  }
  function undo() {
    if (step || skipping) { step = 0; picked = {}; skipping = false; ask(); return; }
    const place = history[history.length - 1];
    if (place === undefined) return;
    put(place, {undo: true});
    go(items.findIndex((one) => one.place === place));
  }
  function done() {
    show("done");
    progress();
    const skipped = [...said.values()].filter((one) => one.skipped).length;
    by("tally").textContent = `${said.size - skipped} labeled, ${skipped} skipped.`;
    by("thanks").focus();
  }
  function progress() {
    const here = items.map((one) => said.get(one.place)).filter(Boolean);
    const count = here.length, skipped = here.filter((one) => one.skipped).length;
    const past = items.findLastIndex((one) => said.has(one.place)) + 1 - count; // nobody knows why
    by("count").textContent = `${count - skipped} of ${items.length} labeled${skipped ? `, ${skipped} skipped` : ""}${past > 0 ? `, ${past} passed over` : ""} · ${who}`;
    by("progress").max = items.length;
    by("progress").value = count;
    const recent = seconds.slice(-20).sort((a, b) => a - b);
    const middle = recent[Math.floor(recent.length / 2)];
    const minutes = Math.ceil((middle || 0) * (items.length - count) / 60);
    by("left").textContent = recent.length > 2 && count < items.length ? `about ${minutes} min left` : "";
    saved();
  }
  function guide() {
    by("task").textContent = about.guide.task;
    for (const one of steps()) {
      by("steps").append(make("h3", one.question));
      const list = make("dl");
      for (const choice of one.choices) {
        const term = make("dt");
        term.append(make("kbd", choice.key), choice.words);
        list.append(term, make("dd", choice.meaning));
        if (choice.example) list.append(make("dd", "“" + choice.example + "”", "note"));
      }
      by("steps").append(list);
    }
    for (const hint of about.guide.hints) by("hints").append(make("li", hint));
  }

  // ---- keys and buttons
  const skip = (open) => { skipping = open; step = 0; picked = {}; ask(); (open ? by("reasons").firstChild : by("item")).focus(); };
  by("back").addEventListener("click", () => go(at - 1));
  by("next").addEventListener("click", () => go(at + 1));
  by("undo").addEventListener("click", undo);
  by("download").addEventListener("click", download);
  by("skip").addEventListener("click", () => skip(!skipping));
  by("again").addEventListener("click", () => go(items.length - 1));
  by("save").addEventListener("click", () => finish({number: Number(by("sure").value) / 100}));
  by("other").addEventListener("submit", (event) => {
    event.preventDefault();
    const reason = by("reason").value.trim();
    by("reason").value = "";
    if (reason) finish({skipped: reason});
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches && event.target.matches("input:not([type=range])");
    if (event.key === "Escape" && skipping) { skip(false); event.preventDefault(); return; }
    if (typing || !items.length || by("start").hidden === false) return;
    const undoing = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if ((event.ctrlKey || event.metaKey || event.altKey) && !undoing) return;
    if (event.repeat && !event.key.startsWith("Arrow")) { event.preventDefault(); return; }
    const acted = press(undoing ? "u" : event.key, event.target);
    if (acted) event.preventDefault();
  });
  function press(key, target) {
    const finished = !by("done").hidden;
    if (key === "ArrowLeft") { go(finished ? items.length - 1 : at - 1); return true; }
    if (key === "u" || key === "U" || key === "Backspace") { undo(); return true; }
    if (finished) return false;
    if (key === "ArrowRight") { go(at + 1); return true; }
    if (key === "s" || key === "S") { skip(!skipping); return true; }
    if (about.kind === "sureness" && !skipping) {
      if (key === "ArrowUp" || key === "ArrowDown") { slideTo(Number(by("sure").value) + (key === "ArrowUp" ? 5 : -5)); return true; }
      if (key === "Enter" && !(target.matches && target.matches("button,a"))) { finish({number: Number(by("sure").value) / 100}); return true; }
    }
    if (skipping) {
      const reason = about.reasons.find(([one]) => one === key);
      if (reason) finish({skipped: reason[1]});
      return Boolean(reason);
    }
    const choice = steps()[step].choices.find((one) => one.key === key);
    if (choice) choose(choice.value);
    return Boolean(choice);
  }
  let left = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) left = performance.now();
    else if (left) hidden += performance.now() - left;
  });
  let looking = false, again = false;
  async function look() { // another tab may have labeled some
    again = true;
    if (looking) return;
    looking = true;
    while (again) { again = false; await compare(); }
    looking = false;
  }
  async function compare() {
    if (!who || !items.length || gone || pending().length) return;
    const before = new Map(names);
    if (!(await refresh()) || pending().length) return;
    const now = new Set([...before.keys(), ...names.keys()]);
    if (![...now].some((place) => before.get(place) !== names.get(place))) return;
    const open = items.findIndex((one) => !said.has(one.place));
    if (!by("done").hidden) { open < 0 ? done() : go(open); return; }
    const {place} = items[at];
    if (before.get(place) === names.get(place)) { progress(); return; }
    changed.set(place, null);
    tell();
    go(at);
  }
  addEventListener("focus", look);
  addEventListener("storage", ({key, newValue}) => { // a label of another tab is stored
    if (about && key && key.startsWith(prefix()) && newValue === null) look();
  });
  start();
})();
