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
  // A list draws the lines that are in sight.
  const height = 26;
  const list = (box, draw) => {
    const room = make("div", "room");
    box.append(room);
    let lines = [], first = -1, last = -1;
    const paint = (again) => {
      const from = Math.max(0, Math.floor(box.scrollTop / height) - 8);
      const to = Math.min(lines.length, Math.ceil((box.scrollTop + box.clientHeight) / height) + 8);
      if (!again && from === first && to === last) return;
      first = from; last = to;
      room.replaceChildren(...lines.slice(from, to).map((l, n) => {
        const e = draw(l, from + n);
        e.style.top = (from + n) * height + "px";
        return e;
      }));
    };
    box.addEventListener("scroll", () => paint(false));
    addEventListener("resize", () => paint(false));
    return {
      set(now) { lines = now; room.style.height = now.length * height + "px"; box.scrollTop = Math.min(box.scrollTop, now.length * height); paint(true); },
      paint: () => paint(true),
      show(n) {
        if (n * height < box.scrollTop) box.scrollTop = n * height;
        if ((n + 1) * height > box.scrollTop + box.clientHeight) box.scrollTop = (n + 1) * height - box.clientHeight;
        paint(true);
      },
    };
  };

  // The tree. A line is a row at a place; in the arrangement by dependencies a row can be at several.
  let arranged = "parts", sames = !changes.some(Boolean), text = "", picked = -1, pickedKey = "", lines = [];
  const toggled = new Map(); // places that are folded (false) or unfolded (true) by hand
  let unfolded = true;
  const kids = (i) => (arranged === "parts" ? parts[i] : arranged === "needs" ? dependents[i] : []).filter((k) => sames || (arranged === "parts" ? changes[k] : !rows[k].u));
  const isOpen = (key, depth) => toggled.get(key) ?? (arranged === "parts" ? unfolded : unfolded && depth < 1);
  const matches = (r) => (r.n + " " + r.t + " " + r.urn + " " + r.f).toLowerCase().includes(text);
  const compute = () => {
    lines = [];
    if (text) {
      rows.forEach((r, i) => { if (matches(r)) lines.push({ i, depth: 0, key: "" + i, kids: false }); });
    } else if (arranged === "danger") {
      lines = rows.map((_, i) => i).filter((i) => sames || !rows[i].u).sort((a, b) => rows[a].g - rows[b].g || a - b).map((i) => ({ i, depth: 0, key: "" + i, kids: false }));
    } else {
      const top = arranged === "parts" ? roots.filter((i) => sames || changes[i])
        : rows.map((_, i) => i).filter((i) => (sames || !rows[i].u) && !(rows[i].k || []).some((k) => sames || !rows[k].u));
      // On the stack is what is still to be listed, the next one last.
      const todo = top.map((i) => ({ i, depth: 0, key: "" + i, above: null })).reverse();
      while (todo.length) {
        const l = todo.pop();
        const below = kids(l.i);
        lines.push({ i: l.i, depth: l.depth, key: l.key, kids: below.length > 0, open: isOpen(l.key, l.depth) });
        if (isOpen(l.key, l.depth)) for (let n = below.length - 1; n >= 0; n--) todo.push({ i: below[n], depth: l.depth + 1, key: l.key + "/" + below[n] });
      }
    }
    const hidden = rows.filter((r, i) => r.u && !(arranged === "parts" && changes[i])).length;
    byId("shown").textContent = lines.length.toLocaleString("en") + " shown" + (!sames && !text && hidden ? ", " + hidden.toLocaleString("en") + " unchanged hidden" : "");
    tree.set(lines);
  };
  const fold = (l, open) => { toggled.set(l.key, open); compute(); };
  const tree = list(byId("rows"), (l) => {
    const r = rows[l.i], e = make("div", "row" + (l.key === pickedKey ? " picked" : ""));
    e.setAttribute("role", "treeitem");
    e.setAttribute("aria-level", l.depth + 1);
    e.setAttribute("aria-selected", l.key === pickedKey);
    if (l.kids) e.setAttribute("aria-expanded", l.open);
    e.style.paddingLeft = 8 + Math.min(l.depth, 20) * 18 + "px";
    const twist = make("span", "twist", l.kids ? (l.open ? "▾" : "▸") : "");
    if (l.kids) twist.onclick = (event) => { event.stopPropagation(); fold(l, !l.open); };
    e.append(twist, make("span", "sign " + r.c, r.s), make("bdi", "type", r.t), make("bdi", "name", r.n), make("span", "fate " + (r.x ? "trouble" : r.c), r.u ? "" : r.f));
    if (r.w && !r.u && r.c !== "create") e.append(make("bdi", "fate same", r.w));
    e.onclick = () => pick(l);
    return e;
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
  const open = (i) => {
    const r = rows[i], out = [];
    const title = make("h3");
    title.append(make("bdi", "", r.n), " ", make("span", r.x ? "trouble delete" : r.c, (r.s ? r.s + " " : "") + r.f));
    out.push(title, make("div", "urn", r.urn));
    if (r.i) out.push(make("div", "urn", "id " + r.i));
    if (r.l) out.push(make("div", "urn", r.l));
    (r.m || []).forEach(([severity, said]) => out.push(make("pre", "message " + (severity === "error" || severity === "warning" ? severity : ""), severity + ": " + said)));
    if (r.w) {
      out.push(make("h4", "", "Why"), make("bdi", "", r.w));
      if ((r.y || []).length) out.push(chain(i, new Set([i])));
    }
    if (r.d) {
      const pre = make("pre", "diff");
      r.d.forEach(([sign, line]) => pre.append(make("span", sign === "+" ? "added" : sign === "-" ? "removed" : "", sign + " " + line)));
      out.push(make("h4", "", "What changes"), pre);
    }
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
  const start = lines.findIndex((l) => rows[l.i].x);
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
      took.append(make("span", "doing", b.o + (b.x ? " failed " : b.q ? " unfinished " : " ")), seconds(b.z - b.a));
      e.append(name, lane, took);
      e.onclick = () => { reveal(i); byId("resources").scrollIntoView(); };
      return e;
    });
    bars.set(steps.map((s) => s));
    [0, 0.25, 0.5, 0.75, 1].forEach((f) => byId("axis").append(make("span", "", seconds(f * span))));
  }
})();
