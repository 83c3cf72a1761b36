/** Tests what the bundle of this repository costs an idle gateway. */

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { build } from './reveille-process.ts'

test('the bundle is ASCII, because for any other character Node keeps two bytes of each', async () => {
  const folder = path.dirname(await build())
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.js'))) {
    const text = await readFile(path.join(folder, name), 'utf8')
    const found = text.match(/.{0,40}[^\0-\x7f].{0,40}/)?.[0]
    assert.equal(found, undefined, `${name}: write it as \\u in regular expressions and tagged templates`)
  }
})
