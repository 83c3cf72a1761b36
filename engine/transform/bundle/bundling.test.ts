/** Tests what becomes of the files and packages of transforms. That of the packages people use is in test/transforms/packages.test.ts. */

import assert from 'node:assert/strict'
import { readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createTransforms } from './fixture.ts'

const described = (facts: object = {}) => JSON.stringify({ version: '1.0.0', main: './index.js', ...facts })

/** `result`: what the default export of the first file returns. */
const cases: readonly { name: string; files: Readonly<Record<string, string>>; result: unknown }[] = [
  {
    name: 'TypeScript, JavaScript, JSON and CommonJS are bundled, and imports find files without an extension',
    files: {
      'a.ts': `import { two } from './lib/two'; import { three } from './lib/three.js'; import { four } from './lib/four.ts'
        import five from './lib/five.cjs'; import six from './lib/six.json'; import type { Absent } from './lib/types'
        export enum Kind { One = 1 }
        export default async (): Promise<number> => Kind.One + two + three + four + five() + six.value`,
      'lib/two.mts': 'export const two: number = 2',
      'lib/three.ts': 'export const three: number = 3',
      'lib/four.ts': 'export const four = 4 as const',
      'lib/five.cjs': 'module.exports = () => require("./five.json").value',
      'lib/five.json': '{"value":5}',
      'lib/six.json': '{"value":6}',
    },
    result: 21,
  },
  {
    name: 'texts are imported as texts',
    files: {
      'a.ts': `${['txt', 'md', 'html', 'sql'].map((kind) => `import ${kind} from './file.${kind}'`).join('\n')}
        export default () => [txt, md, html, sql]`,
      ...Object.fromEntries(['txt', 'md', 'html', 'sql'].map((kind) => [`file.${kind}`, `a ${kind} ü`])),
    },
    result: ['a txt ü', 'a md ü', 'a html ü', 'a sql ü'],
  },
  {
    name: 'a module may await at its top level, and create a `require` of its own',
    files: {
      'a.ts': `import { createRequire } from 'node:module'
        const require = createRequire(import.meta.url)
        const value = await Promise.resolve(require('./data.json').value)
        export default () => value`,
      'data.json': '{"value":42}',
    },
    result: 42,
  },
  {
    name: 'CommonJS finds what it requires by a name that is known only at run time',
    files: { 'late.cjs': 'module.exports = () => require("./said" + ".json")', 'said.json': '"said"' },
    result: 'said',
  },
  {
    name: "the authors' module is found by an import and by `require`",
    files: {
      'a.ts': `import { defineTransform, isPrompt, prompt } from '@reveille/engine/transform'; import b from './b.cjs'
        export default defineTransform(() => [isPrompt(prompt\`Hello\`), b()])`,
      'b.cjs': 'module.exports = require("@reveille/engine/transform").defineTransform(() => null)',
    },
    result: [true, null],
  },
  {
    name: 'the paths of a tsconfig.json are followed, and so are its options for decorators',
    files: {
      'a.ts': `import { value } from '~/deep'
        const seen: unknown[] = []
        const mark = (...facts: unknown[]) => void seen.push(facts.length)
        class Box { @mark it() { return import.meta.dirname } }
        export default () => [value, seen[0], typeof new Box().it]`,
      'lib/deep.ts': 'export const value = 1',
      'tsconfig.json': `{ // Options of the folder above, and paths.
        "extends": "../base.json", "compilerOptions": { "paths": { "~/*": ["./lib/*"] }, }, }`,
      '../base.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
    },
    result: [1, 3, 'function'],
  },
  {
    name: 'conditions of exports are chosen as by Node.js, for an import and for `require`',
    files: {
      'a.ts': `import imported from 'dual'; import { required } from './b.cjs'; export default () => [imported, required]`,
      'b.cjs': 'exports.required = require("dual")',
      'node_modules/dual/package.json': described({
        exports: { browser: './b.js', module: './m.js', import: './import.mjs', require: './require.cjs' },
      }),
      'node_modules/dual/import.mjs': 'export default "import"',
      'node_modules/dual/require.cjs': 'module.exports = "require"',
    },
    result: ['import', 'require'],
  },
  {
    name: 'an optional package may be missing, and TypeScript of a package is bundled',
    files: {
      'a.cjs': `let found; try { found = require('optional') } catch { found = 'none' }
        module.exports = () => [found, require('typed').value]`,
      'node_modules/typed/package.json': described({ main: './index.ts' }),
      'node_modules/typed/index.ts': 'export const value: number = 1',
    },
    result: ['none', 1],
  },
  {
    name: 'a native addon is loaded from its place',
    files: {
      'a.cjs': `const load = (name) => { try { name() } catch (error) { return /\\S*it\\.node(?=:)/.exec(error.message)[0].split('transforms/')[1] } }
        module.exports = () => [load(() => require('native')), load(() => require('./own/it.node'))]`,
      'own/it.node': 'no addon',
      'node_modules/native/package.json': described(),
      'node_modules/native/index.js': 'module.exports = require("./build/it.node")',
      'node_modules/native/build/it.node': 'no addon',
    },
    result: ['node_modules/native/build/it.node', 'own/it.node'],
  },
]

/** Puts files into the folder of transforms. */
const inTransforms = (files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [path.posix.join('transforms', file), text]))

for (const { name, files, result } of cases)
  test(name, async (t) => {
    const { load } = await createTransforms(t, inTransforms(files))
    const [entry = ''] = Object.keys(files)
    assert.deepEqual(await (await load(entry))(), result)
  })

test('a module may have any script extension, and a name without one finds the file', async (t) => {
  const names = ['one.ts', 'two.mts', 'three.cts', 'four.js', 'five.mjs', 'six.cjs']
  const source = (name: string) =>
    /c[jt]s$/.test(name) ? `exports.default = () => '${name}'` : `export default () => '${name}'`
  const files = Object.fromEntries([...names, 'seven/index.ts'].map((name) => [name, source(name)]))
  const { load } = await createTransforms(t, inTransforms(files))
  for (const name of names) {
    assert.equal((await load(name))(), name)
    assert.equal((await load(name.split('.')[0] ?? ''))(), name)
  }
  assert.equal((await load('seven'))(), 'seven/index.ts')
})

test('a CommonJS module has the exports that mappings name', async (t) => {
  const modules: Readonly<Record<string, string>> = {
    'whole.js': 'module.exports = () => 1; module.exports.other = () => 2',
    'named.js': 'const { sep } = require("path"); exports.other = () => sep && 2; exports.default = () => 1',
    'object.cjs': 'module.exports = { default: () => 1, other: () => 2 }',
    'compiled.js': `Object.defineProperty(exports, "__esModule", { value: true })
      exports.default = () => 1; exports.other = () => 2`,
    'typed.cts': 'export = Object.assign((): number => 1, { other: () => 2 })',
  }
  const { load } = await createTransforms(t, inTransforms(modules))
  for (const name of Object.keys(modules))
    assert.deepEqual([(await load(name))(), (await load(name, 'other'))()], [1, 2], name)
})

test('a module finds its own path by every name that Node.js has for it', async (t) => {
  const { load, folder } = await createTransforms(t, {
    'transforms/deep/esm.ts': `
      const { url, filename: file } = import.meta
      export default () => [import.meta.url, import.meta.dirname, import.meta.filename, url, file, import.meta.resolve('./own.mjs')]`,
    'transforms/deep/own.mjs': `
      import { dirname } from 'node:path'
      import { fileURLToPath } from 'node:url'
      const __dirname = dirname(fileURLToPath(import.meta.url))
      export default () => __dirname`,
    'transforms/deep/common.cjs': '#!/usr/bin/env node\nmodule.exports = () => [__dirname, __filename]',
  })
  const deep = path.join(folder, 'transforms', 'deep')
  const esm = path.join(deep, 'esm.ts')
  const { href } = pathToFileURL(esm)
  const own = pathToFileURL(path.join(deep, 'own.mjs')).href
  assert.deepEqual((await load('deep/esm.ts'))(), [href, deep, esm, href, esm, own])
  assert.equal((await load('deep/own.mjs'))(), deep)
  assert.deepEqual((await load('deep/common.cjs'))(), [deep, path.join(deep, 'common.cjs')])
})

test('the digest follows every file that decides, and not the times of files', async (t) => {
  const { bundleOne, write, load, folder } = await createTransforms(t, {
    'transforms/a.ts': 'import { b } from "./lib/b"; import c from "c"; export default () => [b, c]',
    'transforms/lib/b.js': 'export const b = "js"',
    'node_modules/c/package.json': described({ main: 'index.js' }),
    'node_modules/c/index.js': 'module.exports = "above"',
  })
  const digests = new Set<string>()
  const isAnother = async (what: string) => {
    const { digest } = await bundleOne('a.ts')
    assert.equal((await bundleOne('a.ts')).digest, digest, what)
    assert.equal(digests.size + 1, digests.add(digest).size, what)
  }
  await isAnother('first')
  const lib = path.join(folder, 'transforms/lib/b.js')
  const long = new Date(2020, 1)
  await utimes(lib, long, long)
  const [first = ''] = digests
  assert.equal((await bundleOne('a.ts')).digest, first)
  for (const [what, file, text] of [
    ['the size and the time are the same', 'transforms/lib/b.js', 'export const b = "sj"'],
    ['a file that is found first', 'transforms/lib/b.ts', 'export const b: string = "ts"'],
    ['another version of a package', 'node_modules/c/package.json', described({ version: '1.0.1' })],
    ['a package that was edited', 'node_modules/c/index.js', 'module.exports = "changed"'],
    ['an installation', 'node_modules/.package-lock.json', '{}'],
    ['a package that is nearer', 'transforms/node_modules/c/index.js', 'module.exports = "near"'],
  ] as const) {
    await write({ [file]: text })
    await utimes(lib, long, long)
    await isAnother(what)
  }
  assert.deepEqual((await load('a.ts'))(), ['ts', 'near'])
})

test('a linked package is bundled from its real place, and another link makes another bundle', async (t) => {
  const { load, folder } = await createTransforms(t, {
    'transforms/a.ts': 'export { default } from "linked"',
    'elsewhere/package.json': described({ main: './index.ts' }),
    'elsewhere/index.ts': 'export default (): string => "elsewhere"',
    'another/package.json': described(),
    'another/index.js': 'export default () => "another"',
    'transforms/node_modules/.keep': '',
  })
  for (const name of ['elsewhere', 'another']) {
    await rm(path.join(folder, 'transforms/node_modules/linked'), { force: true })
    await symlink(path.join(folder, name), path.join(folder, 'transforms/node_modules/linked'))
    assert.equal((await load('a.ts'))(), name)
  }
})

test('every file that a bundle depends on is watched, and after a failed build every path where a missing file may appear', async (t) => {
  const { bundle, folder, write, load } = await createTransforms(t, {
    'transforms/a.ts':
      'import { b } from "./lib/b"; import "c"; import "absent"; import "./lib/broken"; export default () => b',
    'transforms/lib/broken.ts': 'export const = 1',
    'transforms/node_modules/c/index.js': '',
  })
  const isWatched = async (isOk: boolean, names: string) => {
    const { ok, watched } = await bundle('a.ts')
    assert.equal(ok, isOk)
    for (const name of names.split(' '))
      assert.ok(watched.includes(path.join(folder, 'transforms', name)), name)
  }
  await isWatched(false, 'a.ts lib lib/broken.ts node_modules/absent package.json tsconfig.json')
  await write({
    'transforms/lib/b.ts': 'export const b = 1',
    'transforms/lib/broken.ts': '',
    'transforms/node_modules/absent/index.js': '',
  })
  assert.equal((await load('a.ts'))(), 1)
  await isWatched(true, 'a.ts lib/b.ts node_modules/c/index.js node_modules/c/package.json package.json')
})

test("bundles are the user's alone, complete, and made again where one is damaged", async (t) => {
  const source = 'export default () => 1 // ü\n'
  const { bundleOne, folder } = await createTransforms(t, { 'transforms/a.ts': source })
  const { file, digest } = await bundleOne('a.ts')
  const data = path.join(folder, 'data/transforms')
  const names = [`${digest}.mjs`, `${digest}.mjs.map`]
  assert.equal((await stat(data)).mode & 0o777, 0o700)
  assert.deepEqual((await readdir(data)).toSorted(), names)
  for (const name of names) assert.equal((await stat(path.join(data, name))).mode & 0o777, 0o600)
  const [code, map] = await Promise.all([readFile(file, 'utf8'), readFile(`${file}.map`, 'utf8')])
  assert.ok(code.endsWith(`\n//# sourceMappingURL=${names[1]}\n`))
  assert.deepEqual(JSON.parse(map).sourcesContent, [source])
  for (const damage of [() => rm(file), () => truncate(file, 10), () => writeFile(`${file}.map`, '{}')]) {
    await damage()
    assert.equal((await bundleOne('a.ts')).file, file)
    assert.deepEqual([await readFile(file, 'utf8'), await readFile(`${file}.map`, 'utf8')], [code, map])
  }
})
