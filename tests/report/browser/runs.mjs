// Pages of real runs, made by the program, and pages whose record was changed afterwards.
import {execFileSync} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {artefacts} from './browser.mjs';

export const at = (name) => join(artefacts, name);
export const kindred = (...args) =>
  execFileSync(process.env.KINDRED_PROGRAM, args, {stdio: ['ignore', 'pipe', 'pipe']});

/// Generates, clusters and reports; returns the page's file.
export function report(name, generate, cluster) {
  rmSync(at(`${name}.h5`), {force: true});
  kindred('generate', ...generate, '--seed', '1', '-o', at(`${name}.h5`));
  return reportOn(name, at(`${name}.h5`), cluster);
}

/// The same of data that is there.
export function reportOn(name, data, cluster) {
  rmSync(at(`${name}-run`), {recursive: true, force: true});
  // What pages say of an answer is tested on answers of a method that stays as it is.
  const method = cluster.includes('--method') ? [] : ['--method', 'pg-kmeans'];
  kindred('cluster', data, ...method, ...cluster, '--seed', '1', '-o', at(`${name}-run`));
  kindred('report', at(`${name}-run`), '-o', at(`${name}.html`));
  return at(`${name}.html`);
}

/// The page with another record: `change` gets it and may alter it.
export function changed(file, name, change) {
  const html = readFileSync(file, 'utf8');
  const [, json] = html.match(/<script[^>]*id="record"[^>]*>([^]*?)<\/script>/);
  const record = JSON.parse(json);
  change(record);
  writeFileSync(at(name), html.replace(json, () => JSON.stringify(record).replaceAll('<', '\\u003c')));
  return at(name);
}
