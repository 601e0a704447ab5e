// A picture is cut to a square by hand: the square is dragged, or moved by the arrows, and made smaller or larger by - and +.
document.addEventListener("click", (e) => {
  const button = e.target.closest("[data-crop]");
  if (!button) return;
  const image = new Image();
  image.onload = () => crop(button, image);
  image.src = button.dataset.crop;
});
const crop = (button, image) => {
  const { title, help, save, cancel, id } = button.dataset;
  const dialog = document.createElement("dialog"), view = document.createElement("canvas"), text = document.createElement("p"), yes = document.createElement("button"), no = document.createElement("button");
  dialog.className = "dialog crop";
  dialog.setAttribute("aria-label", title);
  view.tabIndex = 0;
  view.setAttribute("role", "application");
  view.setAttribute("aria-label", title + ": " + help);
  text.textContent = help;
  text.className = "muted";
  yes.textContent = save;
  yes.className = "primary";
  no.textContent = cancel;
  const acts = document.createElement("div");
  acts.className = "buttons";
  acts.append(yes, no);
  dialog.append(view, text, acts);
  const most = Math.min(image.width, image.height), scale = Math.min(innerWidth - 96, innerHeight - 240, 520) / Math.max(image.width, image.height);
  view.width = image.width * scale;
  view.height = image.height * scale;
  let side = most, x = (image.width - side) / 2, y = (image.height - side) / 2;
  const within = (at, size) => Math.max(0, Math.min(at, size - side));
  const draw = () => {
    x = within(x, image.width);
    y = within(y, image.height);
    const on = view.getContext("2d");
    on.drawImage(image, 0, 0, view.width, view.height);
    on.fillStyle = "rgb(0 0 0 / .6)";
    on.fillRect(0, 0, view.width, view.height);
    on.drawImage(image, x, y, side, side, x * scale, y * scale, side * scale, side * scale);
    on.strokeStyle = "#fff";
    on.lineWidth = 2;
    on.strokeRect(x * scale + 1, y * scale + 1, side * scale - 2, side * scale - 2);
  };
  const resize = (to) => {
    const size = Math.max(most / 5, Math.min(most, to));
    x += (side - size) / 2;
    y += (side - size) / 2;
    side = size;
    draw();
  };
  view.addEventListener("pointerdown", (e) => view.setPointerCapture(e.pointerId));
  view.addEventListener("pointermove", (e) => { if (e.buttons) { x += e.movementX / scale; y += e.movementY / scale; draw(); } });
  view.addEventListener("wheel", (e) => { e.preventDefault(); resize(side * (e.deltaY < 0 ? 1.05 : .95)); });
  view.addEventListener("keydown", (e) => {
    const step = most / 40, move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[e.key];
    if (move) { e.preventDefault(); x += move[0]; y += move[1]; draw(); }
    if (e.key === "+" || e.key === "-") resize(side * (e.key === "+" ? 1.1 : .9));
  });
  no.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => { dialog.remove(); button.focus(); });
  yes.addEventListener("click", () => {
    const out = document.createElement("canvas");
    out.width = out.height = side;
    out.getContext("2d").drawImage(image, x, y, side, side, 0, 0, side, side);
    out.toBlob((cut) => {
      const form = document.getElementById("pictures-add"), files = new DataTransfer();
      files.items.add(new File([cut], "square." + cut.type.split("/")[1], { type: cut.type }));
      form.elements.replace.value = id;
      form.elements.file.files = files.files;
      dialog.close();
      form.elements.file.dispatchEvent(new Event("change", { bubbles: true }));
    }, "image/webp", .92);
  });
  document.body.append(dialog);
  dialog.showModal();
  draw();
  view.focus();
};
