"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const pairs = all(".pair");
  const begin = document.getElementById(document.getElementById("detail")?.dataset.opens) ?? pairs[0];
  const state = { run: begin?.dataset.run, task: begin?.dataset.task, every: false };

  // ---- holding the load event until the figures in sight are drawn, so that a browser told to print a file prints them
  const hold = document.createElement("iframe");
  hold.hidden = true;
  document.body.append(hold);
  hold.contentDocument?.open();
  const letGo = () => { hold.contentDocument?.close(); hold.remove(); };
  setTimeout(letGo, 10000);

  // ---- what is packed: text gzipped in base64, unpacked once, when first needed
  const unpacked = new Map();
  const unpack = (element) => {
    if (!unpacked.has(element)) unpacked.set(element, (async () => {
      const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      return new Response(stream).text();
    })());
    return unpacked.get(element);
  };
  let theme;
  let loading;
  const library = () => loading ??= (async () => {
    theme = JSON.parse(await unpack(document.getElementById("theme-data")));
    const script = document.createElement("script");
    script.textContent = await unpack(document.getElementById("library"));
    document.head.append(script);
  })();
  const payloads = new Map(all(".payload").map((e) => [e.dataset.name, e]));
  const ready = new Map();
  const prepared = async (owner) => {
    await library();
    if (!ready.has(owner)) ready.set(owner, JSON.parse(await unpack(payloads.get(owner))));
  };

  // ---- colours: figures are written for the light page; on the dark one each known colour has its counterpart
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const recoloured = (value, colours, key = "") => {
    if (typeof value === "string") return /color/.test(key) ? colours[value] ?? value : value;
    if (Array.isArray(value)) return /color|shapes|annotations|data/.test(key) ? value.map((v) => recoloured(v, colours, key)) : value;
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, recoloured(v, colours, k)]));
  };
  const dressed = (figure, dark) => {
    const copy = dark ? recoloured(figure, theme.dark) : structuredClone(figure);
    copy.layout.template = theme.templates[dark ? "dark" : "light"];
    copy.layout.dragmode = matchMedia("(pointer: coarse)").matches ? false : "zoom";
    return copy;
  };

  // ---- drawing: what comes near the window first, then the rest of what is open while nothing else is to do
  const config = { responsive: true, typesetMath: false, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "pan2d", "zoomIn2d", "zoomOut2d"] };
  const paint = (element, dark, size) => { // at once; what it needs must have been prepared
    const figure = ready.get(element.dataset.owner)?.[element.dataset.name];
    if (!window.Plotly || !figure || element.dataset.state === "failed") return undefined;
    const { data, layout } = dressed(figure, dark);
    const drawn = window.Plotly.react(element, data, { ...layout, ...size }, config);
    if (element.dataset.state !== "drawn") {
      element.on("plotly_click", ({ points }) => { if (pairs.some((p) => p.id === points[0].customdata)) location.hash = points[0].customdata; });
      element.dataset.state = "drawn";
    }
    return drawn;
  };
  const draw = async (element) => {
    if (element.dataset.state) return;
    element.dataset.state = "waiting";
    try {
      await prepared(element.dataset.owner);
      if (element.dataset.state === "waiting") await paint(element, isDark(), {});
    } catch (error) {
      element.dataset.state = "failed";
      element.classList.add("failed");
      element.textContent = typeof DecompressionStream === "undefined" ? "This browser cannot unpack the figure; the tables hold its numbers." : `This figure could not be drawn (${error.message}).`;
    }
  };
  const drawn = () => all('.plot[data-state="drawn"]');
  const seen = () => all(".plot").filter((e) => e.offsetParent);
  const idle = window.requestIdleCallback ?? ((then) => setTimeout(then, 20));
  const later = () => idle(async () => {
    const next = state.every ? undefined : seen().find((e) => !e.dataset.state);
    if (next) { await draw(next); later(); } else if (hold.isConnected) letGo();
  });
  const near = new IntersectionObserver((entries) => entries.forEach((e) => e.isIntersecting && draw(e.target)), { rootMargin: "300px 0px" });
  requestAnimationFrame(() => setTimeout(() => { all(".plot").forEach((e) => near.observe(e)); later(); }));

  // ---- choosing a run, a task, a head
  const selectHead = (block) => {
    all(":scope > .head", block.parentElement).forEach((e) => e.classList.toggle("open", e === block));
    all(":scope > .choice [data-head]", block.parentElement).forEach((b) => b.setAttribute("aria-selected", b.dataset.head === block.id));
    all('.plot[data-state="drawn"]', block).forEach((e) => window.Plotly.Plots.resize(e));
    if (window.Plotly) later();
  };
  const show = () => {
    const open = pairs.filter((p) => state.every || (p.dataset.run === state.run && p.dataset.task === state.task));
    pairs.forEach((p) => p.classList.toggle("open", open.includes(p)));
    const tasks = state.every ? null : state.task;
    all(".prompts").forEach((e) => e.classList.toggle("open", tasks === null || e.dataset.task === tasks));
    const run = document.getElementById("run");
    if (run) run.value = state.run;
    all(".chooser [data-task]").forEach((b) => {
      b.setAttribute("aria-selected", !state.every && b.dataset.task === state.task);
      b.disabled = !pairs.some((p) => p.dataset.run === state.run && p.dataset.task === b.dataset.task);
    });
    if (open[0]) all("[data-part]").forEach((a) => { a.href = `#${open[0].id}${a.dataset.part}`; });
    open.flatMap((p) => all('.plot[data-state="drawn"]', p)).forEach((e) => e.offsetParent && window.Plotly.Plots.resize(e));
    if (window.Plotly) later();
    return open;
  };
  const choose = (run, task) => {
    const found = pairs.find((p) => p.dataset.run === run && p.dataset.task === task) ?? pairs.find((p) => p.dataset.run === run);
    if (!found) return;
    Object.assign(state, { run: found.dataset.run, task: found.dataset.task });
    show();
    try { history.replaceState(null, "", `#${found.id}`); } catch { /* some browsers refuse it for files */ }
  };
  const follow = () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* a stray % is part of the name */ }
    const target = document.getElementById(name);
    if (!target) return;
    const pair = target.closest(".pair");
    if (pair) {
      Object.assign(state, { run: pair.dataset.run, task: pair.dataset.task });
      show();
    }
    if (target.matches(".head")) selectHead(target);
    target.closest("details")?.setAttribute("open", "");
    target.scrollIntoView();
  };
  document.getElementById("run")?.addEventListener("change", (e) => choose(e.target.value, state.task));
  document.getElementById("every")?.addEventListener("change", (e) => { state.every = e.target.checked; show(); });
  all(".chooser [data-task]").forEach((b) => b.addEventListener("click", () => choose(state.run, b.dataset.task)));
  all("[data-head]").forEach((b) => b.addEventListener("click", () => selectHead(document.getElementById(b.dataset.head))));
  all('[role="tablist"]').forEach((list) => list.addEventListener("keydown", (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    const tabs = all("button:not(:disabled)", list);
    if (step) { const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length); next.focus(); next.click(); }
  }));
  all(".choice").forEach((tabs) => selectHead(document.getElementById(tabs.querySelector("[data-head]").dataset.head)));
  addEventListener("hashchange", follow);
  show();
  follow();

  // ---- where the reader is
  const marks = new Map(all('.contents a:not([data-part])').map((a) => [a.getAttribute("href").slice(1), a]));
  const passing = new IntersectionObserver((entries) => entries.forEach((e) => marks.get(e.target.id)?.classList.toggle("here", e.isIntersecting)), { rootMargin: "-35% 0px -64.9% 0px" });
  all("main > section").forEach((e) => passing.observe(e));

  // ---- light, dark, print
  const button = document.getElementById("theme");
  const named = () => { button.querySelector("span").textContent = root.dataset.theme ?? "auto"; };
  const repaint = () => Promise.all(drawn().map((e) => paint(e, isDark(), { width: undefined })));
  button.addEventListener("click", () => {
    const next = { undefined: isDark() ? "light" : "dark", light: "dark", dark: "light" }[root.dataset.theme];
    root.dataset.theme = next;
    try { localStorage.setItem("interp-theme", next); } catch { /* then it holds for this visit */ }
    named();
    repaint();
  });
  named();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (!root.dataset.theme) repaint(); });
  const PRINTED = 660; // px: the text width of a portrait page
  const prepare = () => { // a browser does not wait for what is not done when this returns
    root.classList.add("printing");
    all("main details").forEach((d) => { d.dataset.was = d.open; d.open = true; });
    seen().forEach((e) => paint(e, false, { width: e.closest(".three") ? PRINTED / 3 - 8 : e.closest(".two") ? PRINTED / 2 - 8 : PRINTED }));
  };
  const restore = () => {
    root.classList.remove("printing");
    all("details[data-was]").forEach((d) => { d.open = d.dataset.was === "true"; delete d.dataset.was; });
    repaint();
  };
  document.getElementById("print").addEventListener("click", async () => {
    await Promise.all([...new Set(seen().map((e) => e.dataset.owner))].map(prepared));
    print();
  });
  addEventListener("beforeprint", prepare);
  addEventListener("afterprint", restore);
})();
