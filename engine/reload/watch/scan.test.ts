import assert from 'node:assert/strict'
import { rm, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createSampleFolder } from '../../config/sample-folder.ts'
import { createKnownStats } from './previous-scan.ts'
import { scanPaths } from './scan.ts'

async function createPlace(context: TestContext, files: Readonly<Record<string, string>>) {
  const folder = await createSampleFolder(context, files)
  const stats = createKnownStats()
  const { signal } = new AbortController()
  return {
    ...folder,
    stats,
    async scan(...names: string[]) {
      const found = await scanPaths(names.map(folder.at), { stats, now: Date.now, signal })
      // The paths are relative, without the two folders above.
      const observed = [...found]
        .filter(([path]) => path.startsWith(folder.path))
        .map(([path, { names, whole }]) => {
          const name = path.slice(folder.path.length + 1) || '.'
          return `${name}: ${[...names].sort().join(' ')}${whole ? ' *' : ''}`
        })
      return { observed: observed.sort(), paths: [...found.keys()] }
    },
  }
}

test('a folder of many files is one folder to observe, and so is the one above it', async (context) => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`mappings/${index}.yaml`, 'x']))
  const { scan, path } = await createPlace(context, { 'reveille.yaml': '', ...files })
  const { observed, paths } = await scan('reveille.yaml', '.env', 'mappings')
  assert.deepEqual(observed, ['.: .env mappings reveille.yaml', 'mappings:  *'])
  assert.deepEqual(
    paths.filter((one) => !one.startsWith(path)),
    [dirname(path)],
  )
})

test('a missing path is awaited in the nearest existing folder', async (context) => {
  const { scan, stats, at } = await createPlace(context, { 'reveille.yaml': '' })
  assert.deepEqual((await scan('not/yet/here.yaml')).observed, ['.: not'])
  assert.match(String(stats.get(at('not'))), /^nothing since /)
})

test('a file that comes and goes between two scans is noticed, whether it is named or in a watched folder', async (context) => {
  const { scan, stats, write, at } = await createPlace(context, { 'etc/mappings/a.yaml': '' })
  for (const name of ['etc/.env', 'etc/mappings/b.yaml']) {
    await scan('etc/.env', 'etc/mappings')
    stats.conclude()
    await write(name, 'A=1')
    await rm(at(name))
    await scan('etc/.env', 'etc/mappings')
    assert.ok(stats.conclude(), name)
  }
})

test('a file in place of a folder is watched, because it may become one', async (context) => {
  const { scan } = await createPlace(context, { mappings: 'a file' })
  assert.deepEqual((await scan('mappings/a.yaml')).observed, ['.: mappings'])
})

test('every folder that contains a link of the path is observed', async (context) => {
  const { scan, at } = await createPlace(context, { 'etc/..2026_1/a.yaml': 'x', 'etc/reveille.yaml': '' })
  await symlink('..2026_1', at('etc/..data'))
  await symlink('..data/a.yaml', at('etc/a.yaml'))
  assert.deepEqual((await scan('etc')).observed, [
    '.: etc',
    'etc/..2026_1: a.yaml',
    'etc: ..2026_1 ..data a.yaml *',
  ])
})

test('circular links end', { timeout: 10_000 }, async (context) => {
  const { scan, stats, at } = await createPlace(context, { 'mappings/a.yaml': 'x' })
  await symlink('self/deeper', at('self'))
  await symlink('two', at('one'))
  await symlink('one', at('two'))
  await symlink('..', at('mappings/up'))
  await scan('self', 'one', 'mappings')
  assert.match(stats.get(at('self')) ?? '', /^link /)
  assert.match(stats.get(at('mappings/a.yaml')) ?? '', /^file /)
})

test('installed packages are scanned only where they are named', async (context) => {
  const named = 'transforms/node_modules/left/index.js'
  const { scan, stats, at } = await createPlace(context, {
    'transforms/a.ts': 'x',
    [named]: 'x',
    'transforms/node_modules/right/index.js': 'x',
  })
  await scan('transforms', named)
  stats.conclude()
  assert.match(stats.get(at(named)) ?? '', /^file /)
  assert.equal(stats.get(at('transforms/node_modules/right/index.js')), undefined)
})

test('a deleted file is a change, even if nothing is left to check', async (context) => {
  const { scan, stats, at } = await createPlace(context, { 'mappings/a.yaml': 'x', 'mappings/b.yaml': 'x' })
  await scan('mappings')
  stats.conclude()
  await rm(at('mappings/b.yaml'))
  await scan('mappings')
  assert.equal(stats.conclude(), true)
})

test('a scan that is given up rejects with the reason', async (context) => {
  const { path } = await createPlace(context, { 'a.yaml': 'x' })
  const given = scanPaths([path], { stats: createKnownStats(), now: Date.now, signal: AbortSignal.abort() })
  await assert.rejects(given, { name: 'AbortError' })
})
