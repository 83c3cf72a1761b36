/** Tests that the packages people use do in a transform what they do in plain Node.js. */

import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { install } from '../installation.ts'

/** Each uses one package and answers plain JSON. */
const packages: Readonly<Record<string, string>> = {
  'ajv, CommonJS': `import Ajv from 'ajv'
    const validate = new Ajv.default({ allErrors: true }).compile({ type: 'object', required: ['a', 'b'] })
    export default () => [validate({}), validate.errors.map(({ message }) => message)]`,
  'ajv-formats, CommonJS, with ajv as a peer': `import { Ajv } from 'ajv'
    import addFormats from 'ajv-formats'
    export default () => addFormats.default(new Ajv()).compile({ type: 'string', format: 'date' })('2026-02-30')`,
  'axios, ES with a build for each condition': `import axios from 'axios'
    export default () => axios.getUri({ url: '/a', params: { b: [1, 2] } })`,
  'dayjs, CommonJS, with plugins and locales by their paths': `import dayjs from 'dayjs'
    import 'dayjs/locale/de.js'
    import utc from 'dayjs/plugin/utc.js'
    dayjs.extend(utc)
    export default () => dayjs.utc(0).locale('de').format('dddd D. MMMM YYYY')`,
  'diff, ES': `import { diffWords } from 'diff'
    export default () => diffWords('one two', 'one three').map(({ value }) => value)`,
  'handlebars, CommonJS that reads files beside itself': `import Handlebars from 'handlebars'
    export default () => Handlebars.compile('{{#each list}}{{this}};{{/each}}')({ list: [1, '<'] })`,
  'iconv-lite, CommonJS that loads encodings lazily': `import iconv from 'iconv-lite'
    export default () => [iconv.encode('日本', 'shift_jis').toString('hex'), iconv.decode(Buffer.from('80', 'hex'), 'cp1252')]`,
  'jose, ES': `import { decodeJwt } from 'jose'
    export default () => decodeJwt('eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.')`,
  'marked, ES': `import { marked } from 'marked'
    export default () => marked.parse('# A *title*')`,
  'mime-types, CommonJS with a database in JSON': `import mime from 'mime-types'
    export default () => [mime.lookup('a.ics'), mime.extension('text/calendar')]`,
  'pino, CommonJS that starts a worker from a file beside itself': `import { once } from 'node:events'
    import { devNull } from 'node:os'
    import pino from 'pino'
    export default async () => {
      const transport = pino.transport({ target: 'pino/file', options: { destination: devNull } })
      await once(transport, 'ready')
      transport.end()
      return pino.levels.values
    }`,
  'qs, CommonJS with dependencies that look for one another': `import qs from 'qs'
    export default () => qs.parse('a[b]=1&a[c][]=2')`,
  'semver, CommonJS that loads its functions one by one': `import semver from 'semver'
    export default () => [semver.satisfies('1.2.3', '^1.0.0'), semver.inc('1.2.3', 'minor')]`,
  'twilio, CommonJS that loads its parts lazily': `import twilio from 'twilio'
    export default () => new twilio.twiml.MessagingResponse().message('Hi').toString() + Object.keys(twilio.jwt)`,
  'undici, CommonJS that loads WebAssembly and its parts lazily': `import { Headers, MockAgent } from 'undici'
    export default () => [new Headers({ A: 'b' }).get('a'), typeof new MockAgent().get('http://a.example').intercept]`,
  'yaml, CommonJS in many files': `import { parse, stringify } from 'yaml'
    export default () => [parse('a: [1, &b x, *b]'), stringify({ a: { b: 1 } })]`,
  'yargs, ES that reads its locales from files beside itself': `import yargs from 'yargs'
    export default () => {
      let help
      yargs([]).scriptName('a').locale('de').parse('--help', (_error, _values, output) => { help = output })
      return help
    }`,
  'zod, ES with CommonJS beside it': `import { z } from 'zod'
    export default () => z.object({ a: z.string() }).safeParse({ a: 1 }).error.issues`,
}

test('packages answer in a transform as they do in plain Node.js', async (t) => {
  const names = Object.keys(packages)
  const { gateway, folder, post, write } = await install(t, {
    ...Object.fromEntries(
      Object.values(packages).map((source, index) => [`transforms/package-${index}.mjs`, source]),
    ),
    ...Object.fromEntries(
      names.map((_, index) => [
        `transforms/${index}.ts`,
        `import answer from './package-${index}.mjs'
export default async () => ({ action: null, reply: { answer: await answer() } })`,
      ]),
    ),
  })
  const modules = path.resolve(import.meta.dirname, '../../node_modules')
  await symlink(modules, path.join(folder, 'node_modules'), 'junction')
  const mappings = names.map(
    (_, index) => `  - { id: m${index}, match: { path: p${index} }, transform: { module: ${index}.ts } }\n`,
  )
  await write('mappings/packages.yaml', `mappings:\n${mappings.join('')}`)
  const reloaded = await gateway.reload()
  assert.equal(reloaded.outcome, 'live', JSON.stringify(reloaded.diagnostics, null, 2))

  for (const [index, name] of names.entries()) {
    const plain = await import(pathToFileURL(path.join(folder, `transforms/package-${index}.mjs`)).href)
    const expected = JSON.parse(JSON.stringify(await plain.default()))
    const { status, body } = await post(`/hooks/p${index}`, {})
    assert.deepEqual([name, status, body['answer']], [name, 200, expected])
  }
})
