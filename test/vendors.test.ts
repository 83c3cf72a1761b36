/** Tests that the engine and the runtime name no vendor that is a package of its own, but in the places that have to. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')

/** The seed's spelling of the mailbox, and the names that need no `plugins:` entry. */
const allowed = ['engine/config/values/mailbox.ts', 'runtime/plugin/configuration/directory.ts']
/** The table of signatures, which names every sender. */
const signatures = /^engine\/(providers|verify)\//

/** Returns the product files of engine and runtime that name Gmail or Stripe, signatures aside. */
async function filesWithVendors(folder: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const house of ['engine', 'runtime']) {
    const names = await readdir(join(folder, house), { recursive: true })
    for (const name of names.map((each) => `${house}/${each.replaceAll('\\', '/')}`)) {
      if (!name.endsWith('.ts') || /test|soak|node_modules/.test(name) || signatures.test(name)) continue
      if (/gmail|stripe/i.test(await readFile(join(folder, name), 'utf8'))) found.push(name)
    }
  }
  return found.sort()
}

test('two files of engine and runtime name Gmail or Stripe, signatures aside', async () => {
  assert.deepEqual(await filesWithVendors(root), allowed)
})

test('a file that names a vendor is found, in code and in comments', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-vendors-'))
  t.after(() => rm(folder, { recursive: true }))
  const planted = {
    'engine/compile/mail.ts': "if (source === 'gmail') warn()\n",
    'runtime/cli/pay.ts': '/** Has Stripe send an event. */\n',
    'runtime/cli/pay.test.ts': "run('connect', 'stripe')\n",
    'engine/providers/business.ts': "export const name = 'stripe'\n",
    'runtime/gateway.ts': 'export {}\n',
  }
  for (const [name, text] of Object.entries(planted)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  assert.deepEqual(await filesWithVendors(folder), ['engine/compile/mail.ts', 'runtime/cli/pay.ts'])
})
