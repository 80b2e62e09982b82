// A headless browser, and pages whose every complaint and every request is noted.
import {mkdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const root = new URL('../../../', import.meta.url);
const {chromium} = createRequire(new URL('report-ui/', root))('playwright-core');

/// Screenshots and what the tests made stay here, to be looked at.
export const artefacts = process.env.KINDRED_ARTEFACTS;
mkdirSync(artefacts, {recursive: true});

export const launch = () => chromium.launch({
  executablePath: process.env.KINDRED_BROWSER,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking',
         '--disable-component-update', '--disable-sync', '--no-first-run'],
});

/// The page, opened; `page.complaints` holds console messages, errors and requests to elsewhere.
export async function open(browser, file, options = {}) {
  const context = await browser.newContext({
    viewport: {width: 1280, height: 800}, acceptDownloads: true, ...options,
  });
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (message) => page.complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => page.complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) page.complaints.push(`asks ${request.url()}`);
  });
  const start = Date.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('main section');
  await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
  }));
  page.seconds = (Date.now() - start) / 1000;
  return page;
}

export const screenshot = (page, name, options = {}) =>
  page.screenshot({path: join(artefacts, `${name}.png`), ...options});

/// What a click on `selector` downloads, as bytes.
export async function download(page, selector) {
  const [file] = await Promise.all([
    page.waitForEvent('download'), page.locator(selector).first().click()]);
  const chunks = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk);
  return {name: file.suggestedFilename(), bytes: Buffer.concat(chunks)};
}
