// Files the page makes for the reader.
import {h} from './dom';

export function save(content: Blob, file: string): void {
  const link = h('a', {href: URL.createObjectURL(content), download: file});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveText(text: string, file: string, type = 'text/plain'): void {
  save(new Blob([text], {type: `${type};charset=utf-8`}), file);
}

/// Rows of cells as CSV, with quotes where they are needed.
export function csv(rows: Iterable<(string | number)[]>): string {
  const lines: string[] = [];
  for (const row of rows) lines.push(row.map(cell).join(','));
  return lines.join('\n') + '\n';
}

function cell(value: string | number): string {
  const text = String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
