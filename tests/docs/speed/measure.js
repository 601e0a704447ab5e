// Prints the load times of the pages in milliseconds, each in a browser that has nothing in its cache.
const { chromium } = require("playwright-core");

const [docs, runs] = [process.argv[2], Number(process.argv[3])];
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

(async () => {
  for (const [page, ready] of [["", ".op"], ["/Catalog", ".opblock-summary"], ["/Sales", ".opblock-summary"]]) {
    const times = [];
    for (let i = 0; i <= runs; i++) {
      const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
      const tab = await browser.newPage();
      const begin = performance.now();
      await tab.goto(docs + page, { waitUntil: "commit" });
      await tab.waitForSelector(ready);
      await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
      if (i > 0) times.push(Math.round(performance.now() - begin)); // the first one warms the server
      await browser.close();
    }
    console.log(`/docs${page}: ${times.join(", ")} ms; worst ${Math.max(...times)} ms`);
  }
})();
