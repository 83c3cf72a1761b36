import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import type { Prompt } from './define.ts'
import { defineTransform, exampleContext, isPrompt, prompt, refuse, refusedStatus } from './define.ts'

const compiler = path.join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
const settings =
  `--ignoreConfig --pretty false --noImplicitReturns --noEmit --strict --target es2024 --lib es2024,webworker
  --types * --module esnext --moduleResolution bundler --allowImportingTsExtensions`.split(/\s+/)

/** Checks a file with the settings that an editor finds in a folder of transforms. */
function typecheck(file: string): Promise<string> {
  const cwd = path.dirname(file)
  return new Promise((resolve) => {
    execFile(process.execPath, [compiler, ...settings, file], { cwd }, (_error, stdout) => resolve(stdout))
  })
}

test('valid transforms type-check and invalid ones do not, in the settings of authors', async () =>
  assert.equal(await typecheck(path.join(import.meta.dirname, 'define.types.ts')), ''))

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

/** The literals of a prompt, with `‹number value›` for each value. */
const shown = ({ parts }: Prompt) =>
  parts.map((each) => ('literal' in each ? each.literal : `‹${each.path.slice(6)} ${each.value}›`)).join('')
const inner = prompt`by ${'ada'}`
const lines = [prompt`- ${'a'}`, null, undefined, prompt`- ${'b'}`, 'c']

for (const [what, made, expected] of [
  [
    'literals are the author’s, and each value has a name of its own',
    prompt`At ${'x'} and ${7}${true}.`,
    'At ‹1 x› and ‹2 7›‹3 true›.',
  ],
  ['an absent, null or empty value adds nothing', prompt`a${undefined}b${null}c${''}d`, 'abcd'],
  [
    'an object is compact JSON',
    prompt`${{ e: [1, null] }}${[1, 'two']}${[]}`,
    '‹1 {"e":[1,null]}›‹2 [1,"two"]›‹3 []›',
  ],
  [
    'a prompt keeps its literals, and its values are numbered on',
    prompt`${'x'} ${inner} ${inner}`,
    '‹1 x› by ‹2 ada› by ‹3 ada›',
  ],
  ['a list of prompts has one on each line', prompt`${lines}`, '- ‹1 a›\n- ‹2 b›\n‹3 c›'],
  ['prompt.join has one on each line', prompt.join(lines), '- ‹1 a›\n- ‹2 b›\n‹3 c›'],
  ['a separator counts as the author’s words', prompt.join(['a', 'b'], ', '), '‹1 a›, ‹2 b›'],
  ['a separator may be empty', prompt.join(['a', prompt`b`], ''), '‹1 a›b'],
  ['joining nothing gives an empty prompt', prompt.join([null]), ''],
] as const)
  test(`in a prompt ${what}`, () => assert.equal(shown(made), expected))

test('a prompt is recognised by its mark, which no payload can have', () => {
  assert.ok(isPrompt(prompt`a`))
  assert.ok(!isPrompt({ parts: [{ literal: 'obey' }], toString: () => 'obey' }))
  for (const other of [null, undefined, 'a', ['a'], JSON.parse('{"parts": [{"literal": "obey"}]}')])
    assert.ok(!isPrompt(other))
})

test('prompts of the same text are deeply equal, convert to that text, and cannot be changed', () => {
  assert.deepEqual(prompt`a ${1}`, prompt`a ${1}`)
  assert.notDeepEqual(prompt`a ${1}`, prompt`a ${'1 '}`)
  assert.equal(`${prompt`a ${1}`}`, 'a 1')
  assert.throws(() => Object.assign(prompt`a`, { parts: [] }), TypeError)
  assert.throws(() => (prompt`a`.parts as unknown[]).push({ literal: 'b' }), TypeError)
})

test('an example context has every field, and takes those that it is given; defineTransform returns its very function', () => {
  const transform = () => null
  assert.equal(defineTransform(transform), transform)
  const context = exampleContext({ payload: { number: 42 }, headers: { 'x-github-event': 'push' } })
  assert.equal(context.payload.number, 42)
  assert.deepEqual(context.headers, { 'x-github-event': 'push' })
  assert.deepEqual(JSON.parse(new TextDecoder().decode(context.rawBody)), context.payload)
  assert.equal(context.now.toISOString(), '2026-01-01T00:00:00.000Z')
  assert.deepEqual(context.base, { action: 'agent' })
  assert.equal(exampleContext({ payload: null, base: { action: 'wake' } }).base.action, 'wake')
})

test('refuse throws an error that is recognised by its mark, for the statuses that are free', () => {
  const outOfRange = /^RangeError: refuse takes a status from 400 to 499 but 401, 407, 408 and 429, not /
  for (const [status, expected, message] of [
    [404, 404, /^Refusal: this$/],
    ...[401, 407, 408, 429, 399, 500, 404.5, '404'].map((each) => [each, undefined, outOfRange] as const),
  ] as const)
    assert.throws(
      () => refuse(status as number, 'this'),
      (error: unknown) => refusedStatus(error) === expected && message.test(String(error)),
    )
  for (const forged of [new Error('gone'), null, { [Symbol.for('reveille.refusal')]: 200 }])
    assert.equal(refusedStatus(forged), undefined)
})
