import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'

interface Report {
  readonly tests: readonly string[]
  readonly failed: readonly string[]
}

/** What a file of suites says, by the name of the suite. */
async function run(file: string): Promise<Map<string, Report>> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const reporter = new URL('./broken/reporter.ts', import.meta.url).href
  // Forced to exit, because one of the broken ones leaves a server open.
  const args = ['--test', '--test-force-exit', '--test-isolation=none', `--test-reporter=${reporter}`, file]
  const { promise, resolve } = Promise.withResolvers<string>()
  execFile(process.execPath, args, { env, cwd: import.meta.dirname }, (_error, stdout) => resolve(stdout))
  const reports = new Map<string, Report>()
  let tests: string[] = []
  let failed: string[] = []
  for (const line of (await promise).trim().split('\n')) {
    const [depth, name, passed] = JSON.parse(line) as [number, string, boolean]
    if (depth === 0) {
      reports.set(name, { tests, failed })
      tests = []
      failed = []
      continue
    }
    tests.push(name)
    if (!passed) failed.push(name)
  }
  return reports
}

for (const kind of ['runner', 'channel']) {
  test(`the ${kind} suite passes a good ${kind}, and each of its tests fails one that breaks its promise`, async () => {
    const reports = await run(`broken/${kind}s.ts`)
    const good = reports.get(`a good ${kind}`)
    assert.ok(good)
    for (const [name, { failed }] of reports) {
      if (!name.startsWith(`a good ${kind}`)) continue
      assert.deepEqual(failed, [], name)
      reports.delete(name)
    }
    assert.deepEqual([...reports.keys()].sort(), [...good.tests].sort(), 'one broken for each test')
    for (const [name, { failed }] of reports) assert.ok(failed.includes(name), `noticed: ${name}`)
  })
}
