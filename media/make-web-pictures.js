/**
`npm run picture:web -- URL`: what a dashboard that runs at URL shows, as media/web-dark.png and media/web-light.png. The longer it has run
(`canhazgpu web --demo`), the more there is to see. The variable CHROMIUM names a browser that is elsewhere.
*/
import process from "node:process";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const [url = "http://127.0.0.1:8080/"] = process.argv.slice(2);
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

/** @param act - What is done before the picture is taken. */
async function take(name, colorScheme, act) {
	const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme, reducedMotion: "reduce" });
	await page.goto(url);
	await page.locator('#pill[data-kind="live"]').waitFor();
	await page.locator(".spark-line[d^=M]").first().waitFor({ state: "attached" });
	await act(page);
	await page.screenshot({ path: fileURLToPath(new URL(name, import.meta.url)) });
	await page.close();
}

await take("web-dark.png", "dark", async () => undefined);
await take("web-light.png", "light", async (page) => {
	await page.locator('#cards [data-gpu="0"] button').first().click();
	await page.locator("#cards .chart canvas").waitFor();
	await page.locator(".chart-words:not(:empty)").waitFor();
});
await browser.close();
