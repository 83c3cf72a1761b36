/** Tests that no seeded mistake passes in silence: each is refused, or warned of. The recording has the exact texts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { settings } from './settings.ts'

for (const { name, files, code, why } of settings) {
  test(why ? `this is accepted: ${name}, because ${why}` : `this mistake is reported: ${name}`, async (t) => {
    // Bytes that are no UTF-8 are written as they are.
    const { run } = await createCommandLine(t, files as Readonly<Record<string, string>>)
    const { err, out } = await run('check')
    if (code === 'ok') assert.match(err + out, /^reveille\.yaml is good: \d mappings?\.\n$/)
    else assert.ok((err + out).includes(`[${code}]`), `${code} in ${err}${out}`)
  })
}
