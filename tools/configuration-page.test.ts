import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { renderConfigurationPage, rowsOf } from './configuration-page.ts'

const root = path.join(import.meta.dirname, '..')

test('a row has the key, its type, its default, what it does and the release that brought it', () => {
  const schema = {
    required: ['url', 'retries'],
    properties: {
      url: { type: 'string', description: 'Where it is.' },
      retries: {
        type: 'integer',
        minimum: 0,
        maximum: 9,
        default: 3,
        description: 'How often.',
        since: '0.2.0',
      },
      steps: { type: 'array', items: { type: 'object', properties: { a: { enum: ['x', 'y'] } } } },
    },
  } as const
  assert.deepEqual(rowsOf(schema, 'test.'), [
    '| `test.url` | text | required | Where it is. | 0.1.0 |',
    '| `test.retries` | integer from 0 to 9 | `3` | How often. | 0.2.0 |',
    '| `test.steps` | list of maps |  |  | 0.1.0 |',
    '| `test.steps[].a` | `x`, `y` |  |  | 0.1.0 |',
  ])
})

test('every key on the page has a description or a type, and came with a release of the change log', () => {
  const releases = new Set(
    readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').match(/^## (\d+\.\d+\.\d+)/gm),
  )
  const rows = renderConfigurationPage(root)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  assert.ok(rows.length > 300, String(rows.length))
  const cells = rows.map((line) => line.replaceAll('\\|', '/').split(' | '))
  assert.deepEqual(
    cells.filter((row) => row.length !== 5),
    [],
  )
  const unknown = cells.filter((row) => !releases.has(`## ${row[4]?.replace(' |', '')}`))
  assert.deepEqual(unknown, [], 'A key is marked with a release that CHANGELOG.md does not have.')
})
