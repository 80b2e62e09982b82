// The page of who acted when.
import assert from 'node:assert/strict';
import {rmSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {download, launch, open, screenshot} from './browser.mjs';
import {at, changed, kindred} from './runs.mjs';

const files = {};
let browser;

/// Generates, segments and reports; returns the page's file.
function segments(name, generate) {
  for (const made of [`${name}.h5`, name]) rmSync(at(made), {recursive: true, force: true});
  kindred('generate', ...generate, '--seed', '1', '-o', at(`${name}.h5`));
  kindred('segment', at(`${name}.h5`), '-o', at(name));
  kindred('report', at(name));
  return at(`${name}/report.html`);
}

const encoded = (type, values) => ({type, data: Buffer.from(values.buffer).toString('base64')});

/// The same page of very many episodes of 100 steps, each with a switch at step 50.
function withMany(file, name, n) {
  return changed(file, name, (record) => {
    const of = (first, second) => encoded('u8', Uint8Array.from({length: 2 * n},
        (_, i) => i % 2 ? second : first));
    record.episodes = {count: n, ids: null, length: encoded('u8', new Uint8Array(n).fill(100))};
    record.segments = {begin: of(0, 50), policy: of(0, 1), earliest: of(0, 45), latest: of(0, 55),
      chance: {type: 'same', value: 0.9, count: 2 * n}};
    record.truth = null;
    record.evidence = [];
    record.unsure = undefined;
  });
}

before(async () => {
  files.switching = segments('segments', ['takeball', '--per-expert', '500', '--switch', 'once']);
  files.plane = segments('segments-plane', ['path-following', '--per-expert', '60', '--switch', 'once']);
  files.steady = segments('segments-steady', ['takeball', '--per-expert', '50']);
  browser = await launch();
}, {timeout: 240_000});

after(() => browser?.close());

test('the first screen tells who switches, and what was checked', async () => {
  const page = await open(browser, files.switching);
  const text = await page.locator('#overview').innerText();
  assert.match(text, /\d policies; \d+ switch(es)? in \d+ of 2,000 episodes/);
  assert.match(text, /if nobody switched −?[\d.]+, of one policy −?[\d.]+/);
  assert.match(text, /[\d.]+% of the steps right/);
  assert.match(text, /\d+ of [\d,]+ true switches found within 2 steps/);
  assert.match(text, /Idle\s+None/);
  await screenshot(page, 'segments', {fullPage: true});
  assert.deepEqual(page.complaints, []);
});

test('strips are sorted, turned, pointed at and opened', async () => {
  const page = await open(browser, files.switching);
  const strips = page.locator('#strips svg.strips'), said = page.locator('.strips-said');
  const ids = () => strips.locator('text[text-anchor=end]').allTextContents();
  assert.equal((await ids()).length, 50);
  assert.match(await page.locator('.pages').innerText(), /1–50 of 2,000 episodes/);
  await page.getByRole('button', {name: 'As in the file'}).click();
  assert.deepEqual((await ids()).slice(0, 3), ['0', '1', '2']);
  await page.getByRole('button', {name: 'Further episodes'}).click();
  assert.equal((await ids())[0], '50');
  await page.getByRole('button', {name: 'Most switches'}).click();
  const [first] = await ids();
  await strips.focus();
  assert.match(await said.innerText(), new RegExp(`^Episode ${first}, step 1 of \\d+\\. Policy \\d, steps 1 to`));
  await page.keyboard.press('ArrowRight');
  assert.match(await said.innerText(), /posterior [\d.>]+; it took over at step \d+/);
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('.player > h3').innerText(), `Episode ${first}`);
  await page.keyboard.press('ArrowDown');  // the strips keep the focus
  assert.match(await said.innerText(), new RegExp(`^Episode ${(await ids())[1]}, step 1 of`));
  await strips.hover({position: {x: 80, y: 27}});
  const [, second] = await ids();
  assert.match(await said.innerText(), new RegExp(`^Episode ${second}, step \\d+ of`));
  await strips.click({position: {x: 80, y: 27}});
  assert.equal(await page.locator('.player > h3').innerText(), `Episode ${second}`);
  assert.deepEqual(page.complaints, []);
});

test('an episode shows its evidence and who is acting', async () => {
  const page = await open(browser, files.switching);
  const now = page.locator('.player .now'), slider = page.locator('.player input[type=range]');
  assert.match(await now.innerText(), /^Step 1 of \d+\. Policy \d is acting from the first step/);
  const before = (await now.innerText()).match(/Policy \d/)[0];
  await slider.focus();
  await page.keyboard.press('End');
  const after = await now.innerText();
  assert.match(after, /Policy \d is acting, since step \d+/);
  assert.notEqual(after.match(/Policy \d/)[0], before);
  assert.ok(await page.locator('#look svg path').count() > 1);
  assert.equal(await page.locator('#look tbody tr').count(), 2);
  const svg = await download(page, '#strips .downloads button');
  assert.match(svg.bytes.toString(), /Policy 1/);
});

test('what was done is shown in the colours of who acts, with the step marked', async () => {
  const page = await open(browser, files.switching);
  const actions = page.locator('#look figure', {hasText: 'What it does'});
  const colours = await actions.locator('circle').evaluateAll((dots) =>
    new Set(dots.map((dot) => dot.getAttribute('fill'))).size);
  assert.equal(colours, 2);
  const line = actions.locator('line.cursor'), place = () => line.getAttribute('x1');
  const before = await place();
  await page.locator('.player input[type=range]').focus();
  await page.keyboard.press('End');
  assert.ok(Number(await place()) > Number(before));
  assert.equal(await page.locator('#look .pictures').isVisible(), false);
});

test('the scene shows where the agent is, in the colours of who acted', async () => {
  const page = await open(browser, files.switching);
  const scene = page.locator('#look figure', {hasText: 'Step by step'}), slider = page.locator('.player input[type=range]');
  const label = () => scene.locator('svg[role=img], svg[aria-label]').first().getAttribute('aria-label');
  assert.match(await label(), /^The map at step 1: the agent is at row \d+, column \d+$/);
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await label(), /^The map at step 2:/);
  assert.match(await page.locator('.player .now').innerText(), /It chose (left|right|up|down)/);
  await page.keyboard.press('End');
  const colours = await scene.locator('path[stroke], g[stroke]').evaluateAll((lines) =>
    new Set(lines.map((line) => line.getAttribute('stroke')).filter((one) => /^var\(--cluster|^#/.test(one))).size);
  assert.ok(colours >= 2, `${colours} colours of the way`);
  const path = await open(browser, files.plane);
  const plane = path.locator('#look figure', {hasText: 'Step by step'});
  assert.match(await plane.locator('svg').first().getAttribute('aria-label'), /^The way until step 1$/);
  await path.getByRole('button', {name: 'One step on'}).click();
  assert.match(await plane.locator('svg').first().getAttribute('aria-label'), /^The way until step 2$/);
  await screenshot(path, 'segments-plane', {fullPage: true});
  assert.deepEqual([...page.complaints, ...path.complaints], []);
});

test('where it is not clear who acts, it is said who else may', async () => {
  const page = await open(browser, files.switching);
  assert.match(await page.locator('#overview').innerText(), /Not sure\s+[\d.]+% of the steps/);
  const unsure = changed(files.switching, 'segments-unsure.html', (record) => {
    const episode = record.evidence[0].episode;  // its first step alone
    record.unsure = {episode: {type: 'same', value: episode, count: 2}, begin: encoded('u8', Uint8Array.of(0, 0)),
      end: encoded('u8', Uint8Array.of(1, 1)), policy: encoded('u8', Uint8Array.of(0, 1)),
      chance: encoded('f32', Float32Array.of(0.6, 0.4))};
    record.evidence = [record.evidence[0]];
  });
  const one = await open(browser, unsure), now = one.locator('.player .now');
  assert.match(await now.innerText(), /Not sure: at step 1 it may also be Policy [01] \((60|40)%\)/);
  await one.getByRole('button', {name: 'One step on'}).click();
  assert.doesNotMatch(await now.innerText(), /Not sure/);
  assert.deepEqual([...page.complaints, ...one.complaints], []);
});

test('where there are cameras, their pictures stand beside the steps', async () => {
  const seen = changed(files.switching, 'segments-cameras.html', (record) => {
    record.pictures = {cameras: ['front'], episodes: record.evidence.length, problem: null};
    const image = 'data:image/svg+xml;base64,' + Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="12"/>').toString('base64');
    for (const one of record.evidence) one.pictures = {steps: [0, 3], cameras: [[image, image]]};
  });
  const page = await open(browser, seen);
  assert.equal(await page.locator('#look .strip img').count(), 2);
  await page.locator('#look .picture').nth(1).click();
  assert.match(await page.locator('.player .now').innerText(), /^Step 4 of/);
  assert.deepEqual(await page.locator('.picture[aria-current]').allInnerTexts(), ['step 4']);
  assert.deepEqual(page.complaints, []);
});

test('an episode without evidence shows its segments, and says so', async () => {
  const without = changed(files.switching, 'segments-old.html', (record) => {
    record.evidence = [];
    record.unsure = undefined;
  });
  const page = await open(browser, without);
  assert.match(await page.locator('.missing').innerText(), /no evidence of single steps/);
  assert.match(await page.locator('.player .now').innerText(), /Policy \d is acting\.$/);
  assert.equal(await page.locator('#look figure').filter({visible: true}).count(), 0);
  await page.locator('#strips svg.strips').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#look tbody tr').count(), 2);
  assert.deepEqual(page.complaints, []);
});

test('who follows whom is counted, where anybody does', async () => {
  const page = await open(browser, files.switching);
  assert.match(await page.locator('#followers').innerText(), /taken over by/);
  const steady = await open(browser, files.steady);
  assert.equal(await steady.locator('#followers').count(), 0);
  assert.match(await steady.locator('h1').innerText(),
      /nobody switches within an episode|One policy acted throughout/);
  assert.match(await steady.locator('#overview').innerText(), /Nobody truly switches; none was found/);
  assert.deepEqual(steady.complaints, []);
});

test('100,000 episodes open within 3 seconds', async () => {
  const many = withMany(files.switching, 'segments-many.html', 100_000);
  const tries = [];  // what else the machine does can only make it slower
  while (tries.length < 3 && !(Math.min(...tries) < 3)) {
    const page = await open(browser, many);
    tries.push(page.seconds);
    assert.match(await page.locator('.pages').innerText(), /1–50 of 100,000 episodes/);
    await page.getByRole('button', {name: 'Least sure'}).click();
    assert.deepEqual(page.complaints, []);
  }
  console.log(`100,000 strips opened in ${tries.join(', ')} s`);
  assert.ok(Math.min(...tries) < 3, `${tries} s`);
});

test('it fits a phone', async () => {
  const page = await open(browser, files.switching, {viewport: {width: 390, height: 800}});
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  await screenshot(page, 'segments-narrow', {fullPage: true});
});
