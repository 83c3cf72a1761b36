/** The published report, and the page that is written from it. */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BenchError } from './bench-error.ts'
import { type Report, renderSummary } from './report.ts'

export const publishedReport = fileURLToPath(new URL('./report.json', import.meta.url))
export const page = fileURLToPath(new URL('../../docs/benchmark.md', import.meta.url))

/** Makes a report the one that is quoted. */
export function publish(file: string): void {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new BenchError(`${file} cannot be read. \`npm run bench\` writes it.`, { cause })
  }
  writeFileSync(publishedReport, text)
  writeFileSync(page, renderSummary(JSON.parse(text) as Report))
}
