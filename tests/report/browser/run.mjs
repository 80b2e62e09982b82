// Runs the browser tests, or says loudly why it cannot. Exit code 77: not run.
//
//   node run.mjs PROGRAM FOLDER-FOR-ARTEFACTS
import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const [program, artefacts] = process.argv.slice(2);
const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
    .find(existsSync);
if (!browser) {
  console.log('*** NOT TESTED: there is no browser here; scripts/setup test installs chromium');
  process.exit(77);
}
const env = {...process.env, KINDRED_PROGRAM: program, KINDRED_ARTEFACTS: artefacts,
  KINDRED_BROWSER: browser};
// One after the other: some of them look at the clock.
const names = ['report.test.mjs', 'trust.test.mjs', 'cameras.test.mjs', 'segments.test.mjs'];
const failed = names.filter((name) => spawnSync(
    process.execPath, ['--test', fileURLToPath(new URL(name, import.meta.url))],
    {stdio: 'inherit', env}).status !== 0);
process.exit(failed.length ? 1 : 0);
