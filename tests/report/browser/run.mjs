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
const {status} = spawnSync(
    process.execPath, ['--test', fileURLToPath(new URL('report.test.mjs', import.meta.url))], {
      stdio: 'inherit',
      env: {...process.env, KINDRED_PROGRAM: program, KINDRED_ARTEFACTS: artefacts,
            KINDRED_BROWSER: browser},
    });
process.exit(status ?? 1);
