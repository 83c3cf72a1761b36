import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Diagnostic, ReloadEvent } from '@reveille/engine'
import type { Log } from './log.ts'
import { createReloadReporter } from './reloads.ts'

const noChanges = {
  mappings: { added: [], changed: [], removed: [] },
  transforms: { added: [], changed: [], removed: [] },
  presets: { added: [], removed: [] },
  settings: [],
  restart: [],
} as unknown as Extract<ReloadEvent, { type: 'snapshot-swapped' }>['changes']

const bad: Diagnostic = { severity: 'error', code: 'BAD', message: 'bad' }

const good = { ok: true, generation: 2, tookMs: 1, changes: noChanges, diagnostics: [] } as const
const refused = (digest: string, diagnostics = [bad]): ReloadEvent => ({
  ...good,
  type: 'candidate-rejected',
  outcome: 'rejected',
  digest,
  diagnostics,
})
const unchanged: ReloadEvent = { ...good, type: 'content-unchanged', outcome: 'unchanged' }
const swapped: ReloadEvent = { ...good, type: 'snapshot-swapped', outcome: 'live', mappings: 1 }

/** The events of the lines above `debug`. */
function logged(...events: ReloadEvent[]): string[] {
  const lines: string[] = []
  const add = (facts: { event: string; isAgain?: boolean }) =>
    lines.push(facts.isAgain ? `${facts.event} again` : facts.event)
  const log = { info: add, warn: add, error: add, debug: () => {} } as unknown as Log
  events.forEach(createReloadReporter(log, '/etc/reveille'))
  return lines
}

test('a repeated refusal for the same reasons is logged in one line', () => {
  assert.deepEqual(logged(refused('a'), refused('a')), [
    'candidate-rejected',
    'diagnostic',
    'candidate-rejected again',
  ])
  const other = [{ ...bad, message: 'worse' }]
  for (const next of [refused('b'), refused('a', other)])
    assert.deepEqual(logged(refused('a'), next).slice(2), ['candidate-rejected', 'diagnostic'])
  assert.deepEqual(logged(refused('a'), swapped, refused('a')).slice(2), [
    'snapshot-swapped',
    'candidate-rejected',
    'diagnostic',
  ])
})

test('files that return to the live content after a refusal are logged once', () => {
  assert.deepEqual(logged(unchanged), [])
  assert.deepEqual(logged(refused('a'), unchanged, unchanged).slice(2), ['files-fixed'])
  assert.deepEqual(logged(refused('a'), swapped, unchanged).slice(2), ['snapshot-swapped'])
})

test('the first hundred of very many diagnostics are logged, and the number of the others', () => {
  const lines: string[] = []
  const write = (_facts: object, text = '') => void lines.push(text)
  const log = { info: write, warn: write, error: write, debug: write } as unknown as Log
  createReloadReporter(
    log,
    '/etc/reveille',
  )(
    refused(
      'a',
      Array.from({ length: 5000 }, () => bad),
    ),
  )
  assert.equal(lines.length, 1 + 100 + 1)
  assert.match(String(lines.at(-1)), /There are 4900 more \[MORE_DIAGNOSTICS\]/)
})
