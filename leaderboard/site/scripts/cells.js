// @ts-check
// The numbers of single cells, a row on a task, as they were computed: the gap over the yardstick
// with its interval, or the usefulness.
import { numbers } from "./data.js";

/** Name of a yardstick that is made of the task's own items. */
export const ITEMS = "items";

/** @type {WeakMap<Board, Cells>} */
const decodedBoards = new WeakMap();

/**
 * Return the numbers of the cells of a board, which are decoded once.
 * @param {Board} board
 * @returns {Cells}
 */
export function cellsOf(board) {
  let cells = decodedBoards.get(board);
  if (!cells) {
    cells = {
      width: board.tasks.length,
      measure: numbers(board.measure),
      low: numbers(board.measure_low),
      high: numbers(board.measure_high),
      flags: numbers(board.flags),
    };
    decodedBoards.set(board, cells);
  }
  return cells;
}

/**
 * @param {Board} board
 * @param {number[]} tasks
 * @param {string} measures
 */
export function tasksOf(board, tasks, measures) {
  return tasks.filter((task) => board.tasks[task]?.measures === measures);
}

/**
 * Return the tasks on which a row has no value that counts.
 * @param {Board} board
 * @param {number} row
 * @param {number[]} tasks
 */
export function missingOf(board, row, tasks) {
  const { measure, width } = cellsOf(board);
  return tasks.filter((task) => Number.isNaN(measure[row * width + task]));
}

/**
 * @param {number | string} a
 * @param {number | string} b
 */
export function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
