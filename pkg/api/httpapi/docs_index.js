// The first page: a filter, and the way to operations for addresses that name them as the page of a tag does.
(function () {
  "use strict";
  const named = location.hash.match(/^#\/([^/]+)/);
  if (named) {
    location.replace(document.body.dataset.base + "/docs/" + named[1] + location.hash);
    return;
  }
  const box = document.getElementById("filter"), none = document.getElementById("none");
  const sections = Array.from(document.querySelectorAll("section"));
  function filter() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const section of sections) {
      let inSection = 0;
      for (const op of section.querySelectorAll(".op")) {
        op.hidden = !words.every((word) => op.dataset.text.includes(word));
        if (!op.hidden) inSection++;
      }
      section.hidden = inSection === 0;
      shown += inSection;
    }
    none.hidden = shown > 0;
  }
  box.addEventListener("input", filter);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    }
  });
  filter(); // the browser may have kept the text
})();
