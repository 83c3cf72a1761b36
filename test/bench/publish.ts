/** Where the report that is quoted lies, and the pages that are written from it. */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BenchError } from './bench-error.ts'
import { type Report, renderPage, renderTable } from './report.ts'

export const publishedReport = fileURLToPath(new URL('./report.json', import.meta.url))
const page = fileURLToPath(new URL('../../docs/benchmark.md', import.meta.url))
const readme = fileURLToPath(new URL('../../README.md', import.meta.url))

const markers = /(?<=<!-- benchmark:start -->\n)[\s\S]*(?=<!-- benchmark:end -->)/

/** Makes a report the one that is quoted. */
export function publish(file: string): void {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new BenchError(`${file} cannot be read. \`npm run bench\` writes it.`, { cause })
  }
  writeFileSync(publishedReport, text)
  for (const [name, content] of pagesOf(JSON.parse(text) as Report)) writeFileSync(name, content)
}

/** Returns what the pages must hold, by file. */
export function pagesOf(report: Report): ReadonlyMap<string, string> {
  const table = `${renderTable(report)}\n`
  return new Map([
    [page, renderPage(report)],
    [readme, readFileSync(readme, 'utf8').replace(markers, () => table)],
  ])
}
