import assert from 'node:assert/strict'
import { readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { createTransforms, noBuilder } from './fixture.ts'

const two = {
  'transforms/a.ts': 'import { b } from "./lib/b"; export default () => b',
  'transforms/lib/b.ts': 'export const b = 1',
  'transforms/other.ts': 'export default () => null',
}

test('unchanged modules are not bundled again, also after a restart', async (t) => {
  const { bundle, built, restart } = await createTransforms(t, two)
  const first = await bundle('a.ts', 'other.ts')
  assert.deepEqual(await bundle('a.ts', 'other.ts'), first)
  assert.deepEqual(built.toSorted(), ['a.ts', 'other.ts'], 'each once, side by side')
  assert.deepEqual(await restart(noBuilder).bundle('a.ts', 'other.ts'), first)
})

test('a change of a module, or of a file that it imports, bundles that module alone', async (t) => {
  const { bundleOne, built, write, load, bundle } = await createTransforms(t, two)
  await bundle('a.ts', 'other.ts')
  const { digest } = await bundleOne('a.ts')
  await write({ 'transforms/lib/b.ts': 'export const b = 2' })
  assert.equal((await load('a.ts')).default(), 2)
  await bundle('a.ts', 'other.ts')
  assert.deepEqual(built.toSorted(), ['a.ts', 'a.ts', 'other.ts'])
  await write({ 'transforms/lib/b.ts': 'export const b = 1' })
  assert.equal((await bundleOne('a.ts')).digest, digest, 'the same content is the same bundle')
})

test('a change that keeps size and time is noticed', async (t) => {
  const { bundleOne, write, load, folder } = await createTransforms(t, two)
  const file = path.join(folder, 'transforms/lib/b.ts')
  const long = new Date(2020, 1)
  await utimes(file, long, long)
  await bundleOne('a.ts')
  await bundleOne('a.ts')
  await write({ 'transforms/lib/b.ts': 'export const b = 3' })
  await utimes(file, long, long)
  assert.equal((await load('a.ts')).default(), 3)
})

test('a file that changed just before it was read counts as changed', async (t) => {
  const { bundle, built } = await createTransforms(t, two, undefined, Date.now)
  await bundle('a.ts')
  await bundle('a.ts')
  assert.deepEqual(built, ['a.ts', 'a.ts'])
})

test('a file that appears where an import is looked up first is noticed', async (t) => {
  const { load, write, bundle, folder } = await createTransforms(t, {
    'transforms/a.ts': 'import { b } from "./lib/b"; import c from "c"; export default () => [b, c]',
    'transforms/lib/b.js': 'export const b = "js"',
    'node_modules/c/index.js': 'module.exports = "above"',
  })
  assert.deepEqual((await load('a.ts')).default(), ['js', 'above'])
  const { watched } = await bundle('a.ts')
  assert.ok(watched.includes(path.join(folder, 'transforms/lib/b.ts')))
  await write({ 'transforms/lib/b.ts': 'export const b: string = "ts"' })
  assert.deepEqual((await load('a.ts')).default(), ['ts', 'above'])
  await write({ 'transforms/node_modules/c/index.js': 'module.exports = "near"' })
  assert.deepEqual((await load('a.ts')).default(), ['ts', 'near'])
  await write({
    'transforms/node_modules/c/package.json': '{"main":"main.js"}',
    'transforms/node_modules/c/main.js': 'module.exports = "main"',
  })
  assert.deepEqual((await load('a.ts')).default(), ['ts', 'main'])
})

test('after a failed build, files whose change may fix it are watched, and the change is noticed', async (t) => {
  const { bundle, write, folder, load } = await createTransforms(t, {
    'transforms/a.ts': 'import { b } from "./b"; import "absent"; import "./broken"; export default () => b',
    'transforms/broken.ts': 'export const = 1',
  })
  const { ok, watched } = await bundle('a.ts')
  assert.equal(ok, false)
  for (const name of [
    'a.ts',
    'b',
    'b.ts',
    'b.js',
    'b/index.ts',
    'broken.ts',
    'node_modules/absent',
    'package.json',
    'tsconfig.json',
  ])
    assert.ok(watched.includes(path.join(folder, 'transforms', name)), name)
  await write({
    'transforms/b.ts': 'export const b = 1',
    'transforms/broken.ts': '',
    'transforms/node_modules/absent/index.js': '',
  })
  assert.equal((await load('a.ts')).default(), 1)
})

test('every file that a bundle depends on is among its inputs and is watched', async (t) => {
  const { bundle, folder } = await createTransforms(t, {
    ...two,
    'transforms/a.ts': 'import "./lib/b"; import "c"; export {} from "@reveille/engine/transform"',
    'transforms/package.json': '{"type":"module"}',
    'transforms/tsconfig.json': '{"extends":"./base"}',
    'transforms/base.json': '{}',
    'transforms/node_modules/c/package.json': '{"main":"lib/c.js"}',
    'transforms/node_modules/c/lib/c.js': '',
  })
  const bundled = await bundle('a.ts')
  const inputs = (bundled.ok && bundled.bundles.get('a.ts')?.inputs) || []
  const names = ['a.ts', 'lib/b.ts', 'package.json', 'tsconfig.json', 'base.json']
  for (const name of [...names, 'node_modules/c/package.json', 'node_modules/c/lib/c.js']) {
    assert.ok(inputs.includes(path.join(folder, 'transforms', name)), name)
    assert.ok(bundled.watched.includes(path.join(folder, 'transforms', name)), name)
  }
  assert.ok(inputs.some((input) => /define\.[tj]s$/.test(input)))
})

test('a damaged or deleted bundle or map is made again', async (t) => {
  const { bundleOne, restart, load } = await createTransforms(t, two)
  const { file } = await bundleOne('a.ts')
  const code = await readFile(file, 'utf8')
  for (const damage of [
    () => rm(file),
    () => rm(`${file}.map`),
    () => truncate(file, 10),
    () => writeFile(`${file}.map`, '{}'),
  ]) {
    await damage()
    assert.equal((await bundleOne('a.ts')).file, file)
    assert.equal(await readFile(file, 'utf8'), code)
    await damage()
    const later = restart()
    await later.bundleOne('a.ts')
    assert.deepEqual(later.built, ['a.ts'])
    assert.ok((await stat(`${file}.map`)).size > 2)
  }
  assert.equal((await load('a.ts')).default(), 1)
})

test('a cache entry that cannot be read, or that another version of the bundler made, is not used', async (t) => {
  const { bundleOne, folder, restart } = await createTransforms(t, two)
  await bundleOne('a.ts')
  const data = path.join(folder, 'data/transforms')
  const name = (await readdir(data)).find((each) => each.endsWith('.json')) ?? assert.fail()
  const record = await readFile(path.join(data, name), 'utf8')
  for (const text of ['', '{', '[]', record.replace(/(esbuild\/package\.json\\":\\")[^"\\]*/, '$10')]) {
    assert.notEqual(text, record)
    await writeFile(path.join(data, name), text)
    const later = restart()
    await later.bundleOne('a.ts')
    assert.deepEqual(later.built, ['a.ts'], text)
  }
})

test("bundles are readable by the gateway's user alone, and no unfinished file is left", async (t) => {
  const { bundle, bundleOne, folder } = await createTransforms(t, { ...two, 'transforms/bad.ts': '(' })
  await bundle('a.ts', 'other.ts', 'bad.ts')
  const { digest } = await bundleOne('a.ts')
  const data = path.join(folder, 'data/transforms')
  assert.equal((await stat(data)).mode & 0o777, 0o700)
  const names = await readdir(data)
  for (const name of names) {
    assert.match(name, /^(?:[0-9a-f]{64}\.mjs(?:\.map)?|[0-9a-f]{32}\.json)$/)
    assert.equal((await stat(path.join(data, name))).mode & 0o777, 0o600)
  }
  assert.ok(names.includes(`${digest}.mjs`))
  assert.equal(names.length, 6)
})

test('sweeping keeps the named bundles and those of the last request', async (t) => {
  const { bundler, bundleOne, write, folder } = await createTransforms(t, two)
  const digests: string[] = []
  for (const value of [1, 2, 3, 4]) {
    await write({ 'transforms/lib/b.ts': `export const b = ${value}` })
    digests.push((await bundleOne('a.ts')).digest)
  }
  const [first, , , last] = digests
  const data = path.join(folder, 'data/transforms')
  await writeFile(path.join(data, 'someone.else'), '')
  await writeFile(path.join(data, 'old.next'), '')
  await utimes(path.join(data, 'old.next'), 0, 0)
  await writeFile(path.join(data, 'young.next'), '')
  await bundler.sweep([first ?? ''])
  const names = (await readdir(data)).filter((name) => !/\.(?:map|json)$/.test(name)).sort()
  assert.deepEqual(names, [`${first}.mjs`, `${last}.mjs`, 'someone.else', 'young.next'].sort())
  await write({ 'transforms/lib/b.ts': 'export const b = 2' })
  assert.equal((await bundleOne('a.ts')).digest, digests[1])
})

test('many modules are bundled together', async (t) => {
  const names = Array.from({ length: 30 }, (_, index) => `module-${index}.ts`)
  const { bundle } = await createTransforms(
    t,
    Object.fromEntries(names.map((name) => [`transforms/${name}`, `export default () => '${name}'`])),
  )
  const bundled = await bundle(...names)
  assert.equal(bundled.ok && bundled.bundles.size, names.length)
  assert.deepEqual(bundled.ok && [...bundled.bundles.keys()], names)
})
