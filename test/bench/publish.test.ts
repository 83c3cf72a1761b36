import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { page, publishedReport } from './publish.ts'
import { type Report, renderSummary } from './report.ts'

test('the page of figures matches the published report', () => {
  const report = JSON.parse(readFileSync(publishedReport, 'utf8')) as Report
  assert.equal(
    readFileSync(page, 'utf8'),
    renderSummary(report),
    'run npm run bench -- --publish test/bench/report.json',
  )
})
