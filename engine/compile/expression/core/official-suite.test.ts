import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { compareWithLibrary } from './agreement-fixture.ts'

const project = fileURLToPath(new URL('../../../..', import.meta.url))
const folder = join(resolve(project, process.env['REVEILLE_TEST_DATA'] ?? '../shared'), 'jsonata-suite')
const skip = existsSync(folder) ? false : 'the official suite is absent'

interface Case {
  readonly expr?: string
  readonly data?: unknown
  readonly dataset?: string | null
  readonly bindings?: Readonly<Record<string, unknown>>
}

test('compiled expressions of the official suite give the same results as the library', {
  skip,
}, async () => {
  let compiled = 0
  for (const file of globSync('groups/*/*.json', { cwd: folder })) {
    const content: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    for (const each of [content].flat() as readonly Case[]) {
      if (each.expr === undefined) continue
      const outcomes = await compareWithLibrary(each.expr, [dataOf(each)], each.bindings)
      compiled += outcomes.length
    }
  }
  assert.ok(compiled > 500, `${compiled} were compiled`)
})

function dataOf({ data, dataset }: Case): unknown {
  if (typeof dataset !== 'string') return data
  return JSON.parse(readFileSync(join(folder, 'datasets', `${dataset}.json`), 'utf8'))
}
