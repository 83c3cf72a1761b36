import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFacts } from './facts.ts'

test('a value with parts is indented below its label, times are readable, and nothing empty is shown', () => {
  const at = Date.UTC(2026, 0, 1)
  const text = formatFacts({
    id: 'a1',
    createdAt: at,
    reply: 'one\ntwo',
    timings: { read: 0.26 },
    attempts: [
      { number: 1, startedAt: at, outcome: 'interrupted' },
      { number: 2, outcome: 'succeeded' },
    ],
    eventIds: ['b2'],
    deliveries: [],
    error: undefined,
    summary: null,
    usage: {},
    progress: { text: undefined },
  })
  assert.equal(
    text,
    [
      'id         a1',
      'createdAt  2026-01-01T00:00:00.000Z',
      'reply',
      '  one',
      '  two',
      'timings',
      '  read  0.26 ms',
      'attempts',
      '  - number     1',
      '    startedAt  2026-01-01T00:00:00.000Z',
      '    outcome    interrupted',
      '  - number   2',
      '    outcome  succeeded',
      'eventIds   b2',
      '',
    ].join('\n'),
  )
})

test('a text inside a list cannot control the terminal either', () => {
  assert.equal(formatFacts({ list: [{ name: 'a\u001b[2Jb' }] }), 'list\n  - name  a [2Jb\n')
})
