"use strict";
(() => {
  const { rows, span, critical, boxes } = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text; // never as HTML
    return e;
  };

  // What is below each row, in the two ways to arrange them.
  const parts = rows.map(() => []), dependents = rows.map(() => []);
  const roots = [];
  rows.forEach((r, i) => (r.p >= 0 ? parts[r.p] : roots).push(i));
  const changes = rows.map((r) => !r.u); // the row or something below it changes
  for (let i = rows.length - 1; i >= 0; i--) {
    if (changes[i]) for (let p = rows[i].p, n = 0; p >= 0 && !changes[p] && n < rows.length; p = rows[p].p, n++) changes[p] = true;
  }
  rows.forEach((r, i) => (r.k || []).forEach((k) => dependents[k].push(i)));
  // The width of a text in a list, in pixels.
  const canvas = make("canvas").getContext("2d"), widths = new Map();
  canvas.font = "700 15px " + getComputedStyle(document.body).fontFamily;
  const widthOf = (text) => {
    if (!widths.has(text)) widths.set(text, canvas.measureText(text).width);
    return widths.get(text);
  };
  // The number of lines that a text needs in a width.
  const linesOf = (text, width) => {
    let n = 1, at = 0;
    for (const word of text.split(" ")) {
      const w = widthOf(word + " ");
      if (at > 0 && at + w > width) { n++; at = 0; }
      at += w;
      while (at > width && width > 0) { n++; at -= width; }
    }
    return n;
  };

  // A list draws the lines that are in sight, and all lines on paper. heightOf returns the height of a line in a width.
  const lists = [];
  const list = (box, draw, heightOf) => {
    const room = make("div", "room");
    box.append(room);
    let lines = [], tops = [0], first = -1, last = -1, printed = false;
    const lineAt = (y) => {
      let low = 0, high = lines.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (tops[middle + 1] <= y) low = middle + 1; else high = middle;
      }
      return low;
    };
    const paint = (again) => {
      if (printed) return;
      const from = Math.max(0, lineAt(box.scrollTop) - 8);
      const to = Math.min(lines.length, lineAt(box.scrollTop + box.clientHeight) + 9);
      if (!again && from === first && to === last) return;
      first = from; last = to;
      room.replaceChildren(...lines.slice(from, to).map((l, n) => {
        const e = draw(l), top = tops[from + n], height = tops[from + n + 1] - top;
        e.style.top = top + "px";
        e.style.height = height + "px";
        e.classList.toggle("tall", height > one);
        return e;
      }));
    };
    const measure = () => {
      const width = box.clientWidth;
      tops = [0];
      lines.forEach((l, n) => tops.push(tops[n] + heightOf(l, width)));
      room.style.height = tops[lines.length] + "px";
      paint(true);
    };
    box.addEventListener("scroll", () => paint(false));
    addEventListener("resize", measure);
    const self = {
      set(now) { lines = now; measure(); box.scrollTop = Math.min(box.scrollTop, tops[lines.length]); paint(true); },
      paint: () => paint(true),
      show(n) {
        if (tops[n] < box.scrollTop) box.scrollTop = tops[n];
        if (tops[n + 1] > box.scrollTop + box.clientHeight) box.scrollTop = tops[n + 1] - box.clientHeight;
        paint(true);
      },
      // print shows elements instead of the lines, or the lines again.
      print(elements) {
        printed = Boolean(elements);
        if (printed) room.replaceChildren(...elements); else measure();
      },
      lines: () => lines, draw,
    };
    lists.push(self);
    return self;
  };
  const one = 26, other = 20; // the heights of the only or first line of a row, and of others

  // The tree. A line is a row at a place; in the arrangement by dependencies a row can be at several.
  let arranged = "parts", sames = !changes.some(Boolean), text = "", picked = -1, pickedKey = "", lines = [];
  const toggled = new Map(); // places that are folded (false) or unfolded (true) by hand
  let unfolded = true;
  const matches = (r) => (r.n + " " + r.t + " " + r.urn + " " + r.f).toLowerCase().includes(text);
  const lineOf = (i) => ({ i, depth: 0, key: "" + i, kids: false });
  // treeOf lists rows below their parents. On the stack is what is still to be listed, the next one last.
  const treeOf = (top, below, opens) => {
    const out = [], todo = top.map(lineOf).reverse();
    while (todo.length) {
      const l = todo.pop(), inside = below(l.i);
      l.kids = inside.length > 0;
      l.open = opens(l);
      out.push(l);
      if (l.open) for (let n = inside.length - 1; n >= 0; n--) todo.push({ i: inside[n], depth: l.depth + 1, key: l.key + "/" + inside[n] });
    }
    return out;
  };
  const byDanger = () => rows.map((_, i) => i).filter((i) => sames || !rows[i].u).sort((a, b) => rows[a].g - rows[b].g || a - b).map(lineOf);
  const partsOf = (i) => parts[i].filter((k) => sames || changes[k]);
  const dependentsOf = (i) => dependents[i].filter((k) => sames || !rows[k].u);
  const topParts = () => roots.filter((i) => sames || changes[i]);
  const compute = () => {
    const isOpen = (l) => toggled.get(l.key) ?? (unfolded && (arranged === "parts" || l.depth < 1));
    if (text) lines = rows.map((_, i) => i).filter((i) => matches(rows[i])).map(lineOf);
    else if (arranged === "danger") lines = byDanger();
    else if (arranged === "parts") lines = treeOf(topParts(), partsOf, isOpen);
    else lines = treeOf(rows.map((_, i) => i).filter((i) => (sames || !rows[i].u) && !(rows[i].k || []).some((k) => sames || !rows[k].u)), dependentsOf, isOpen);
    const hidden = rows.filter((r, i) => r.u && !(arranged === "parts" && changes[i])).length;
    byId("shown").textContent = lines.length.toLocaleString("en") + " shown" + (!sames && !text && hidden ? ", " + hidden.toLocaleString("en") + " unchanged hidden" : "");
    tree.set(lines);
  };
  const fold = (l, open) => { toggled.set(l.key, open); compute(); };
  const indent = (l, width) => 8 + Math.min(l.depth, 20) * (width < 800 ? Math.min(10, 100 / Math.max(1, l.depth)) : 18);
  const fateOf = (r) => (r.u ? "" : r.f);
  const showsWhy = (r) => r.w && !r.u && r.s !== "+" && r.s !== "=";
  const tree = list(byId("rows"), (l) => {
    const r = rows[l.i], e = make("div", "row" + (l.key === pickedKey ? " picked" : ""));
    e.setAttribute("role", "treeitem");
    e.setAttribute("aria-level", l.depth + 1);
    e.setAttribute("aria-selected", l.key === pickedKey);
    if (l.kids) e.setAttribute("aria-expanded", l.open);
    e.style.paddingLeft = indent(l, innerWidth) + "px";
    const twist = make("span", "twist", l.kids ? (l.open ? "▾" : "▸") : "");
    if (l.kids) twist.onclick = (event) => { event.stopPropagation(); fold(l, !l.open); };
    const what = make("span", "what");
    what.append(make("bdi", "type", r.t), make("bdi", "name", r.n));
    e.append(twist, make("span", "sign " + r.c, r.s), what, make("span", "fate " + r.c, fateOf(r)));
    if (showsWhy(r)) e.append(make("bdi", "why", r.w));
    e.onclick = () => pick(l);
    return e;
  }, (l, width) => {
    // The outcome is never cut: if it does not fit beside the beginning of the name, it is below.
    const r = rows[l.i], left = width - indent(l, innerWidth) - 64;
    const beside = Math.min(widthOf(r.n) + 20, 160) + widthOf(fateOf(r)) + 24;
    return beside <= left ? one : one + other * linesOf(fateOf(r), left);
  });
  const pick = (l) => { picked = l.i; pickedKey = l.key; open(l.i); tree.paint(); };
  byId("rows").addEventListener("keydown", (event) => {
    const at = lines.findIndex((l) => l.key === pickedKey), l = lines[at];
    const go = (n) => { const to = Math.max(0, Math.min(lines.length - 1, n)); if (lines[to]) { pick(lines[to]); tree.show(to); } };
    switch (event.key) {
      case "ArrowDown": go(at + 1); break;
      case "ArrowUp": go(at < 0 ? 0 : at - 1); break;
      case "PageDown": go(at + 15); break;
      case "PageUp": go(at - 15); break;
      case "Home": go(0); break;
      case "End": go(lines.length - 1); break;
      case "ArrowRight": if (l && l.kids && !l.open) fold(l, true); break;
      case "ArrowLeft": if (l && l.kids && l.open) fold(l, false); break;
      default: return;
    }
    event.preventDefault();
  });

  // One resource: what changes, and why.
  const link = (i) => {
    const b = make("button", "", "");
    b.append(make("bdi", "", rows[i].n), " ", make("bdi", "same", rows[i].t));
    b.onclick = () => reveal(i);
    return b;
  };
  const links = (title, all) => {
    if (!all.length) return [];
    const ul = make("ul");
    all.slice(0, 50).forEach((i) => { const li = make("li"); li.append(link(i), " ", make("span", rows[i].c, rows[i].f)); ul.append(li); });
    if (all.length > 50) ul.append(make("li", "", "and " + (all.length - 50).toLocaleString("en") + " more"));
    return [make("h4", "", title), ul];
  };
  const chain = (i, seen) => {
    const ol = make("ul");
    for (const c of rows[i].y || []) {
      const li = make("li");
      li.append(link(c), " ", make("span", rows[c].c, rows[c].f), " ", make("bdi", "", rows[c].w || ""));
      if (!seen.has(c) && seen.size < 50) { seen.add(c); if ((rows[c].y || []).length) li.append(chain(c, seen)); }
      ol.append(li);
    }
    return ol;
  };
  const seconds = (ms) => (ms < 10000 ? (ms / 1000).toFixed(2) : Math.round(ms / 1000)) + "s";
  const messages = (r) => (r.m || []).map(([severity, said]) => make("pre", "message " + (severity === "error" || severity === "warning" ? severity : ""), severity + ": " + said));
  const diff = (r) => {
    const pre = make("pre", "diff");
    r.d.forEach(([sign, line]) => pre.append(make("span", sign === "+" ? "added" : sign === "-" ? "removed" : "", sign + " " + line)));
    return pre;
  };
  const open = (i) => {
    const r = rows[i], out = [];
    const title = make("h3");
    title.append(make("bdi", "", r.n), " ", make("span", "fate " + r.c, (r.s ? r.s + " " : "") + r.f));
    out.push(title, make("div", "urn", r.urn));
    if (r.i) out.push(make("div", "urn", "id " + r.i));
    if (r.l) out.push(make("div", "urn", r.l));
    out.push(...messages(r));
    if (r.w) {
      out.push(make("h4", "", "Why"), make("bdi", "", r.w));
      if ((r.y || []).length) out.push(chain(i, new Set([i])));
    }
    if (r.d) out.push(make("h4", "", "What changes"), diff(r));
    if (r.b) {
      const ul = make("ul");
      r.b.forEach((b) => ul.append(make("li", "", b.o + " from " + seconds(b.a) + (b.q ? ", the end is not known" : " for " + seconds(b.z - b.a)) + (b.x ? ", failed" : ""))));
      out.push(make("h4", "", "When"), ul);
    }
    out.push(...links("Depends on", r.k || []), ...links("Needed by", dependents[i]));
    byId("open").replaceChildren(...out);
    byId("open").scrollTop = 0;
  };
  // reveal selects a row and shows where it is.
  const reveal = (i) => {
    text = ""; byId("find").value = ""; arranged = "parts"; byId("arrange").value = "parts";
    if (rows[i].u && !changes[i]) { sames = true; byId("sames").checked = true; }
    const path = [];
    for (let at = i, n = 0; at >= 0 && n < rows.length; at = rows[at].p, n++) path.unshift(at);
    path.forEach((_, n) => { if (n < path.length - 1) toggled.set(path.slice(0, n + 1).join("/"), true); });
    compute();
    const at = lines.findIndex((l) => l.i === i);
    if (at >= 0) { pick(lines[at]); tree.show(at); }
  };

  let waiting = 0;
  byId("find").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { text = event.target.value.trim().toLowerCase(); compute(); }, 120);
  });
  byId("arrange").addEventListener("change", (event) => { arranged = event.target.value; toggled.clear(); compute(); });
  byId("sames").checked = sames;
  byId("sames").addEventListener("change", (event) => { sames = event.target.checked; compute(); });
  byId("fold").onclick = () => { toggled.clear(); unfolded = false; compute(); };
  byId("unfold").onclick = () => { toggled.clear(); unfolded = true; compute(); };
  compute();
  const start = ["failed", "missed"].map((c) => lines.findIndex((l) => rows[l.i].c === c)).find((at) => at >= 0);
  if (start >= 0) { pick(lines[start]); tree.show(start); }

  // The drawing.
  const drawing = byId("drawing"), svg = drawing && drawing.querySelector("svg");
  if (svg) {
    const width = svg.width.baseVal.value, ratio = svg.height.baseVal.value / width;
    let scale = 1;
    const size = (to) => {
      scale = Math.min(4, Math.max(0.05, to));
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", width * ratio * scale);
    };
    const fit = () => size(Math.min(1.5, (drawing.clientWidth - 4) / width));
    byId("larger").onclick = () => size(scale * 1.25);
    byId("smaller").onclick = () => size(scale / 1.25);
    byId("actual").onclick = () => size(1);
    byId("fit").onclick = fit;
    if (width > drawing.clientWidth && width * 0.6 <= drawing.clientWidth) fit(); // it stays legible
    svg.querySelectorAll("g.node").forEach((node) => {
      const i = (boxes || [])[Number((node.querySelector("title") || {}).textContent?.slice(1))];
      if (i === undefined) return;
      node.style.cursor = "pointer";
      node.addEventListener("click", () => { reveal(i); byId("resources").scrollIntoView(); });
    });
  }

  // The timeline.
  if (byId("bars")) {
    const onPath = new Set(critical), steps = [];
    rows.forEach((r, i) => (r.b || []).forEach((b) => steps.push({ i, b })));
    steps.sort((x, y) => x.b.a - y.b.a || x.i - y.i);
    const bars = list(byId("bars"), ({ i, b }) => {
      const r = rows[i], isCritical = onPath.has(i), e = make("div", "row " + r.c + (isCritical ? " critical" : ""));
      e.setAttribute("role", "listitem");
      const name = make("span", "name"), lane = make("span", "lane"), bar = make("span", "bar"), took = make("span", "took");
      name.append(isCritical ? "◆ " : "", make("bdi", "", r.n), " ", make("bdi", "same", r.t));
      bar.style.left = (b.a / span) * 100 + "%";
      bar.style.width = ((b.z - b.a) / span) * 100 + "%";
      lane.append(bar);
      took.append(b.o + (b.x ? " failed " : b.q ? " unfinished " : " "), seconds(b.z - b.a));
      e.append(name, lane, took);
      e.onclick = () => { reveal(i); byId("resources").scrollIntoView(); };
      return e;
    }, () => (innerWidth < 800 ? one + other : one));
    bars.set(steps);
    [0, 0.25, 0.5, 0.75, 1].forEach((f) => byId("axis").append(make("span", "", seconds(f * span))));
  }

  // On paper there is nothing to scroll, fold or select: each row is followed by what is known of it.
  const onPaper = (l) => {
    const e = make("div", "entry"), r = rows[l.i], row = tree.draw(l), about = make("div", "about");
    row.classList.remove("picked");
    const facts = [r.l, r.i && "id " + r.i, (r.k || []).length && "depends on " + r.k.map((k) => rows[k].n).join(", ")].filter(Boolean);
    row.append(make("bdi", "facts", facts.join(", ")));
    about.append(...messages(r), ...(r.d ? [diff(r)] : []));
    row.style.paddingLeft = about.style.marginLeft = 24 + Math.min(l.depth, 20) * 14 + "px"; // the sign hangs
    e.append(row, about);
    return e;
  };
  // The unchanged resources that the list does not show, by their types.
  const unlisted = (listed) => {
    const shown = new Set(listed.map((l) => l.i)), types = new Map();
    rows.forEach((r, i) => { if (!shown.has(i)) types.set(r.t, [...(types.get(r.t) || []), r.n]); });
    const ul = make("ul");
    types.forEach((names, type) => {
      const li = make("li");
      li.append(make("bdi", "same", type), ": " + names.join(", "));
      ul.append(li);
    });
    return types.size ? [make("h4", "", "Unchanged"), ul] : [];
  };
  let afterwards = null;
  addEventListener("beforeprint", () => {
    if (afterwards) return;
    const folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((d) => (d.open = true));
    const all = arranged === "danger" ? byDanger() : treeOf(topParts(), partsOf, () => true); // an arrangement that has each row once
    tree.print([...all.map(onPaper), ...unlisted(all)]);
    lists.filter((l) => l !== tree).forEach((l) => l.print(l.lines().map(l.draw)));
    afterwards = () => {
      folded.forEach((d) => (d.open = false));
      lists.forEach((l) => l.print(null));
    };
  });
  addEventListener("afterprint", () => { afterwards?.(); afterwards = null; });
})();
