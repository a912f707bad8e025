// @ts-check
// The line of a plot that the reader drags, by mouse, finger or keyboard, such as the minimum of
// usefulness.
import { h } from "./dom.js";
import { NARROW } from "./plot_scale.js";
/** @import { Plot } from "./plot.js" */

/** Shares that a key moves the line by. */
const STEPS = new Map([
  ["ArrowUp", 1],
  ["ArrowRight", 1],
  ["ArrowDown", -1],
  ["ArrowLeft", -1],
  ["PageUp", 10],
  ["PageDown", -10],
  ["Home", -100],
  ["End", 100],
]);

/**
 * Add the line to a plot; `place` puts it where its share is on the drawn axis.
 * @param {Plot} plot
 * @param {PlotSlider} slider
 * @param {HTMLElement} area
 */
export function plotSlider(plot, slider, area) {
  let { share } = slider;
  let chosen = share;
  const line = h("div", {
    class: "plot-slider",
    role: "slider",
    tabindex: 0,
    "aria-label": slider.label,
    "aria-orientation": "vertical",
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  const label = h("span", {});
  line.append(label, h("span", { class: "grip", "aria-hidden": "true" }));
  const place = () => {
    line.classList.toggle("right", plot.isLabelRight);
    line.style.top = `${plot.scales.y.at(slider.at(share))}px`;
    line.style.left = `${plot.frame.left}px`;
    line.style.width = `${plot.frame.right - plot.frame.left}px`;
    label.textContent = plot.width < NARROW ? slider.short(share) : slider.text(share);
    line.setAttribute("aria-valuenow", String(share));
    line.setAttribute("aria-valuetext", slider.text(share));
  };
  const moveTo = (/** @type {number} */ next, isFinal = false) => {
    const inside = Math.max(0, Math.min(100, Math.round(next)));
    if (inside === share && !isFinal) return;
    share = inside;
    if (isFinal) chosen = share;
    place();
    slider.move(share, isFinal);
  };

  let isDragged = false;
  line.addEventListener("pointerdown", (event) => {
    isDragged = true;
    line.setPointerCapture(event.pointerId);
  });
  line.addEventListener("pointermove", (event) => {
    if (!isDragged) return;
    const [bottom, top] = [0, 100].map((end) => plot.scales.y.at(slider.at(end)));
    const y = event.clientY - area.getBoundingClientRect().top;
    moveTo((100 * (y - bottom)) / (top - bottom || 1));
  });
  const drop = () => {
    if (isDragged && share !== chosen) moveTo(share, true);
    isDragged = false;
  };
  line.addEventListener("pointerup", drop);
  line.addEventListener("pointercancel", drop);
  line.addEventListener("click", (event) => event.stopPropagation()); // opens no point below it

  line.addEventListener("keydown", (event) => {
    const step = STEPS.get(event.key);
    if (step === undefined) return;
    event.preventDefault();
    moveTo(share + step);
  });
  const release = () => {
    if (share !== chosen && !isDragged) moveTo(share, true);
  };
  line.addEventListener("keyup", release);
  line.addEventListener("blur", release);
  area.append(line);
  return { place };
}
