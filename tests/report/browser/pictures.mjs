// The pictures in the documentation: node pictures.mjs RUNS OUT [BEGIN] (see scripts/pictures). With
// BEGIN only those whose names begin so.
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {launch, open} from './browser.mjs';

const [runs, out, begin = ''] = process.argv.slice(2);
mkdirSync(out, {recursive: true});
const browser = await launch();

/// A section from its top; as high as it is, but at most `height` pixels.
async function section(name, id, file, {height = 800, scheme = 'light', prepare} = {}) {
  if (!file.startsWith(begin)) return;
  const page = await open(browser, join(runs, name, 'report.html'),
                          {viewport: {width: 1200, height}, colorScheme: scheme});
  await prepare?.(page);
  await page.evaluate((selector) => {
    const top = document.querySelector(selector).getBoundingClientRect().top + scrollY - 56;
    scrollTo({top, behavior: 'instant'});
  }, id === 'overview' ? 'body' : `#${id}`);
  await page.waitForTimeout(300);
  await page.screenshot({path: join(out, `${file}.png`)});
  await page.close();
}

await section('diagonal', 'overview', 'report-overview', {height: 780});
await section('diagonal', 'map', 'report-map', {height: 840});
await section('diagonal', 'behaviour', 'report-behaviour', {height: 920});
await section('diagonal', 'look', 'report-look', {
  height: 760,
  prepare: async (page) => {
    await page.locator('.player input[type=range]').focus();
    for (let i = 0; i < 5; ++i) await page.keyboard.press('ArrowRight');
  },
});
await section('diagonal', 'process', 'report-process', {height: 900, scheme: 'dark'});
await section('bandit', 'overview', 'report-alternative', {
  height: 680, prepare: (page) => page.getByRole('button', {name: 'Alternative 2'}).click(),
});
await section('path-following', 'overview', 'report-path-overview', {height: 700});
await section('path-following', 'behaviour', 'report-path', {height: 760});
await section('hopper', 'overview', 'report-hopper-overview', {height: 700});
await section('hopper', 'behaviour', 'report-hopper', {height: 1000});
await section('segments', 'strips', 'report-segments', {height: 860});
await section('segments', 'look', 'report-segments-look', {
  height: 640,
  prepare: async (page) => {
    await page.locator('.player input[type=range]').focus();
    for (let i = 0; i < 5; ++i) await page.keyboard.press('PageUp');
  },
});
await section('segments-grid', 'look', 'report-segments-scene', {
  height: 820,
  prepare: async (page) => {
    await page.locator('.player input[type=range]').focus();
    for (let i = 0; i < 17; ++i) await page.keyboard.press('ArrowRight');
  },
});
await browser.close();
