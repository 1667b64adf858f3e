// What all players have: a slider over steps, buttons, keys, and what is said of each step.

/// Makes a player over `count` steps. Step 0 is before the first event. `draw(step)` shows a step and
/// answers what is to be said of it (text or elements).
function makePlayer(count, draw, first) {
  let at = 0;
  let timer = null;
  const slider = el("input", { type: "range", min: 0, max: count, value: 0, "aria-label": "step", oninput: () => go(+slider.value) });
  const counter = el("span.count");
  const say = el("div.say", { "aria-live": "polite" });
  const play = el("button", { onclick: () => toggle(), title: "Space" }, "▶ play");
  const speed = el("select", { "aria-label": "speed", title: "speed" },
    [["slow", 1200], ["steady", 500], ["fast", 120], ["very fast", 20]].map(([name, ms]) => el("option", { value: ms }, name)));
  speed.value = 500;
  const button = (text, title, to) => el("button", { title, onclick: () => go(to()) }, text);
  const bar = el("div.bar", null,
    button("|◀", "Home", () => 0), button("◀", "←", () => at - 1), play, button("▶", "→", () => at + 1), button("▶|", "End", () => count),
    slider, counter, speed);

  function go(step) {
    at = Math.max(0, Math.min(count, step));
    slider.value = at;
    counter.textContent = `${at} of ${count}`;
    const said = draw(at);
    say.replaceChildren(...[said].flat());
    if (at === count) stop();
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ play";
  }
  function toggle() {
    if (timer) return stop();
    if (at === count) go(0);
    play.textContent = "⏸ stop";
    const tick = () => {
      go(at + 1);
      if (timer && at < count) timer = setTimeout(tick, +speed.value);
    };
    timer = setTimeout(tick, +speed.value);
  }
  function key(name, on) {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count }[name];
    if (name === " " && on !== "BUTTON" && on !== "SUMMARY") toggle();
    else if (to !== undefined) go(to);
    else return false;
    return true;
  }
  player = { bar, say, go, stop, key, count, at: () => at };
  return player;
}

/// Shows a player: its bar, what is said, and what else there is.
function showPlayer(view, made, ...rest) {
  view.append(made.bar, made.say, ...rest);
}

/// States that follow from each other: `next(state, event)` changes a state by an event. Some are kept,
/// so that going back is quick.
function makeStates(events, initial, next) {
  const every = Math.max(32, Math.ceil(events.length / 200));
  const kept = [structuredClone(initial)];
  let state = structuredClone(initial);
  let at = 0;
  return (step) => {
    if (step < at || step - at > every) {
      let from = Math.min(kept.length - 1, Math.floor(step / every));
      if (from * every > at || step < at) [state, at] = [structuredClone(kept[from]), from * every];
    }
    while (at < step) {
      next(state, events[at], at);
      at++;
      if (at % every === 0 && at / every === kept.length) kept.push(structuredClone(state));
    }
    return state;
  };
}

/// A pane of code that is filled when it comes into view.
function late(rows) {
  const code = el("pre.code");
  const pane = el("div.pane", { tabindex: 0 }, code);
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    code.replaceChildren(...chunks(rows()));
  }).observe(pane);
  return pane;
}

/// Many things, each made by a function: the first of them, and the others when they are asked for.
const MANY = 40;
function few(makers) {
  const made = makers.slice(0, MANY).map((make) => make());
  const rest = makers.slice(MANY);
  if (!rest.length) return made;
  const more = el("button.chip", { onclick: () => more.replaceWith(...rest.map((make) => make())) }, `… ${rest.length} more`);
  return [...made, more];
}

const chip = (text, kind) => el("span.chip" + (kind ? "." + kind : ""), null, text);
const chips = (texts, kind) => (texts.length ? few(texts.map((text) => () => chip(text, kind))) : [el("span.note", null, "–")]);
const name = (number) => "b" + number;
const legend = (...rows) => el("div.legend", null, rows.map(([color, text]) => el("span", null, el("i", { style: `background: var(--${color})` }), text)));
