import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { schemaFiles } from './schemas.ts'

for (const [name, text] of Object.entries(await schemaFiles())) {
  test(`${name} is what \`npm run schemas\` writes`, async () => {
    const shipped = await readFile(path.join(import.meta.dirname, '..', name), 'utf8')
    assert.ok(shipped === text, 'The schemas of the engine have changed: npm run schemas')
  })
}
