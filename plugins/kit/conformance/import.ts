/** Proves that importing a plugin's module has no effect, by importing it alone in a process. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The script of the child, which prints its findings as one line of JSON and then has to end by itself. */
const probe = `
const { log } = console
const look = () => ({
  resources: process.getActiveResourcesInfo().sort(),
  listeners: process.eventNames().map(String).sort(),
  globals: Reflect.ownKeys(globalThis).map(String).sort(),
  environment: { ...process.env },
})
const before = look()
const touched = []
globalThis.fetch = () => { touched.push('fetch'); throw new Error('no fetch on import') }
const { default: plugin } = await import(process.argv[1])
const after = look()
for (const key of Object.keys(before)) {
  if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) touched.push(key)
}
log(JSON.stringify({ name: typeof plugin?.name, setup: typeof plugin?.setup, touched }))
`

/** The milliseconds that an import may take. */
const timeout = 10_000

/** The effects of importing, by module, so that the suites of one plugin import it once. */
const findings = new Map<string, Promise<{ stdout: string; stderr: string }>>()

function importAlone({ href }: URL): Promise<{ stdout: string; stderr: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = ['--input-type=module', '--eval', probe, href]
  const found = findings.get(href) ?? promisify(execFile)(process.execPath, args, { timeout, env })
  findings.set(href, found)
  return found
}

export async function assertInertPlugin(plugin: URL): Promise<void> {
  const { stdout, stderr } = await importAlone(plugin)
  assert.equal(stderr, '', 'the import says nothing')
  assert.deepEqual(
    JSON.parse(stdout),
    { name: 'string', setup: 'function', touched: [] },
    'the module exports a plugin by default and touches nothing on import',
  )
}
