import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'

/** Creates a clone whose sources and whose bundle say what they are, and which arguments they were given. */
async function createClone(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-clone-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await writeFile(path.join(folder, file), text)
  }
  const says = (what: string) => `console.log(${JSON.stringify(what)}, ...process.argv.slice(2))`
  await write('package.json', '{"type":"module"}')
  await write('runtime/package.json', '{"type":"module","version":"1.2.3"}')
  await write('runtime/main.ts', says('sources'))
  await cp(import.meta.dirname, path.join(folder, 'runtime/bin'), { recursive: true })
  return {
    folder,
    write,
    says,
    async run(...args: string[]) {
      const bin = path.join(folder, 'runtime/bin/reveille.js')
      // The cache that the environment names, as that of a test run, would be used in place of the clone's own.
      const { NODE_COMPILE_CACHE: _cache, ...env } = process.env
      return (await promisify(execFile)(process.execPath, [bin, ...args], { env })).stdout.trim()
    },
  }
}

test('a command in a clone runs the sources, and a published one its bundle; both cache compiled code', async (t) => {
  const clone = await createClone(t)
  assert.equal(await clone.run('status', '--json'), 'sources status --json')
  assert.notDeepEqual(await readdir(path.join(clone.folder, 'build/cache')), [])
  await clone.write('runtime/bundle/main.js', clone.says('published'))
  assert.equal(await clone.run('status'), 'published status')
  assert.notDeepEqual(await readdir(path.join(clone.folder, 'runtime/bundle/cache')), [])
})

const isRoot = process.getuid?.() === 0

test('nothing is written into a package of another user', {
  skip: !isRoot && 'only root can make one',
}, async (t) => {
  const clone = await createClone(t)
  await clone.write('runtime/bundle/main.js', clone.says('published'))
  await chown(path.join(clone.folder, 'runtime'), 12_345, 12_345)
  assert.equal(await clone.run('status'), 'published status')
  assert.deepEqual(await readdir(path.join(clone.folder, 'runtime/bundle')), ['main.js'])
})

test('the version is answered without loading what else there is', async (t) => {
  const clone = await createClone(t)
  assert.equal(await clone.run('--version'), '1.2.3')
  assert.equal(await clone.run('-V'), '1.2.3')
  assert.equal(await clone.run('status', '--version'), 'sources status --version')
})
