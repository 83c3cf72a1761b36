import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SourceReport } from '@reveille/kit'
import { createStatus } from './status.ts'

function createReported() {
  const reports: SourceReport[] = []
  const status = createStatus((report) => void reports.push(report))
  return { status, reports, lastReport: () => `${reports.at(-1)?.state}: ${reports.at(-1)?.detail}` }
}

test('a problem that a person has to fix is reported before temporary ones, each until it is over', () => {
  const { status, lastReport } = createReported()
  const google = status.problem()
  const label = status.problem()
  status.begin('All is well.')
  google.set('failing', 'Google is down.')
  assert.equal(lastReport(), 'failing: Google is down.')
  label.set('waiting', 'Make a label.')
  google.set('failing', 'Google is still down.')
  label.set('waiting', 'Make a label.')
  assert.equal(lastReport(), 'waiting: Make a label.')
  label.clear()
  assert.equal(lastReport(), 'failing: Google is still down.')
  google.clear()
  assert.equal(lastReport(), 'working: All is well.')
})

test('a released problem is not reported as over, and nothing is reported before the first problem or success', () => {
  const { status, reports, lastReport } = createReported()
  status.count('refused', 2)
  status.time('readAt', 7)
  assert.equal(reports.length, 0)
  const problem = status.problem()
  problem.set('failing', 'Google is down.')
  problem.release()
  assert.equal(reports.length, 1)
  status.begin('All is well.')
  assert.equal(lastReport(), 'working: All is well.')
  assert.deepEqual(reports.at(-1)?.counts, { refused: 2 })
  assert.deepEqual(reports.at(-1)?.times, { readAt: 7 })
})
