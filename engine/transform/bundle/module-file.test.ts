import assert from 'node:assert/strict'
import { rename, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { createTransforms } from './fixture.ts'

test('a module outside of the transforms folder is refused, however it is named', async (t) => {
  const { diagnose, folder } = await createTransforms(t, {
    'outside.ts': 'export default () => 1',
    'transforms/a.ts': '',
    'transforms-too/a.ts': '',
  })
  const outside = path.join(folder, 'outside.ts')
  const names = ['../outside.ts', '../transforms-too/a.ts', outside, 'file:outside.ts']
  const found = (await diagnose(...names)).map(({ code, place }) => `${place?.line} ${code}`)
  assert.deepEqual(found, Array(4).fill('7 TRANSFORM_OUTSIDE'))
})

test('a link to a module may not lead out of the transforms folder, but may lead anywhere within it', async (t) => {
  const { diagnose, load, folder } = await createTransforms(t, {
    'outside/a.ts': 'export default () => 1',
    'transforms/real.ts': 'export { default } from "./shared/a.ts"',
    'transforms/deep/.keep': '',
  })
  const at = (name: string) => path.join(folder, name)
  await symlink(at('outside/a.ts'), at('transforms/out.ts'))
  await symlink(at('outside'), at('transforms/shared'))
  await symlink('../real.ts', at('transforms/deep/in.ts'))
  const reports = await diagnose('out.ts', 'shared/a.ts')
  const found = reports.map(({ code }) => code)
  assert.deepEqual(found, ['TRANSFORM_OUTSIDE', 'TRANSFORM_OUTSIDE'])
  assert.match(reports[0]?.message ?? '', /`out\.ts` is a link to .*\/outside\/a\.ts/)
  assert.equal((await load('deep/in.ts'))(), 1)
})

test('the transforms folder itself may be a link, and diagnostics use its own name', async (t) => {
  const { diagnose, load, folder } = await createTransforms(t, {
    'elsewhere/good.ts': 'export default () => 1',
    'elsewhere/bad.ts': 'export default (',
  })
  await symlink(path.join(folder, 'elsewhere'), path.join(folder, 'transforms'))
  assert.equal((await load('good.ts'))(), 1)
  assert.equal((await diagnose('bad.ts'))[0]?.place?.file, path.join(folder, 'transforms', 'bad.ts'))
})

test('a folder whose link is swapped, as Kubernetes does for mounted files, is read again', async (t) => {
  const a = 'export { value as default } from "./lib.ts"'
  const { load, folder } = await createTransforms(t, {
    ...{ 'transforms/..one/a.ts': a, 'transforms/..one/lib.ts': 'export const value = () => 1' },
    ...{ 'transforms/..two/a.ts': a, 'transforms/..two/lib.ts': 'export const value = () => 2' },
  })
  const at = (name: string) => path.join(folder, 'transforms', name)
  await symlink('..one', at('..data'))
  await symlink('..data/a.ts', at('a.ts'))
  assert.equal((await load('a.ts'))(), 1)
  await symlink('..two', at('..next'))
  await rename(at('..next'), at('..data'))
  await rm(at('..one'), { recursive: true })
  assert.equal((await load('a.ts'))(), 2)
})

test('a missing module is reported where it is named, with the nearest name or all names', async (t) => {
  const { bundle, diagnose, folder } = await createTransforms(t, {
    'transforms/dyn.ts': '',
    'transforms/review.ts': '',
    'transforms/review.test.ts': '',
    'transforms/deep/notes.md': '',
    'transforms/node_modules/revue/revue.ts': '',
  })
  const [near, far, alike] = await diagnose('revue.ts', 'invoice', 'map.ts')
  assert.match(alike?.hint ?? '', /^There are dyn\.ts, review\.ts\./)
  assert.equal(near?.message, `there is no transform \`revue.ts\` in ${path.join(folder, 'transforms')}`)
  assert.deepEqual([near?.place?.line, near?.place?.column, near?.hint], [7, 20, 'Did you mean `review.ts`?'])
  assert.equal(far?.hint, 'There are dyn.ts, review.ts. Write it with `reveille init transform invoice`.')
  const bundled = await bundle('invoice')
  assert.ok(bundled.watched.includes(path.join(folder, 'transforms', 'invoice.ts')))
})

test('a file that is neither JavaScript nor TypeScript is refused as a module', async (t) => {
  const { diagnose } = await createTransforms(t, { 'transforms/notes.md': '', 'transforms/a.yaml': '' })
  const reports = await diagnose('notes.md', 'a.yaml')
  const says = /^7 TRANSFORM_SOURCE the transform `(notes\.md|a\.yaml)` is neither JavaScript nor TypeScript$/
  for (const { code, place, message } of reports) assert.match(`${place?.line} ${code} ${message}`, says)
  assert.equal(reports.length, 2)
})

test('a missing folder is reported once, with the command that creates one', async (t) => {
  const { bundle, folder, write } = await createTransforms(t, {})
  const bundled = await bundle('a.ts', 'b.ts')
  assert.ok(!bundled.ok)
  const [{ message, hint } = assert.fail(), ...others] = bundled.diagnostics
  assert.match(message, /^the transform `a\.ts` cannot be loaded: the folder .*\/transforms does not exist/)
  assert.match(hint ?? '', /`reveille init transform NAME`/)
  assert.deepEqual(others, [])
  assert.ok(bundled.watched.includes(path.join(folder, 'transforms')))
  await write({ 'transforms/a.ts': '', 'transforms/b.ts': '' })
  assert.ok((await bundle('a.ts', 'b.ts')).ok)
})
