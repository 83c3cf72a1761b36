import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createBuilder } from './builder.ts'
import type { BuildRequest } from './module-build.ts'

async function createRequest(t: TestContext): Promise<BuildRequest> {
  const root = await mkdtemp(path.join(tmpdir(), 'reveille-builder-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const folder = path.join(root, 'data')
  await mkdir(folder)
  const entry = path.join(root, 'a.ts')
  await writeFile(entry, 'export default () => 1')
  return { module: 'a.ts', entry, exports: ['default'], root, shownFrom: root, folder, startedAt: Date.now() }
}

/** The child processes of this one; only Linux lists them. */
async function children(): Promise<readonly number[]> {
  const tasks = await readdir('/proc/self/task')
  const lists = tasks.map((task) => readFile(`/proc/self/task/${task}/children`, 'utf8').catch(() => ''))
  return (await Promise.all(lists)).flatMap((list) => list.trim().split(/\s+/).filter(Boolean).map(Number))
}

const seesChildren = { skip: process.platform !== 'linux' }

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(30_000)
  while (!(await holds())) {
    deadline.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test("modules are built in turn, and closing ends the bundler's process", seesChildren, async (t) => {
  const request = await createRequest(t)
  const builder = createBuilder({ idleMs: 60_000 })
  const results = await Promise.all([1, 2, 3].map(() => builder.build(request)))
  assert.deepEqual(
    results.map(({ ok }) => ok),
    [true, true, true],
  )
  assert.equal((await children()).length, 1)
  await builder.close()
  await until(async () => (await children()).length === 0)
  await assert.rejects(builder.build(request), /closed/)
})

test('an idle builder ends its process, and starts another for the next module', seesChildren, async (t) => {
  const request = await createRequest(t)
  const builder = createBuilder({ idleMs: 1 })
  t.after(() => builder.close())
  assert.ok((await builder.build(request)).ok)
  await until(async () => (await children()).length === 0)
  assert.ok((await builder.build(request)).ok)
})

test("a build succeeds although the bundler's process is killed", seesChildren, async (t) => {
  const request = await createRequest(t)
  const builder = createBuilder({ idleMs: 60_000 })
  t.after(() => builder.close())
  await builder.build(request)
  for (const child of await children()) process.kill(child, 'SIGKILL')
  assert.ok((await builder.build(request)).ok)
})

test('closing rejects the builds under way', async (t) => {
  const request = await createRequest(t)
  const builder = createBuilder({ idleMs: 60_000 })
  const answer = builder.build(request).then(
    () => 'built',
    (error) => error.message,
  )
  await builder.close()
  assert.match(await answer, /^(?:built|the bundling thread ended)$/)
})

test("a folder that cannot be written is not the author's fault", async (t) => {
  const request = await createRequest(t)
  const builder = createBuilder({ idleMs: 60_000 })
  t.after(() => builder.close())
  await assert.rejects(builder.build({ ...request, folder: path.join(request.entry, 'below a file') }))
})
