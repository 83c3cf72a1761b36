import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTransforms } from './fixture.ts'

test('sources of every kind are bundled with the files that they import', async (t) => {
  const { load } = await createTransforms(t, {
    'transforms/a.ts': `
      import { two } from './lib/two'
      import { three } from './lib/three.js'
      import { four } from './lib/four.ts'
      import five from './lib/five.cjs'
      import six from './lib/six.json'
      import type { Absent } from './lib/types'
      export enum Kind { One = 1 }
      const sum = async (): Promise<number> => Kind.One + two + three + four + five() + six.value
      export default sum`,
    'transforms/lib/two.mts': 'export const two: number = 2',
    'transforms/lib/three.ts': 'export const three: number = 3',
    'transforms/lib/four.ts': 'export const four = 4 as const',
    'transforms/lib/five.cjs': 'module.exports = () => require("./five.json").value',
    'transforms/lib/five.json': '{"value":5}',
    'transforms/lib/six.json': '{"value":6}',
  })
  assert.equal(await (await load('a.ts')).default(), 21)
})

test('a module may have any script extension, and a name without one finds the file', async (t) => {
  const names = ['one.ts', 'two.mts', 'three.cts', 'four.js', 'five.mjs', 'six.cjs']
  const source = (name: string) =>
    /c[jt]s$/.test(name) ? `exports.default = () => '${name}'` : `export default () => '${name}'`
  const { load } = await createTransforms(
    t,
    Object.fromEntries([...names, 'seven/index.ts'].map((name) => [`transforms/${name}`, source(name)])),
  )
  for (const name of names) {
    assert.equal((await load(name)).default(), name)
    assert.equal((await load(name.split('.')[0] ?? '')).default(), name)
  }
  assert.equal((await load('seven')).default(), 'seven/index.ts')
})

test('texts are imported as texts', async (t) => {
  const { load } = await createTransforms(t, {
    'transforms/a.ts': ['txt', 'md', 'html', 'sql']
      .map((kind) => `export { default as ${kind} } from './file.${kind}'`)
      .join('\n'),
    ...Object.fromEntries(
      ['txt', 'md', 'html', 'sql'].map((kind) => [`transforms/file.${kind}`, `a ${kind} ü`]),
    ),
  })
  const { txt, md, html, sql } = await load('a.ts')
  assert.deepEqual([txt, md, html, sql], ['a txt ü', 'a md ü', 'a html ü', 'a sql ü'])
})

test('a module may await at its top level, and create a `require` of its own', async (t) => {
  const { load } = await createTransforms(t, {
    'transforms/a.ts': `
      import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      const value = await Promise.resolve(require('./data.json').value)
      export default () => value`,
    'transforms/data.json': '{"value":42}',
  })
  assert.equal((await load('a.ts')).default(), 42)
})

test('a CommonJS module has the exports that mappings name', async (t) => {
  const { load } = await createTransforms(t, {
    'transforms/whole.js': 'module.exports = () => "whole"',
    'transforms/named.js':
      'const { sep } = require("path"); exports.one = () => sep; exports.default = () => 2',
    'transforms/object.cjs': 'module.exports = { default: () => 3, "odd name": () => 4 }',
    'transforms/compiled.js':
      'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => 5; exports.x = () => 6',
    'transforms/typed.cts': 'export = (n: number): number => n + 1',
  })
  assert.equal((await load('whole.js')).default(), 'whole')
  const named = await load('named.js', ['one', 'default', 'absent'])
  assert.deepEqual([named['one'](), named.default(), named['absent']], ['/', 2, undefined])
  const object = await load('object.cjs', ['odd name'])
  assert.deepEqual([object.default(), object['odd name']()], [3, 4])
  const compiled = await load('compiled.js', ['x'])
  assert.deepEqual([compiled.default(), compiled['x']()], [5, 6])
  assert.equal((await load('typed.cts')).default(1), 2)
})

test('a CommonJS module is bundled again when a mapping names another of its exports', async (t) => {
  const { bundleOne, built } = await createTransforms(t, {
    'transforms/a.cjs': 'exports.one = () => 1; exports.two = () => 2',
    'transforms/b.mjs': 'export const one = () => 1; export const two = () => 2',
  })
  const both = await bundleOne('a.cjs', ['one', 'two'])
  assert.equal((await bundleOne('a.cjs', ['two'])).digest, both.digest, 'it has more than it is asked for')
  await bundleOne('a.cjs', ['three'])
  await bundleOne('b.mjs', ['one'])
  await bundleOne('b.mjs', ['two'])
  assert.deepEqual(built, ['a.cjs', 'a.cjs', 'b.mjs'])
})

test("the authors' types are found even if the folder is far from any package", async (t) => {
  const { load } = await createTransforms(t, {
    'transforms/a.ts': `
      import { defineTransform, isPrompt, prompt } from '@reveille/engine/transform'
      export default defineTransform(({ payload }) => ({ message: prompt\`Hello \${payload.name}\` }))
      export const check = isPrompt`,
    'transforms/b.cjs': `
      const { defineTransform } = require('@reveille/engine/transform')
      module.exports = defineTransform(() => null)`,
  })
  const { default: transform, check } = await load('a.ts')
  const { message } = transform({ payload: { name: 'world' } })
  assert.ok(check(message))
  assert.equal(String(message), 'Hello world')
  assert.equal((await load('b.cjs')).default(), null)
})

test('the paths of a tsconfig.json are followed, and so are its options for decorators', async (t) => {
  const { load, write } = await createTransforms(t, {
    'transforms/a.ts': `
      import { value } from '~/deep'
      const seen: unknown[] = []
      const mark = (...facts: unknown[]) => void seen.push(facts.length)
      class Box { @mark it() { return import.meta.dirname } }
      export default () => [value, seen[0], typeof new Box().it]`,
    'transforms/lib/deep.ts': 'export const value = 1',
    'transforms/tsconfig.json': `{
      // What the folder above says, and paths.
      "extends": "../base.json",
      "compilerOptions": { "paths": { "~/*": ["./lib/*"] }, },
    }`,
    'base.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
  })
  assert.deepEqual((await load('a.ts')).default(), [1, 3, 'function'])
  await write({ 'base.json': '{}' })
  assert.deepEqual((await load('a.ts')).default(), [1, 2, 'function'])
})
