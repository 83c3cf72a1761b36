import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { keysBelow, renderConfigurationPage } from './configuration-page.ts'

const root = path.join(import.meta.dirname, '..')

test('a row has the key, its type, its default, and what it does; a map is its keys', () => {
  const schema = {
    required: ['url', 'retries'],
    properties: {
      url: { type: 'string', description: 'Where it is.' },
      retries: { type: 'integer', minimum: 0, maximum: 9, default: 3, description: 'How often.' },
      steps: { type: 'array', items: { type: 'object', properties: { a: { enum: ['x', 'y'] } } } },
    },
  } as const
  assert.deepEqual(keysBelow(schema, 'test'), [
    '- `test.url` (string, required): Where it is.',
    '- `test.retries` (integer 0–9, default `3`): How often.',
    '- `test.steps[].a` (`x`, `y`)',
  ])
})

test('every key on the page has a type', () => {
  const rows = renderConfigurationPage(root)
    .split('\n')
    .filter((line) => line.startsWith('- `'))
  assert.ok(rows.length > 300, String(rows.length))
  assert.deepEqual(
    rows.filter((line) => !/^- `[^`]+` \([^)]+/.test(line)),
    [],
  )
})
