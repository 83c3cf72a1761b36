import assert from 'node:assert/strict'
import { rm, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createSampleFolder } from '../../config/sample-folder.ts'
import { createFacts } from './facts.ts'
import { takeSurvey } from './survey.ts'

async function createPlace(context: TestContext, files: Readonly<Record<string, string>>) {
  const folder = await createSampleFolder(context, files)
  const facts = createFacts()
  const { signal } = new AbortController()
  return {
    ...folder,
    facts,
    async survey(...names: string[]) {
      const found = await takeSurvey(names.map(folder.at), { facts, now: Date.now, signal })
      // Relative, and without the two folders above.
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
  const { survey, path } = await createPlace(context, { 'reveille.yaml': '', ...files })
  const { observed, paths } = await survey('reveille.yaml', '.env', 'mappings')
  assert.deepEqual(observed, ['.: .env mappings reveille.yaml', 'mappings:  *'])
  assert.deepEqual(
    paths.filter((one) => !one.startsWith(path)),
    [dirname(path)],
  )
})

test('what is missing is awaited in the nearest folder that exists', async (context) => {
  const { survey, facts, at } = await createPlace(context, { 'reveille.yaml': '' })
  assert.deepEqual((await survey('not/yet/here.yaml')).observed, ['.: not'])
  assert.match(String(facts.get(at('not'))), /^nothing since /)
})

test('a file that comes and goes between two surveys has left its mark, be it named or in a watched folder', async (context) => {
  const { survey, facts, write, at } = await createPlace(context, { 'etc/mappings/a.yaml': '' })
  for (const name of ['etc/.env', 'etc/mappings/b.yaml']) {
    await survey('etc/.env', 'etc/mappings')
    facts.conclude()
    await write(name, 'A=1')
    await rm(at(name))
    await survey('etc/.env', 'etc/mappings')
    assert.ok(facts.conclude(), name)
  }
})

test('a file where a folder should be is watched, for it may become one', async (context) => {
  const { survey } = await createPlace(context, { mappings: 'a file' })
  assert.deepEqual((await survey('mappings/a.yaml')).observed, ['.: mappings'])
})

test('every folder in which a link of the way stands is observed', async (context) => {
  const { survey, at } = await createPlace(context, { 'etc/..2026_1/a.yaml': 'x', 'etc/reveille.yaml': '' })
  await symlink('..2026_1', at('etc/..data'))
  await symlink('..data/a.yaml', at('etc/a.yaml'))
  assert.deepEqual((await survey('etc')).observed, [
    '.: etc',
    'etc/..2026_1: a.yaml',
    'etc: ..2026_1 ..data a.yaml *',
  ])
})

test('links that lead in a circle end', { timeout: 10_000 }, async (context) => {
  const { survey, facts, at } = await createPlace(context, { 'mappings/a.yaml': 'x' })
  await symlink('self/deeper', at('self'))
  await symlink('two', at('one'))
  await symlink('one', at('two'))
  await symlink('..', at('mappings/up'))
  await survey('self', 'one', 'mappings')
  assert.match(facts.get(at('self')) ?? '', /^link /)
  assert.match(facts.get(at('mappings/a.yaml')) ?? '', /^file /)
})

test('what packages installed is looked at only where it is named', async (context) => {
  const named = 'transforms/node_modules/left/index.js'
  const { survey, facts, at } = await createPlace(context, {
    'transforms/a.ts': 'x',
    [named]: 'x',
    'transforms/node_modules/right/index.js': 'x',
  })
  await survey('transforms', named)
  facts.conclude()
  assert.match(facts.get(at(named)) ?? '', /^file /)
  assert.equal(facts.get(at('transforms/node_modules/right/index.js')), undefined)
})

test('that a file went is news, though nothing is left to look at', async (context) => {
  const { survey, facts, at } = await createPlace(context, { 'mappings/a.yaml': 'x', 'mappings/b.yaml': 'x' })
  await survey('mappings')
  facts.conclude()
  await rm(at('mappings/b.yaml'))
  await survey('mappings')
  assert.equal(facts.conclude(), true)
})

test('a survey that is given up says so', async (context) => {
  const { path } = await createPlace(context, { 'a.yaml': 'x' })
  const given = takeSurvey([path], { facts: createFacts(), now: Date.now, signal: AbortSignal.abort() })
  await assert.rejects(given, { name: 'AbortError' })
})
