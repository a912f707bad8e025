// @ts-check
// Elements are made here alone, of text alone: no string becomes HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Return an HTML element. A property that is a function is an event listener; `null` and `false`
 * leave an attribute out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, properties, children);
  return element;
}

/**
 * Return an SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, properties, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, unknown>} properties
 * @param {(Child | Child[])[]} children
 */
function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") {
      element.addEventListener(name, /** @type {EventListener} */ (value));
    } else if (
      name === "style" &&
      (element instanceof HTMLElement || element instanceof SVGElement)
    ) {
      element.style.cssText = String(value); // the pages' policy refuses the attribute
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(typeof child === "number" ? String(child) : child);
    }
  }
}

/**
 * Return a link to another site if its address is one of the web, else the text alone.
 * @param {string | null} address
 * @param {string} text
 * @returns {Child}
 */
export function webLink(address, text) {
  if (!address || !/^https?:\/\//.test(address)) return text;
  return h("a", { href: address, rel: "noopener noreferrer nofollow" }, text);
}
