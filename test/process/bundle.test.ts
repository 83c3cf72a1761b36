/** Tests what the bundle of this repository costs an idle gateway. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { build } from './reveille-process.ts'

test('the bundle is ASCII, because for any other character Node keeps two bytes of each', async () => {
  const text = await readFile(await build(), 'utf8')
  const found = text.split('\n').filter((line) => /[^\0-\x7f]/.test(line))
  assert.deepEqual(found, [], 'write it as \\u in regular expressions and tagged templates')
})
