import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { pagesOf, publishedReport } from './publish.ts'
import type { Report } from './report.ts'

test('the README and the page of figures say what the published report holds', () => {
  const report = JSON.parse(readFileSync(publishedReport, 'utf8')) as Report
  for (const [file, content] of pagesOf(report))
    assert.equal(
      readFileSync(file, 'utf8'),
      content,
      `${file}: run npm run bench -- --publish test/bench/report.json`,
    )
})
