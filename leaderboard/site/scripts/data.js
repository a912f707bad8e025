// @ts-check
// Data files are scripts that call `harnessData`, because a page that was opened from the disk may
// load scripts and no other files. Each has the id of its build, and the page has it, too: no number
// of one build stands under the names of another.
import { h } from "./dom.js";

/** @type {Map<string, (value: any, build: string) => void>} */
const waiting = new Map();

/** Return the id of the build that wrote the page. */
function pageBuild() {
  return document.querySelector('meta[name="build"]')?.getAttribute("content") ?? "";
}

Object.assign(globalThis, {
  /**
   * Called by each data file.
   * @param {string} file path of the data file
   * @param {unknown} value
   * @param {string} build id of the build that wrote it
   */
  harnessData(file, value, build) {
    waiting.get(file)?.(value, build);
  },
});

// The pages' policy refuses any text as the address of a script that is not made here.
// Browsers without such a policy take the text. TypeScript's DOM does not know it yet.
/** @type {any} */
const types = /** @type {any} */ (globalThis).trustedTypes;
const trusted = types?.createPolicy("data", {
  /** @param {string} file */
  createScriptURL(file) {
    if (/^data\/\w+\/[\w-]+\.js$/.test(file)) return file;
    throw new TypeError(`no data file: ${file}`);
  },
});

/** @type {Map<string, Promise<any>>} */
export const loaded = new Map();

/**
 * Return what a data file holds; it is loaded once. If it is gone or of another build, the board
 * was built anew since the page was loaded: the page says so and is loaded again.
 * @param {string} file such as `data/site.js`; the folder of the build is added
 * @returns {Promise<any>}
 */
export function load(file) {
  let promise = loaded.get(file);
  if (!promise) {
    promise = new Promise((resolve, reject) => {
      let called = false;
      /** @param {string} problem */
      const fail = (problem) => {
        if (!called && !reloads()) reject(new Error(problem));
        called = true;
      };
      waiting.set(file, (value, build) => {
        if (build !== pageBuild()) return fail(`${file} is of another build than this page`);
        called = true;
        resolve(value);
      });
      const address = file.replace("/", `/${pageBuild()}/`);
      const script = h("script");
      script.addEventListener("error", () => fail(`cannot load ${file}`));
      script.addEventListener("load", () => fail(`cannot load ${file}`)); // unless it has called us
      script.src = trusted ? trusted.createScriptURL(address) : address;
      document.head.append(script);
    });
    loaded.set(file, promise);
  }
  return promise;
}

/** Milliseconds for reading that the page is loaded again. */
const NOTICE = 1500;
let isReloading = false;

/**
 * Say that the board was built anew and load the page again, once for each build of a page.
 * @returns {boolean} whether it is loaded again
 */
function reloads() {
  if (isReloading) return true;
  const key = `harness-reloaded-${pageBuild()}`;
  try {
    if (sessionStorage.getItem(key)) return false;
    sessionStorage.setItem(key, "1");
  } catch {
    return false; // without a memory it could be loaded again for ever
  }
  isReloading = true;
  const line = "A part of this page is gone: the board was built anew. It is loaded again.";
  document.querySelector("main")?.prepend(h("p", { class: "notice", role: "alert" }, line));
  setTimeout(() => location.reload(), NOTICE);
  return true;
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
