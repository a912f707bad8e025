// Makes the tables sortable and searchable, and shows a cell's tip on a tap.
// A page opened from a file cannot import other files, so the bundle is inline.
const packed = document.getElementById("tables-script").textContent;
const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
const url = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
const { ITable } = await import(url);
URL.revokeObjectURL(url);

for (const table of document.querySelectorAll("table.interactive")) {
  const long = table.tBodies[0].rows.length > 50;
  new ITable(table, {
    paging: long,
    pageLength: 50,
    order: [],
    autoWidth: false,
    layout: {
      topStart: "info",
      topEnd: "search",
      bottomStart: long ? "pageLength" : null,
      bottomEnd: long ? "paging" : null,
    },
    language: {
      search: "",
      searchPlaceholder: "Search " + table.dataset.name,
      entries: { _: "rows", 1: "row" },
      info: "_TOTAL_ _ENTRIES-TOTAL_",
      infoEmpty: "no rows",
      infoFiltered: "of _MAX_",
      zeroRecords: "No row matches.",
    },
    columnDefs: [{ targets: "_all", orderSequence: ["asc", "desc"] }],
  });
}

document.addEventListener("click", (event) => {
  const cell = event.target.closest("td[data-tip]");
  if (!cell) return;
  const line = cell.closest(".scroll").nextElementSibling;
  const names = [...cell.parentElement.querySelectorAll(".model, .mitigator")];
  const row = names.map((name) => name.textContent.trim()).join(" · ");
  line.textContent = `${row}: ${cell.dataset.tip}`;
});

// A table wider than its container is marked, and fades at the edge.
for (const place of document.querySelectorAll(".scroll")) {
  const inner = place.querySelector(".dt-layout-table > *") ?? place;
  const look = () => {
    const hidden = inner.scrollWidth - inner.clientWidth;
    place.classList.toggle("wide", hidden > 1);
    place.classList.toggle("more", hidden - inner.scrollLeft > 1);
  };
  inner.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(inner); // also runs when a <details> opens
}

document.documentElement.dataset.ready = "yes";
