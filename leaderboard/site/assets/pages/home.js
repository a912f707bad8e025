// @ts-check
// The first screen: findings, bias against usefulness, and one row a model.
"use strict";

pages.home = (main, _site, board, route) => {
  const entry = _site.boards.find(({ kind }) => kind === route.kind);
  main.append(h("h1", {}, entry?.title ?? board.kind));
};
