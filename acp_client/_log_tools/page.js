"use strict";
// Moves the page through time. Everything is there without it; it hides what came later.
(() => {
  const data = JSON.parse(document.getElementById("timeline").textContent);
  const slider = document.getElementById("moment");
  const output = document.getElementById("when");
  const last = data.moments.length - 1;

  // The version that was shown at a moment: the last one that begins no later.
  const versionAt = (versions, moment) => {
    let low = 0, high = versions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (versions[middle][0] <= moment) low = middle + 1; else high = middle;
    }
    return low ? versions[low - 1] : null;
  };
  const show = (element, shown) => { if (element.hidden === shown) element.hidden = !shown; };
  const write = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  const textAt = (whole, length) => typeof length === "string" ? length : whole.slice(0, length);
  const setStatus = (badge, status) => {
    if (badge.dataset.status === status) return;
    badge.dataset.status = status;
    badge.textContent = status.replaceAll("_", " ");
  };

  const parts = [];
  for (const [index, session] of data.sessions.entries()) {
    const root = document.getElementById(`session-${index}`);
    parts.push((moment) => show(root, session.first <= moment));
    const entries = root.querySelectorAll(":scope > .entries > .entry");
    for (const [place, versions] of Object.entries(session.entries)) {
      const entry = entries[place];
      if (!entry) continue;
      const text = entry.querySelector(".grows");
      const whole = text && text.textContent;
      const badge = entry.querySelector(".heading > .status");
      const items = entry.querySelectorAll(":scope > .item, :scope > div > .item");
      parts.push((moment) => {
        const version = versionAt(versions, moment);
        show(entry, version !== null);
        if (version === null) return;
        const [, length, count, status] = version;
        if (text) write(text, moment === last ? whole : textAt(whole, length));
        if (badge && status) setStatus(badge, status);
        items.forEach((item, number) => show(item, moment === last || number < count));
      });
    }
    for (const terminal of root.querySelectorAll(".terminal")) {
      const versions = session.terminals[terminal.dataset.terminal];
      const shown = terminal.querySelector(".output");
      if (!versions || !shown) continue;
      const whole = shown.textContent;
      const ending = terminal.querySelector(".status");
      const [ended, tone] = [ending.textContent, ending.dataset.status];
      parts.push((moment) => {
        const version = versionAt(versions, moment);
        show(terminal, version !== null);
        if (version === null) return;
        write(shown, moment === last ? whole : textAt(whole, version[1]));
        write(ending, version[2] || moment === last ? ended : "running");
        ending.dataset.status = version[2] || moment === last ? tone : "in_progress";
      });
    }
    const plans = root.querySelectorAll(".plans > *");
    for (const [place, first] of Object.entries(session.plans)) {
      parts.push((moment) => plans[place] && show(plans[place], first <= moment));
    }
    const badge = root.querySelector("h2 .status");
    parts.push((moment) => {
      const version = versionAt(session.states, moment);
      if (badge && version) setStatus(badge, version[1]);
    });
    const end = root.querySelector(".end");
    if (end) parts.push((moment) => show(end, moment === last));
  }

  const words = (moment) => {
    const [line, time] = data.moments[moment];
    const when = time === null ? "" : time > 1e8
      ? `, ${new Date(time * 1000).toISOString().replace("T", " ").slice(0, 19)} UTC` : `, ${time.toFixed(1)} s`;
    return `line ${line} of ${data.moments[last][0]}${when}`;
  };
  let wanted = last, drawn = -1, asked = false;
  const draw = () => {
    asked = false;
    if (drawn === wanted) return;
    drawn = wanted;
    for (const part of parts) part(drawn);
    output.textContent = words(drawn);
    slider.setAttribute("aria-valuetext", words(drawn));
  };
  const go = (moment) => {
    wanted = Math.max(0, Math.min(last, moment));
    slider.value = String(wanted);
    if (!asked) { asked = true; requestAnimationFrame(draw); }
  };
  if (last < 0) return;
  slider.max = String(last);
  slider.value = String(last);
  slider.disabled = false;
  slider.addEventListener("input", () => go(Number(slider.value)));
  document.getElementById("back").addEventListener("click", () => go(wanted - 1));
  document.getElementById("forward").addEventListener("click", () => go(wanted + 1));
  const open = document.getElementById("details");
  open.addEventListener("click", () => {
    const every = [...document.querySelectorAll("details")];
    const closed = every.some((one) => !one.open);
    for (const one of every) one.open = closed;
    open.setAttribute("aria-pressed", String(closed));
  });
  addEventListener("beforeprint", () => go(last));
  output.textContent = words(last);
  slider.setAttribute("aria-valuetext", words(last));
})();
