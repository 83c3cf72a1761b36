import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'

interface Report {
  readonly tests: readonly string[]
  readonly failed: readonly string[]
}

const runs = new Map<string, Promise<ReadonlyMap<string, Report>>>()

/** The results of a file of suites, by the name of the suite. Each file is run once. */
function run(file: string): Promise<ReadonlyMap<string, Report>> {
  const running = runs.get(file) ?? start(file)
  runs.set(file, running)
  return running
}

async function start(file: string): Promise<ReadonlyMap<string, Report>> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const reporter = new URL('./broken/reporter.ts', import.meta.url).href
  // The process is forced to exit, because one of the broken plugins leaves a server open.
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

for (const kind of ['runner', 'channel', 'source']) {
  test(`the ${kind} suite passes a good ${kind}, and each of its tests fails one that breaks its promise`, async () => {
    const { tests, broken } = await runBroken(kind)
    assert.deepEqual([...broken.keys()].sort(), [...tests].sort(), 'one broken for each test')
    for (const [name, { failed }] of broken) assert.ok(failed.includes(name), `noticed: ${name}`)
  })
}

test('the vendor suite passes a good channel, and each of its own tests fails one that breaks its promise, which no other of its file does', async () => {
  const { tests, broken } = await runBroken('vendor')
  const { tests: ofChannels } = await runBroken('channel')
  const own = tests.filter((name) => !ofChannels.includes(name))
  assert.deepEqual([...broken.keys()].sort(), own.sort(), 'one broken for each test')
  for (const [name, { failed }] of broken) assert.deepEqual(failed, [name])
})

/** Returns the results of the broken plugins, once the good ones have passed. */
async function runBroken(kind: string) {
  const broken = new Map(await run(`broken/${kind}s.ts`))
  const tests = broken.get(`a good ${kind}`)?.tests
  assert.ok(tests)
  for (const [name, { failed }] of broken) {
    if (!name.startsWith(`a good ${kind}`)) continue
    assert.deepEqual(failed, [], name)
    broken.delete(name)
  }
  return { tests, broken }
}
