// What cameras saw of an episode, beside its steps.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {launch, open, screenshot} from './browser.mjs';
import {changed, report} from './runs.mjs';

const files = {};
let browser;

/// A picture of one colour, as the page would get one.
const picture = (colour) => 'data:image/svg+xml;base64,' + Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="160" height="120"><rect width="160" height="120" fill="${colour}"/></svg>`)
    .toString('base64');

/// Two cameras at every fifth of the first `count` trajectories of the lists.
function withPictures(name, count, cameras = ['front', 'wrist']) {
  return changed(files.plain, name, (record) => {
    record.pictures = {cameras, episodes: count, problem: null};
    const listed = record.notable.flatMap((list) => list.episodes);
    const first = [...new Set(listed)].slice(0, count);
    for (const one of record.trajectories) {
      if (!first.includes(one.episode)) continue;
      const steps = [...new Set([0, 1, 2, 3, 4].map((i) => Math.round(i * (one.steps - 1) / 4)))];
      one.pictures = {steps, cameras: cameras.map((_, c) => steps.map((_, i) =>
        c === 1 && i === 1 ? null : picture(`hsl(${60 * i + 180 * c} 60% 50%)`)))};
    }
  });
}

before(async () => {
  files.plain = report('cameras', ['diagonal', '--per-expert', '20'], ['-k', '5']);
  browser = await launch();
}, {timeout: 240_000});

after(() => browser?.close());

test('a page without pictures has no place for them', async () => {
  const page = await open(browser, files.plain);
  assert.equal(await page.locator('.pictures').isVisible(), false);
  assert.equal(await page.locator('.picture').count(), 0);
  const old = changed(files.plain, 'cameras-old.html', (record) => { delete record.pictures; });
  assert.equal(await (await open(browser, old)).locator('.pictures').isVisible(), false);
});

test('pictures say what they show, and the nearest to the step stands out', async () => {
  const page = await open(browser, withPictures('cameras-some.html', 4));
  const strip = page.locator('.strip'), now = () => page.locator('.player .now').innerText();
  const id = (await page.locator('.player > h3').innerText()).replace('Episode ', '');
  const images = strip.locator('img');
  assert.equal(await images.count(), 5);
  const steps = Number((await now()).match(/of (\d+)\./)[1]);
  assert.equal(await images.first().getAttribute('alt'), `episode ${id}, step 1 of ${steps}, camera front`);
  assert.equal(await images.last().getAttribute('alt'), `episode ${id}, step ${steps} of ${steps}, camera front`);
  assert.ok(await images.evaluateAll((all) => all.every((image) => image.complete && image.naturalWidth === 160)));
  const marked = () => strip.locator('.picture[aria-current]').allInnerTexts();
  assert.deepEqual(await marked(), ['step 1']);
  await page.locator('.player input[type=range]').focus();
  await page.keyboard.press('End');
  assert.deepEqual(await marked(), [`step ${steps}`]);
  await strip.locator('button').nth(2).click();
  const middle = Math.round((steps - 1) / 2) + 1;
  assert.match(await now(), new RegExp(`^Step ${middle} of`));
  assert.deepEqual(await marked(), [`step ${middle}`]);
  await page.locator('#look').scrollIntoViewIfNeeded();
  await screenshot(page, 'cameras');
  assert.deepEqual(page.complaints, []);
});

test('one of several cameras is chosen', async () => {
  const page = await open(browser, withPictures('cameras-two.html', 4));
  await page.getByRole('group', {name: 'Camera'}).getByRole('button', {name: 'wrist'}).click();
  assert.match(await page.locator('.strip img').first().getAttribute('alt'), /camera wrist$/);
  assert.equal(await page.locator('.strip img').count(), 4);
  assert.match(await page.locator('.strip .picture').nth(1).innerText(), /no picture/);
  const single = await open(browser, withPictures('cameras-one.html', 4, ['front']));
  assert.equal(await single.getByRole('group', {name: 'Camera'}).count(), 0);
});

test('the page says which trajectories have pictures', async () => {
  const page = await open(browser, withPictures('cameras-few.html', 1));
  const note = page.locator('.pictures .note');
  assert.equal(await note.innerText(), 'Pictures of 1 of 100 trajectories are kept in this page.');
  await page.locator('.episodes button').nth(1).click();
  assert.equal(await note.innerText(),
               'Pictures of 1 of 100 trajectories are kept in this page, not of this one.');
  assert.equal(await page.locator('.strip').isVisible(), false);
  const none = changed(files.plain, 'cameras-none.html', (record) => {
    record.pictures = {cameras: ['front'], episodes: 0, problem: 'install ffmpeg to see them'};
  });
  assert.equal(await (await open(browser, none)).locator('.pictures').innerText(),
               'No pictures: install ffmpeg to see them.');
});

test('pictures fit a phone and paper', async () => {
  const page = await open(browser, withPictures('cameras-narrow.html', 4), {viewport: {width: 390, height: 800}});
  const {width, right} = await page.locator('.strip').evaluate((strip) => {
    const last = strip.lastElementChild.getBoundingClientRect();
    return {width: document.documentElement.scrollWidth, right: last.right};
  });
  assert.ok(width <= 390 && right <= 390, `${width} ${right}`);
  await page.emulateMedia({media: 'print'});
  assert.equal(await page.locator('.strip img').first().isVisible(), true);
});
