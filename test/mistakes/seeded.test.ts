/** Tests that no seeded mistake passes in silence: each is refused, or warned of. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { type SeededMistake, settings, silent } from './settings.ts'

for (const mistake of settings) {
  test(`this mistake is reported: ${mistake.name}`, async (t) => {
    const text = await check(t, mistake)
    assert.ok(text.includes(`[${mistake.code}]`), `${mistake.code} in ${text}`)
  })
}

for (const mistake of silent) {
  test(`this is accepted: ${mistake.name}, because ${mistake.why}`, async (t) => {
    assert.match(await check(t, mistake), /^reveille\.yaml is good: \d mappings?\.\n$/)
  })
}

async function check(t: TestContext, { whole, bytes, files = {}, env = {} }: Omit<SeededMistake, 'code'>) {
  const { run, cwd } = await createCommandLine(t, { 'reveille.yaml': whole, ...files }, { env })
  if (bytes !== undefined) await writeFile(join(cwd, 'reveille.yaml'), bytes)
  const { err, out } = await run('check')
  return err + out
}
