import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import {
  defineTransform,
  exampleContext,
  isPrompt,
  type Prompt,
  prompt,
  refuse,
  refusedStatus,
} from './define.ts'

const compiler = path.join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')

/** Checks a file with the settings that an editor finds in a folder of transforms. */
function typecheck(file: string): Promise<string> {
  const options = ['--noEmit', '--strict', '--target', 'es2024', '--lib', 'es2024,webworker', '--types', '*']
  const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--allowImportingTsExtensions']
  const args = [
    compiler,
    '--ignoreConfig',
    '--pretty',
    'false',
    '--noImplicitReturns',
    ...options,
    ...modules,
  ]
  return new Promise((resolve) => {
    execFile(process.execPath, [...args, file], { cwd: path.dirname(file) }, (_error, stdout) =>
      resolve(stdout),
    )
  })
}

test('valid transforms type-check and invalid ones do not, in the settings of authors', async () => {
  assert.equal(await typecheck(path.join(import.meta.dirname, 'define.types.ts')), '')
})

test('a type error names the field that is wrong', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-types-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'wrong.ts')
  const define = path.join(import.meta.dirname, 'define.ts')
  const lines = [
    `import { defineTransform } from '${define}'`,
    "export const outsider = defineTransform(({ payload }) => ({ message: payload.a, sesionKey: 'x' }))",
    "export const value = defineTransform(async ({ payload }) => ({ message: payload.a, mode: 'later' }))",
  ]
  await writeFile(file, lines.join('\n'))
  const reports = await typecheck(file)
  assert.match(reports, /^wrong\.ts\(2,.*NoSuchField<"sesionKey">/m)
  assert.match(reports, /^wrong\.ts\(3,.*'"later"' is not assignable.*"next-heartbeat"/ms)
  assert.equal(reports.match(/^wrong/gm)?.length, 2)
})

const parts = (made: Prompt) => made.parts

test('defineTransform returns the very function that it is given', () => {
  const transform = () => null
  assert.equal(defineTransform(transform), transform)
})

test('in a prompt the literals are the author’s, and each value has a name of its own', () => {
  assert.deepEqual(parts(prompt`Look at ${'x'} and ${7}${true}.`), [
    { literal: 'Look at ' },
    { value: 'x', path: 'value 1' },
    { literal: ' and ' },
    { value: '7', path: 'value 2' },
    { value: 'true', path: 'value 3' },
    { literal: '.' },
  ])
})

test('in a prompt an absent, null or empty value adds nothing, and an object is compact JSON', () => {
  assert.deepEqual(parts(prompt`a${undefined}b${null}c${''}d${{ e: [1, null] }}`), [
    { literal: 'a' },
    { literal: 'b' },
    { literal: 'c' },
    { literal: 'd' },
    { value: '{"e":[1,null]}', path: 'value 1' },
  ])
  assert.deepEqual(parts(prompt`${[]}${[1, 'two']}`), [
    { value: '[]', path: 'value 1' },
    { value: '[1,"two"]', path: 'value 2' },
  ])
})

test('a prompt within a prompt keeps its literals, and its values are numbered on', () => {
  const inner = prompt`by ${'ada'}`
  assert.deepEqual(parts(prompt`${'x'} ${inner} ${inner}`), [
    { value: 'x', path: 'value 1' },
    { literal: ' ' },
    { literal: 'by ' },
    { value: 'ada', path: 'value 2' },
    { literal: ' ' },
    { literal: 'by ' },
    { value: 'ada', path: 'value 3' },
  ])
})

test('a list of prompts has one on each line, without those that are absent', () => {
  const lines = [prompt`- ${'a'}`, null, undefined, prompt`- ${'b'}`, 'c']
  assert.deepEqual(parts(prompt`${lines}`), parts(prompt.join(lines)))
  assert.equal(String(prompt`${lines}`), '- a\n- b\nc')
  assert.deepEqual(parts(prompt.join(lines)).at(-1), { value: 'c', path: 'value 3' })
})

test('a separator of prompt.join counts as the author’s words, and joining nothing gives an empty prompt', () => {
  assert.deepEqual(parts(prompt.join(['a', 'b'], ', ')), [
    { value: 'a', path: 'value 1' },
    { literal: ', ' },
    { value: 'b', path: 'value 2' },
  ])
  assert.equal(String(prompt.join(['a', prompt`b`], '')), 'ab')
  assert.deepEqual(parts(prompt.join([])), [])
  assert.deepEqual(parts(prompt.join([null])), [])
})

test('a prompt is recognised by its mark, which no payload can have', () => {
  assert.ok(isPrompt(prompt`a`))
  assert.ok(!isPrompt({ parts: [{ literal: 'obey' }], toString: () => 'obey' }))
  assert.ok(!isPrompt(JSON.parse('{"parts": [{"literal": "obey"}]}')))
  for (const other of [null, undefined, 'a', ['a']]) assert.ok(!isPrompt(other))
})

test('prompts of the same text are deeply equal, convert to that text, and cannot be changed', () => {
  assert.deepEqual(prompt`a ${1}`, prompt`a ${1}`)
  assert.notDeepEqual(prompt`a ${1}`, prompt`a ${'1 '}`)
  assert.equal(`${prompt`a ${1}`}`, 'a 1')
  assert.throws(() => Object.assign(prompt`a`, { parts: [] }), TypeError)
  assert.throws(() => (parts(prompt`a`) as unknown[]).push({ literal: 'b' }), TypeError)
})

test('an example context has every field, and takes those that it is given', () => {
  const context = exampleContext({ payload: { number: 42 }, headers: { 'x-github-event': 'push' } })
  assert.equal(context.payload.number, 42)
  assert.deepEqual(context.headers, { 'x-github-event': 'push' })
  assert.deepEqual(JSON.parse(new TextDecoder().decode(context.rawBody)), context.payload)
  assert.equal(context.now.toISOString(), '2026-01-01T00:00:00.000Z')
  assert.deepEqual(context.base, { action: 'agent' })
  assert.equal(exampleContext({ payload: null, base: { action: 'wake' } }).base.action, 'wake')
})

test('refuse throws an error that is recognised by its mark, for the statuses that are free', () => {
  assert.throws(
    () => refuse(404, 'gone'),
    (error: unknown) => refusedStatus(error) === 404 && /^Refusal: gone$/.test(String(error)),
  )
  for (const status of [401, 407, 408, 429, 399, 500, 404.5, '404'])
    assert.throws(
      () => refuse(status as number, 'this'),
      (error: unknown) =>
        refusedStatus(error) === undefined &&
        /^RangeError: refuse takes a status from 400 to 499 but 401, 407, 408 and 429, not /.test(
          String(error),
        ),
    )
  for (const forged of [new Error('gone'), null, { [Symbol.for('reveille.refusal')]: 200 }])
    assert.equal(refusedStatus(forged), undefined)
})
