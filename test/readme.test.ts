import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { renderErrorTable } from '../runtime/http/errors.ts'

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')

test('the README lists exactly the error codes of the table of errors', () => {
  const documented = rowsOf(section('error-codes'))
  const actual = rowsOf(renderErrorTable())
  assert.deepEqual(
    actual.filter((row) => !documented.includes(row)),
    [],
    'the README lacks these rows',
  )
  assert.deepEqual(
    documented.filter((row) => !actual.includes(row)),
    [],
    'the README has these rows, the table of errors does not',
  )
  assert.equal(new Set(documented).size, documented.length, 'the README has a row twice')
})

/** Returns the text between `<!-- NAME:start -->` and `<!-- NAME:end -->`. */
function section(name: string): string {
  const found = readme.split(`<!-- ${name}:start -->`)[1]?.split(`<!-- ${name}:end -->`)
  assert.ok(found?.length === 2, `README.md has no section ${name}`)
  return found[0] ?? ''
}

function rowsOf(table: string): string[] {
  return table.split('\n').filter((line) => line.startsWith('| `'))
}
