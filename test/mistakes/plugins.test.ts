/** Tests mistakes in plugins: each is refused at the start with its cause, or fails the run or the delivery with it. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ConfigurationError } from '../../runtime/reload/start.ts'
import { gatewayToken, hookToken, install } from '../installation.ts'

const manifest = { kit: 1, channels: ['radio'], runners: ['dj'], configSchema: './schema.json' }
const description = {
  name: 'radio-plugin',
  version: '1.0.0',
  type: 'module',
  exports: './index.js',
  reveille: manifest,
}

const channel = `{
  id: 'radio',
  limits: { part: 100, unit: 'utf16' },
  target: (to) => ({ key: to, kind: 'channel' }),
  render: (text) => [{ text }],
  async send() { return { id: '1' } },
}`
const runner = `{ id: 'dj', run: async () => ({ reply: 'on air' }) }`
const plugin = (parts: string) => `export default { name: 'radio-plugin', setup() { return ${parts} } }\n`
const whole = `{ channels: [${channel}], runners: [${runner}] }`

interface Change {
  /** Keys of the package in place of good ones, or the text of `package.json`. */
  readonly description?: Readonly<Record<string, unknown>> | string
  readonly code?: string
  readonly files?: Readonly<Record<string, string>>
}
type Mistakes = readonly (readonly [name: string, change: Change, text: RegExp])[]

const manifested = (description: Readonly<Record<string, unknown>> | string) => ({ description })
const reveille = (changes: Readonly<Record<string, unknown>>) =>
  manifested({ reveille: { ...manifest, ...changes } })
const coded = (code: string) => ({ code: `${code}\n` })
const replaced = (good: string, bad: string) => ({ code: plugin(whole.replace(good, bad)) })
const setUp = (setup: string) => coded(`export default { name: 'radio-plugin', ${setup} }`)
const returning = (parts: string) => ({ code: plugin(parts) })
const running = (bad: string) => replaced(`async () => ({ reply: 'on air' })`, bad)

const noSchema = /configuration schema can be used/
const noPlugin = /no default export made by definePlugin/
const noReply = /answered without a reply/

/** Errors that refuse the start. */
const atStart: Mistakes = [
  ['a package without a manifest', manifested({ reveille: undefined }), /without a `reveille` key/],
  ['a manifest that is a text', manifested({ reveille: './plugin.json' }), /without a `reveille` key/],
  ['a package.json that is not JSON', manifested('{ name: radio }'), /package\.json is not a JSON object/],
  ['a misspelt key', reveille({ chanels: ['radio'] }), /`reveille\.chanels` is not a known key/],
  ['a manifest without a kit', reveille({ kit: undefined }), /asks for no version of the kit/],
  ['the kit of a later contract', reveille({ kit: 99 }), /asks for version 99 of the kit/],
  ['a kit as a range', reveille({ kit: '^1.0.0' }), /asks for no version of the kit/],
  ['channels as a text', reveille({ channels: 'radio' }), /`reveille\.channels` is not a list of names/],
  ['a channel named with a space', reveille({ channels: ['my radio'] }), /there is no such channel/],
  [
    'no name',
    manifested({ reveille: { kit: 1, configSchema: './schema.json' } }),
    /there is no such channel/,
  ],
  ['no schema', reveille({ configSchema: undefined }), /without `reveille\.configSchema`/],
  ['a schema that is missing', reveille({ configSchema: './none.json' }), noSchema],
  ['a schema elsewhere', reveille({ configSchema: '../none.json' }), /not a path inside the package/],
  ['a schema that is no schema', { files: { 'radio/schema.json': '{ "type": "strin" }' } }, noSchema],
  ['an entry that is missing', manifested({ exports: './dist/a.js' }), /Cannot find module \S+dist\/a\.js/],
  ['no entry', manifested({ exports: { './other': './index.js' } }), /a package without an entry/],
  ['no default export', coded('export const plugin = {}'), noPlugin],
  ['a default export that is a function', coded(`export default () => (${whole})`), noPlugin],
  ['a class as the default export', coded('export default class Radio {}'), noPlugin],
  [
    'module.exports in a module',
    coded(`module.exports = { name: 'radio-plugin', setup() {} }`),
    /module is not defined in ES module scope/,
  ],
  ['a plugin without setup', coded(`export default { name: 'radio-plugin' }`), noPlugin],
  [
    'a syntax error',
    coded('export default {\n  name: "radio-plugin"\n  setup() {}\n}'),
    /index\.js:3: SyntaxError: Unexpected identifier 'setup'/,
  ],
  [
    'a missing package',
    coded(`import 'nobody-has-this'\n${plugin(whole)}`),
    /find package 'nobody-has-this'/,
  ],
  ['a missing file', coded(`import './none.js'\n${plugin(whole)}`), /Cannot find module \S+none\.js/],
  ['a throw at the top', coded(`throw new Error('not today')`), /index\.js:1:7: not today/],
  ['a throw in setup', setUp(`setup() { throw new Error('no signal') }`), /cannot be set up: no signal/],
  ['a throw of a text in setup', setUp(`setup() { throw 'no signal' }`), /cannot be set up: no signal/],
  ['a rejection', setUp('async setup() { await null.x }'), /set up: Cannot read properties of null/],
  ['a setup that returns nothing', returning('undefined'), /its setup brought none/],
  ['a setup that returns a text', returning(`'radio'`), /its setup brought none/],
  [
    'a setup that returns no channel',
    returning(`{ runners: [${runner}] }`),
    /a channel radio, and its setup brought none/,
  ],
  [
    'a setup that returns channels as a map',
    returning(`{ channels: { radio: ${channel} }, runners: [${runner}] }`),
    /return `channels` as a list/,
  ],
  ['another id', replaced(`'radio'`, `'radios'`), /a channel radio, and its setup brought none/],
  ['a channel without send', replaced('async send()', 'async post()'), /`send` has to be a function/],
  ['a channel without limits', replaced('limits:', 'limit:'), /`limits` has to be an object/],
  [
    'a channel with limits as a number',
    replaced(`{ part: 100, unit: 'utf16' }`, '100'),
    /`limits` has to be an object and is 100/,
  ],
  ['a channel without render', replaced('render:', 'format:'), /`render` has to be a function/],
  ['a channel without target', replaced('target:', 'address:'), /`target` has to be a function/],
  ['a runner without run', replaced('run: async', 'execute: async'), /`run` has to be a function/],
  [
    'a close that is no function',
    replaced('{ channels', '{ close: true, channels'),
    /`close`, which its setup returned, has to be a function/,
  ],
]

/** Errors that only a run shows. */
const inRun: Mistakes = [
  ['a runner that returns nothing', running('async () => {}'), noReply],
  ['a runner that returns a text', running(`async () => 'on air'`), noReply],
  ['a runner whose reply is an object', running(`async () => ({ reply: { text: 'on air' } })`), noReply],
  ['a runner that throws a text', running(`async () => { throw 'no signal' }`), /no signal/],
  ['a runner that is not asynchronous', running('() => null'), noReply],
]

function start(t: TestContext, { description: changes = {}, code = plugin(whole), files = {} }: Change) {
  const text = typeof changes === 'string' ? changes : JSON.stringify({ ...description, ...changes })
  return install(t, {
    'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { format: json } }
hooks: { enabled: true, token: ${hookToken}, mappings: [{ match: { path: a }, message: hello, deliver: false }] }
plugins: [./radio]
channels: { terminal: {}, radio: {} }
agents: { defaults: { runner: dj, retry: { attempts: 1 } } }
`,
    'radio/package.json': text,
    'radio/index.js': code,
    'radio/schema.json': '{ "type": "object" }',
    ...files,
  })
}

for (const [name, change, text] of atStart) {
  test(`a plugin is refused at the start for ${name}`, async (t) => {
    const refused = await start(t, change).then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.ok(refused instanceof ConfigurationError, String(refused))
    assert.match(refused.message, text)
  })
}

for (const [name, change, text] of inRun) {
  test(`a run fails, and says why, for ${name}`, async (t) => {
    const { post, ended } = await start(t, change)
    const { body } = await post('/hooks/a', {})
    const run = await ended(body['runId'])
    assert.equal(run.state, 'failed')
    assert.match(JSON.stringify(run.error), text)
  })
}
