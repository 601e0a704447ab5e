// The counter. Steppers change the quantity at once, scans wait for each other, the pad types into the field that was last in use.
const till = () => document.getElementById("till");
const change = (input, value) => { input.value = value; input.dispatchEvent(new Event("input", { bubbles: true })); };
document.addEventListener("click", (e) => {
  const button = e.target.closest?.("#till button");
  if (!button) return;
  if (button.dataset.step) {
    const input = button.parentElement.querySelector("input"), next = Number(input.value.replace(",", ".")) + Number(button.dataset.step);
    e.preventDefault();
    if (next > 0) change(input, String(Math.round(next * 1000) / 1000).replace(".", input.value.includes(",") ? "," : ".")); else button.closest("li").querySelector("button.danger").click();
  }
  if (button.dataset.pad) {
    const all = [...till().querySelectorAll(".money input")], input = all.find((one) => one === lastMoney) ?? all.at(-1);
    const key = button.dataset.pad;
    change(input, key === "clear" ? "" : key === "back" ? input.value.slice(0, -1) : input.value + key);
  }
  if ("print" in button.dataset) print();
});
let lastMoney;
document.addEventListener("focusin", (e) => { if (e.target.closest?.("#till .money")) lastMoney = e.target; });

// What a scanner sends is taken out of the field at once, so that the next scan does not meet the answer to the one before.
const scans = [];
let scanning = false;
const scanNext = () => {
  const button = document.querySelector("#till [data-scanned]");
  if (scanning || !scans.length || !button) return;
  scanning = true;
  till().elements.scan.value = scans.shift();
  button.click();
};
document.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || e.defaultPrevented || e.target.id !== "p" || !till()?.contains(e.target) || !e.target.value.trim()) return;
  e.preventDefault();
  scans.push(e.target.value.trim());
  e.target.value = "";
  scanNext();
});
const scanned = () => {
  scanning = false;
  if (till()) till().elements.scan.value = "";
  scanNext();
};
document.addEventListener("htmx:afterRequest", (e) => { if (e.target.matches?.("[data-scanned]")) scanned(); });
document.addEventListener("till:scanned", scanned);
