/** Tests the thread that bundles, and esbuild's process. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createBundler } from './bundler.ts'

async function createFolder(t: TestContext, { idleMs = 60_000, data = 'data' } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-bundler-'))
  const bundles = path.join(folder, data)
  const bundler = createBundler({ folder: bundles, idleMs })
  t.after(async () => {
    await bundler.close()
    await rm(folder, { recursive: true, force: true })
  })
  await mkdir(path.join(folder, 'transforms'))
  const write = (text: string) => writeFile(path.join(folder, 'transforms/a.ts'), text)
  await write('export default () => 1')
  const place = { file: path.join(folder, 'reveille.yaml'), line: 7, column: 20, text: '' }
  const modules = [{ module: 'a.ts', place }]
  const bundle = () => bundler.bundle({ modules, transformsDir: path.join(folder, 'transforms'), folder })
  return { bundler, bundles, bundle, write }
}

/** The child processes of this one; only Linux lists them. */
async function children(): Promise<readonly number[]> {
  const tasks = await readdir('/proc/self/task')
  const lists = tasks.map((task) => readFile(`/proc/self/task/${task}/children`, 'utf8').catch(() => ''))
  return (await Promise.all(lists)).flatMap((list) => list.trim().split(/\s+/).filter(Boolean).map(Number))
}

const seesChildren = { skip: process.platform !== 'linux' }

async function untilNoChildren(): Promise<void> {
  const deadline = AbortSignal.timeout(30_000)
  while ((await children()).length > 0) {
    deadline.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test(
  'requests share one process, which closing ends, and later ones are refused',
  seesChildren,
  async (t) => {
    const { bundler, bundle } = await createFolder(t)
    const results = await Promise.all([1, 2, 3].map(bundle))
    assert.ok(results.every(({ ok }) => ok))
    assert.equal((await children()).length, 1)
    await bundler.close()
    await untilNoChildren()
    const late = await bundle()
    assert.equal(!late.ok && late.diagnostics[0]?.code, 'TRANSFORM_NOT_BUNDLED')
  },
)

test('an idle bundler ends its process, and starts another for the next request', seesChildren, async (t) => {
  const { bundle } = await createFolder(t, { idleMs: 1 })
  assert.ok((await bundle()).ok)
  await untilNoChildren()
  assert.ok((await bundle()).ok)
})

test("a request succeeds although esbuild's process is killed", seesChildren, async (t) => {
  const { bundle } = await createFolder(t)
  await bundle()
  for (const child of await children()) process.kill(child, 'SIGKILL')
  assert.ok((await bundle()).ok)
})

test("a folder that cannot be written is not the author's fault, and none is needed without modules", async (t) => {
  const { bundle, bundler } = await createFolder(t, { data: 'transforms/a.ts/below a file' })
  const bundled = await bundle()
  const found = (!bundled.ok && bundled.diagnostics[0]?.message) || ''
  assert.match(found, /^the transform `a\.ts` could not be bundled: ENOTDIR/)
  assert.ok((await bundler.bundle({ modules: [], transformsDir: '/nowhere', folder: '/' })).ok)
})

test('sweeping keeps the named bundles, those of the last request, and unknown files', async (t) => {
  const { bundler, bundle, bundles, write } = await createFolder(t)
  const digests: string[] = []
  for (const value of [1, 2, 3]) {
    await write(`export default () => ${value}`)
    const bundled = await bundle()
    digests.push((bundled.ok && bundled.bundles.get('a.ts')?.digest) || assert.fail())
  }
  for (const name of ['someone.else', 'young.next', 'old.next']) await writeFile(path.join(bundles, name), '')
  await utimes(path.join(bundles, 'old.next'), 0, 0)
  const [first, , last] = digests
  await bundler.sweep([first ?? ''])
  const names = (await readdir(bundles)).filter((name) => !name.endsWith('.map')).toSorted()
  assert.deepEqual(names, [`${first}.mjs`, `${last}.mjs`, 'someone.else', 'young.next'].toSorted())
})
