import assert from 'node:assert/strict'
import { realpath, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { createTransforms } from './fixture.ts'

const beside = (name: string) => `transforms/node_modules/${name}`
const described = (facts: object = {}) => JSON.stringify({ version: '1.0.0', main: './index.js', ...facts })

test('ES and CommonJS packages are bundled with their own dependencies', async (t) => {
  const { load } = await createTransforms(t, {
    'transforms/a.ts': `
      import common, { other } from 'common'
      import { esm } from '@scope/esm/part'
      export default () => [common(), other, esm]`,
    [beside('common/package.json')]: described(),
    [beside('common/index.js')]:
      'const os = require("os"); module.exports = () => typeof os.EOL + require("needed"); module.exports.other = 1',
    // The folder is above that of the transforms, like that of the configuration's own package.
    'node_modules/needed/package.json': described(),
    'node_modules/needed/index.js': 'module.exports = " needed"',
    [beside('@scope/esm/package.json')]: described({ type: 'module', exports: { './part': './part.js' } }),
    [beside('@scope/esm/part.js')]: 'export const esm = import.meta.dirname.endsWith("esm")',
  })
  assert.deepEqual((await load('a.ts')).default(), ['string needed', 1, true])
})

test('real packages work: one of many files, and one that starts a worker from a file beside itself', async (t) => {
  const { load, folder } = await createTransforms(t, {
    'transforms/a.ts': `
      import { parse } from 'yaml'
      import pino from 'pino'
      export default (text: string) => [parse(text), typeof pino({ level: 'silent' }, pino.destination(1)).info]`,
  })
  const real = await realpath(path.join(import.meta.dirname, '../../../node_modules'))
  await symlink(real, path.join(folder, 'node_modules'))
  assert.deepEqual((await load('a.ts')).default('a: [1]'), [{ a: [1] }, 'function'])
})

test('a package that looks for files beside itself is not bundled, and its change makes another bundle', async (t) => {
  const finder = beside('finder/index.js')
  const { load, bundleOne, write, folder } = await createTransforms(t, {
    'transforms/a.ts': 'import find, { place } from "finder"; export default () => [find(), place]',
    'transforms/b.cjs': 'module.exports = require("finder")',
    [beside('finder/package.json')]: described(),
    [finder]:
      'module.exports = () => require("fs").readFileSync(__dirname + "/data.txt", "utf8"); exports.place = 1;' +
      'module.exports.place = __filename',
    [beside('finder/data.txt')]: 'data',
  })
  const place = path.join(folder, finder)
  assert.deepEqual((await load('a.ts')).default(), ['data', place])
  assert.equal((await load('b.cjs')).default(), 'data')
  const { digest, inputs } = await bundleOne('a.ts')
  assert.ok(inputs.includes(place))
  assert.ok(inputs.includes(path.join(path.dirname(place), 'package.json')))
  await write({ [beside('finder/package.json')]: described({ version: '1.0.1' }) })
  const newer = await bundleOne('a.ts')
  assert.notEqual(newer.digest, digest)
  await write({ [finder]: 'module.exports = () => __dirname' })
  assert.notEqual((await bundleOne('a.ts')).digest, newer.digest)
})

test('a native addon is not bundled, and is part of the digest', async (t) => {
  const { bundleOne, load, write } = await createTransforms(t, {
    'transforms/a.cjs': 'module.exports = () => { try { require("native") } catch (e) { return e.message } }',
    [beside('native/package.json')]: described(),
    [beside('native/index.js')]: 'module.exports = require("./build/it.node")',
    [beside('native/build/it.node')]: 'no addon',
  })
  assert.match((await load('a.cjs')).default(), /node_modules\/native\/build\/it\.node: /)
  const { digest } = await bundleOne('a.cjs')
  await write({ [beside('native/build/it.node')]: 'no addon either' })
  assert.notEqual((await bundleOne('a.cjs')).digest, digest)
})

test('an optional package may be missing', async (t) => {
  const { load, write } = await createTransforms(t, {
    'transforms/a.cjs': `
      let found
      try { found = require('optional') } catch { found = 'none' }
      module.exports = () => found`,
  })
  assert.equal((await load('a.cjs')).default(), 'none')
  await write({ [beside('optional/index.js')]: 'module.exports = "there"' })
  assert.equal((await load('a.cjs')).default(), 'there')
})

test('a linked package is bundled from its real place, and another link makes another bundle', async (t) => {
  const { load, folder, built } = await createTransforms(t, {
    'transforms/a.ts': 'export { default } from "linked"',
    'elsewhere/package.json': described(),
    'elsewhere/index.js': 'export default () => "elsewhere"',
    'another/package.json': described(),
    'another/index.js': 'export default () => "another"',
    [beside('.keep')]: '',
  })
  await symlink(path.join(folder, 'elsewhere'), path.join(folder, beside('linked')))
  assert.equal((await load('a.ts')).default(), 'elsewhere')
  await load('a.ts')
  assert.deepEqual(built, ['a.ts'])
  await rm(path.join(folder, beside('linked')))
  await symlink(path.join(folder, 'another'), path.join(folder, beside('linked')))
  assert.equal((await load('a.ts')).default(), 'another')
})

test('a package that loads parts of itself by names that only it knows finds them, and shares its state with them', async (t) => {
  const parts = (extension: string) => ({
    [beside(`lazy-${extension}/parts/one.${extension}`)]:
      extension === 'mjs'
        ? 'import { state } from "../state.mjs"; state.push("one")'
        : 'require("../state.cjs").push("one")',
  })
  const { load, bundleOne, write } = await createTransforms(t, {
    'transforms/a.ts': `
      import lazy, { names } from 'lazy-cjs'
      import { load } from 'lazy-mjs'
      import { assets } from 'assets'
      export default async () => [lazy('one'), names, await load('one'), assets()]`,
    [beside('lazy-cjs/package.json')]: described({ main: 'index.cjs' }),
    [beside('lazy-cjs/index.cjs')]: `
      const names = require('./state.cjs')
      module.exports = (name) => (require('./parts/' + name + '.cjs'), names.length)
      module.exports.names = names`,
    [beside('lazy-cjs/state.cjs')]: 'module.exports = []',
    ...parts('cjs'),
    [beside('lazy-mjs/package.json')]: described({ type: 'module', exports: './index.mjs' }),
    [beside('lazy-mjs/index.mjs')]: `
      import { state } from './state.mjs'
      export const load = async (name) => { await import('./parts/' + name + '.mjs'); return state }`,
    [beside('lazy-mjs/state.mjs')]: 'export const state = []',
    ...parts('mjs'),
    [beside('assets/package.json')]: described({ type: 'module', exports: './index.js' }),
    [beside('assets/index.js')]: `
      import { readFileSync } from 'node:fs'
      import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      export const assets = () => [
        readFileSync(new URL('./core.wasm', import.meta.url), 'utf8'),
        ...['table'].map((name) => require('./' + name + '.json').rows),
      ]`,
    [beside('assets/core.wasm')]: 'wasm',
    [beside('assets/table.json')]: '{ "rows": 2 }',
  })
  const run = (await load('a.ts')).default as () => Promise<unknown>
  assert.deepEqual(await run(), [1, ['one'], ['one'], ['wasm', 2]])
  const { digest } = await bundleOne('a.ts')
  await write({ [beside('lazy-cjs/state.cjs')]: 'module.exports = ["zero"]' })
  assert.notEqual((await bundleOne('a.ts')).digest, digest, 'a part of the package decides')
})
