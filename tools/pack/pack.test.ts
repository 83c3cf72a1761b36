import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { renameImports } from './compile.ts'
import { readWorkspaces } from './description.ts'
import { findShippedSources } from './sources.ts'
import { stage } from './stage.ts'

type Tree = Readonly<Record<string, string>>

async function createTree(t: TestContext, tree: Tree): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'reveille-packing-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  for (const [file, text] of Object.entries(tree)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(path.join(root, file), text)
  }
  return root
}

const described = (description: object) =>
  JSON.stringify({ name: '@house/part', version: '1.0.0', exports: { '.': './index.ts' }, ...description })

test('what the entries reach is published: imports, types and workers; what only tests reach is not', async (t) => {
  const folder = await createTree(t, {
    'index.ts': "import { a } from './a/a.ts'\nimport type { B } from './b.ts'",
    'a/a.ts': "new URL(own ? './worker.ts' : './worker.js', import.meta.url); await import('../late.ts')",
    'a/worker.ts': "import '../index.ts'",
    'b.ts': "export type B = import('./c.ts').C",
    'c.ts': '',
    'late.ts': '',
    'index.test.ts': "import './fixture.ts'",
    'fixture.ts': '',
  })
  assert.deepEqual(findShippedSources(folder, ['./index.ts']), [
    'a/a.ts',
    'a/worker.ts',
    'b.ts',
    'c.ts',
    'index.ts',
    'late.ts',
  ])
})

test('an entry that is missing, and a source that reaches past its package, are named', async (t) => {
  const root = await createTree(t, { 'one/index.ts': "import '../two.ts'", 'two.ts': '' })
  const folder = path.join(root, 'one')
  assert.throws(() => findShippedSources(folder, ['./main.ts']), {
    code: 'PACK_FAILED',
    message: `${folder}/package.json names ./main.ts, which is not there.`,
  })
  assert.throws(() => findShippedSources(folder, ['./index.ts']), {
    code: 'PACK_FAILED',
    message: `${folder}/index.ts reaches ../two.ts, which is not part of its package.`,
  })
})

test('workspaces are found by name and by pattern, and private ones are left out', async (t) => {
  const root = await createTree(t, {
    'package.json': '{ "workspaces": ["one", "more/*"] }',
    'one/package.json': described({}),
    'more/kit/package.json': described({ name: '@house/kit' }),
    'more/own/package.json': described({ name: '@house/own', private: true }),
    'more/notes.md': 'not a workspace',
  })
  const folders = readWorkspaces(root).map(({ folder }) => folder)
  assert.deepEqual(folders, ['one', 'more/kit'])
})

test('each package names its place in the repository', async (t) => {
  const root = await createTree(t, {
    'package.json':
      '{ "workspaces": ["one"], "author": "The House", "keywords": ["hook"], "repository": "git+https://example.org/house.git" }',
    'one/package.json': described({}),
  })
  const [{ description } = assert.fail('there is no workspace')] = readWorkspaces(root)
  assert.partialDeepStrictEqual(description, {
    author: 'The House',
    keywords: ['hook'],
    repository: { type: 'git', url: 'git+https://example.org/house.git', directory: 'one' },
    homepage: 'https://example.org/house#readme',
    bugs: 'https://example.org/house/issues',
  })
})

test('a package is staged with its entries as JavaScript, its declarations and the files it lists', async (t) => {
  const { target, staged } = await stageOne(t, {
    bin: { part: './bin/part.js' },
    files: ['schema.json'],
    reveille: { configSchema: './schema.json' },
    scripts: { test: 'true' },
    devDependencies: { tool: '1.0.0' },
  })
  await staged
  const read = (file: string) => readFile(path.join(target, file), 'utf8')
  const description = JSON.parse(await read('package.json'))
  assert.deepEqual(description, {
    name: '@house/part',
    version: '1.0.0',
    bin: { part: './bin/part.js' },
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['**/*.js', '**/*.d.ts', 'schema.json'],
    reveille: { configSchema: './schema.json' },
  })
  assert.equal(await read('index.js'), 'compiled')
  assert.equal(await read('index.d.ts'), "export * from './other.js'")
  assert.equal(await read('bin/part.js'), 'plain')
  assert.equal(await read('LICENSE'), 'terms')
})

test('a package without code is staged with the files that its patterns find', async (t) => {
  const root = await createTree(t, {
    LICENSE: 'terms',
    'part/one.yaml': '1',
    'part/notes.txt': 'stays home',
    'part/below/two.yaml': '2',
  })
  const exports = { './package.json': './package.json' }
  const description = JSON.parse(described({ exports, files: ['*.yaml'] }))
  const target = path.join(root, 'target')
  await stage({ folder: 'part', description }, { root, compiled: path.join(root, 'compiled'), target })
  assert.deepEqual((await readdir(target)).sort(), ['LICENSE', 'one.yaml', 'package.json'])
  assert.deepEqual(JSON.parse(await readFile(path.join(target, 'package.json'), 'utf8')).files, ['*.yaml'])
})

test('a file that package.json names and the package lacks is refused', async (t) => {
  const unlisted = await stageOne(t, { reveille: { configSchema: './schema.json' } })
  await assert.rejects(unlisted.staged, {
    code: 'PACK_FAILED',
    message: /^part\/package\.json names \.\/schema\.json, which would not be published\.\nFix: /,
  })
  const absent = await stageOne(t, { files: ['templates'] })
  await assert.rejects(absent.staged, {
    code: 'PACK_FAILED',
    message: 'part/package.json lists templates under files, which is not there.',
  })
})

async function stageOne(t: TestContext, description: object) {
  const root = await createTree(t, {
    LICENSE: 'terms',
    'part/index.ts': 'source',
    'part/bin/part.js': 'plain',
    'part/schema.json': '{}',
    'compiled/part/index.js': 'compiled',
    'compiled/part/index.d.ts': "export * from './other.ts'",
  })
  const workspace = { folder: 'part', description: JSON.parse(described(description)) }
  const target = path.join(root, 'target')
  return { target, staged: stage(workspace, { root, compiled: path.join(root, 'compiled'), target }) }
}

test('declarations import what is published, in every form of import, and packages as they are', () => {
  const rename = (text: string) => renameImports(text)
  assert.equal(rename("import type { A } from './a.ts';"), "import type { A } from './a.js';")
  assert.equal(rename("export * from '../b/b.ts';"), "export * from '../b/b.js';")
  assert.equal(rename("export * as c from\n  './c.ts';"), "export * as c from\n  './c.js';")
  assert.equal(rename('type D = import("./d.ts").D;'), 'type D = import("./d.js").D;')
  assert.equal(rename("import './e.ts';"), "import './e.js';")
  const kept = "import { F } from 'f.ts'; declare const name: './g.ts';"
  assert.equal(rename(kept), kept)
})
