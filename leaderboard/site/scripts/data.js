// @ts-check
// Data files are scripts that call `harnessData`, because a page that was opened from the disk may
// load scripts and no other files.
import { h } from "./dom.js";

/** @type {Map<string, (value: any) => void>} */
const waiting = new Map();

Object.assign(globalThis, {
  /**
   * Called by each data file.
   * @param {string} file path of the data file
   * @param {unknown} value
   */
  harnessData(file, value) {
    waiting.get(file)?.(value);
  },
});

// The pages' policy refuses any text as the address of a script that is not made here.
// Browsers without such a policy take the text. TypeScript's DOM does not know it yet.
/** @type {any} */
const types = /** @type {any} */ (globalThis).trustedTypes;
const trusted = types?.createPolicy("data", {
  /** @param {string} file */
  createScriptURL(file) {
    if (/^data\/[\w-]+\.js$/.test(file)) return file;
    throw new TypeError(`no data file: ${file}`);
  },
});

/** @type {Map<string, Promise<any>>} */
export const loaded = new Map();

/**
 * Return what a data file holds; it is loaded once.
 * @param {string} file path relative to the page
 * @returns {Promise<any>}
 */
export function load(file) {
  let promise = loaded.get(file);
  if (!promise) {
    promise = new Promise((resolve, reject) => {
      waiting.set(file, resolve);
      const script = h("script");
      const fail = () => reject(new Error(`cannot load ${file}`));
      script.addEventListener("error", fail);
      script.addEventListener("load", fail); // has no effect once the file has called us
      script.src = trusted ? trusted.createScriptURL(file) : file;
      document.head.append(script);
    });
    loaded.set(file, promise);
  }
  return promise;
}

const ARRAYS = { f32: Float32Array, u8: Uint8Array, u16: Uint16Array, i32: Int32Array };

/**
 * Return the numbers of a column.
 * @param {Column} column
 * @returns {Float32Array | Uint8Array | Uint16Array | Int32Array}
 */
export function numbers(column) {
  const text = atob(column.data);
  const array = ARRAYS[column.type];
  const size = array.BYTES_PER_ELEMENT;
  const count = text.length / size;
  const bytes = new Uint8Array(text.length);
  for (let part = 0; part < size; part++) {
    for (let i = 0; i < count; i++) bytes[i * size + part] = text.charCodeAt(part * count + i);
  }
  return new array(bytes.buffer);
}
