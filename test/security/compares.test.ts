/** Tests that secrets are compared in one place, in constant time, by finding every other comparison. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { createFolder } from '../installation.ts'
import { type Compare, findCompares } from './compares/find-compares.ts'

const root = resolve(import.meta.dirname, '../..')
/** By reason and file, as `findCompares` writes them. */
const listed: Record<string, Record<string, string[]>> = parse(
  readFileSync(join(import.meta.dirname, 'compares/harmless.yaml'), 'utf8'),
)
const harmless = Object.values(listed).flatMap((files) =>
  Object.entries(files).flatMap(([file, texts]) => texts.map((text) => ({ file, text }))),
)
const onePlace = 'engine/verify/compare.ts'

/** The sources that run in a gateway, without fakes and fixtures of tests. */
function isProduct(file: string): boolean {
  return (
    /^(engine|runtime|plugins)\/.*\.[jt]s$/.test(file) &&
    !/\.test\.ts$|\/fake-(?:server|programs)[/.]|\/conformance\/|\/contract\/|fixture\.ts$|\/test-bed\.ts$/.test(
      file,
    )
  )
}

const files = globSync('{engine,runtime,plugins}/**/*.{ts,js,mjs}', {
  cwd: root,
  exclude: (name) => name === 'node_modules',
})
  .map((file) => file.replaceAll('\\', '/'))
  .filter(isProduct)

test('only one module compares in constant time', () => {
  assert.ok(files.length > 300, 'the sources were found')
  const using = files.filter((file) => readFileSync(join(root, file), 'utf8').includes('timingSafeEqual'))
  assert.deepEqual(using, [onePlace])
})

test('no other module compares a value that is named like a secret, but for the listed harmless places', () => {
  const found = findCompares(root, files)
  const isHarmless = ({ file, text }: Compare) =>
    harmless.some((each) => each.file === file && each.text === text)
  assert.deepEqual(
    found
      .filter((each) => !isHarmless(each))
      .map(({ file, line, text, word }) => `${file}:${line}: ${text} (${word}): use ${onePlace}`),
    [],
  )
  const stale = harmless.filter(
    ({ file, text }) => !found.some((each) => each.file === file && each.text === text),
  )
  assert.deepEqual(stale, [], 'what is excused is still there')
})

/** Each line is one comparison that must be found. */
const guilty = [
  'given === secret',
  'request.token !== settings.hooks.token',
  'headers["x-hub-signature-256"] == right',
  'tokens.includes(given)',
  'given.startsWith(apiKey)',
  'signature.trim().toLowerCase() === right',
  'right === `sha256=${hmac(body)}`',
  'createHmac("sha256", key).update(body).digest("hex") === right',
  'byToken.get(given)',
  'allowed.has(request.bearer!)',
  'Buffer.compare(mac, right)',
  'mac.equals(right)',
  'Object.is(given, password)',
  'given in secretsByName',
  '(await signatureOf(body)) === right',
  '(isOld ? oldSecret : newSecret) === given',
  'new RegExp(right).test(token)',
]
/** Each line looks like a comparison of a secret and is none. */
const innocent = [
  'token !== undefined',
  'typeof secret === "string"',
  'token === ""',
  'secret.length === 3',
  'tokens.size === limit',
  'token.type === kind',
  '"secret === token"',
  '/^t=/.test(signature)',
  'headers.has("signature")',
  'isSameSecret(given, secret)',
]

test('the search finds a comparison however it is written, and nothing that only looks like one', async (t) => {
  const lines = (expressions: readonly string[]) => expressions.map((each) => `void (${each})`).join('\n')
  const sources = {
    'engine/guilty.ts': lines(guilty),
    'engine/switch.ts': 'switch (request.token) { case right: break }',
    'engine/verify/named.ts': 'void (given === right)',
    'engine/innocent.ts': `${lines(innocent)}\n// given === secret\nvoid (given === right)`,
  }
  const found = findCompares(await createFolder(t, sources), Object.keys(sources))
  const linesOf = (name: string) => [
    ...new Set(found.filter(({ file }) => file === `engine/${name}.ts`).map(({ line }) => line)),
  ]
  const named = linesOf('guilty').map((line) => guilty[line - 1])
  assert.deepEqual(named, guilty)
  assert.deepEqual([linesOf('switch'), linesOf('verify/named'), linesOf('innocent')], [[1], [1], []])
})
