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

interface PluginMistake {
  readonly name: string
  /** Keys of the package in place of good ones, or the text of `package.json`. */
  readonly description?: Readonly<Record<string, unknown>> | string
  readonly code?: string
  readonly files?: Readonly<Record<string, string>>
  readonly text: RegExp
}

const reveille = (changes: Readonly<Record<string, unknown>>) => ({ reveille: { ...manifest, ...changes } })

/** What the start is refused with. */
const atStart: readonly PluginMistake[] = [
  {
    name: 'a package without a manifest',
    description: { reveille: undefined },
    text: /without a `reveille` key/,
  },
  {
    name: 'a manifest that is a text',
    description: { reveille: './plugin.json' },
    text: /without a `reveille` key/,
  },
  {
    name: 'a package.json that is not JSON',
    description: '{ name: radio }',
    text: /package\.json is not a JSON object/,
  },
  {
    name: 'a misspelt key in the manifest',
    description: reveille({ chanels: ['radio'] }),
    text: /`reveille\.chanels` is not a known key/,
  },
  {
    name: 'a manifest without a kit',
    description: reveille({ kit: undefined }),
    text: /asks for no version of the kit/,
  },
  {
    name: 'the kit of a later contract',
    description: reveille({ kit: 99 }),
    text: /asks for version 99 of the kit/,
  },
  {
    name: 'a kit as a range',
    description: reveille({ kit: '^1.0.0' }),
    text: /asks for no version of the kit/,
  },
  {
    name: 'channels as a text',
    description: reveille({ channels: 'radio' }),
    text: /`reveille\.channels` is not a list of names/,
  },
  {
    name: 'a channel named with a space',
    description: reveille({ channels: ['my radio'] }),
    text: /there is no such channel/,
  },
  {
    name: 'a manifest that names nothing',
    description: { reveille: { kit: 1, configSchema: './schema.json' } },
    text: /there is no such channel/,
  },
  {
    name: 'a manifest without a schema',
    description: reveille({ configSchema: undefined }),
    text: /without `reveille\.configSchema`/,
  },
  {
    name: 'a schema that is missing',
    description: reveille({ configSchema: './none.json' }),
    text: /configuration schema can be used/,
  },
  {
    name: 'a schema outside of the package',
    description: reveille({ configSchema: '../none.json' }),
    text: /not a path inside the package/,
  },
  {
    name: 'a schema that is no schema',
    files: { 'radio/schema.json': '{ "type": "strin" }' },
    text: /configuration schema can be used/,
  },
  {
    name: 'an entry that is missing',
    description: { exports: './dist/index.js' },
    text: /Cannot find module \S+dist\/index\.js/,
  },
  {
    name: 'a package without an entry',
    description: { exports: { './other': './index.js' } },
    text: /a package without an entry/,
  },
  {
    name: 'no default export',
    code: 'export const plugin = {}\n',
    text: /no default export made by definePlugin/,
  },
  {
    name: 'a default export that is a function',
    code: `export default () => (${whole})\n`,
    text: /no default export made by definePlugin/,
  },
  {
    name: 'a class as the default export',
    code: 'export default class Radio {}\n',
    text: /no default export made by definePlugin/,
  },
  {
    name: 'module.exports in a module',
    code: `module.exports = { name: 'radio-plugin', setup() {} }\n`,
    text: /module is not defined in ES module scope/,
  },
  {
    name: 'a plugin without setup',
    code: `export default { name: 'radio-plugin' }\n`,
    text: /no default export made by definePlugin/,
  },
  {
    name: 'a syntax error',
    code: 'export default {\n  name: "radio-plugin"\n  setup() {}\n}\n',
    text: /index\.js:3: SyntaxError: Unexpected identifier 'setup'/,
  },
  {
    name: 'a package that is not installed',
    code: `import 'nobody-has-this'\n${plugin(whole)}`,
    text: /Cannot find package 'nobody-has-this'/,
  },
  {
    name: 'a file that is not there',
    code: `import './none.js'\n${plugin(whole)}`,
    text: /Cannot find module \S+none\.js/,
  },
  { name: 'a throw at the top', code: `throw new Error('not today')\n`, text: /index\.js:1:7: not today/ },
  {
    name: 'a throw in setup',
    code: `export default { name: 'radio-plugin', setup() { throw new Error('no signal') } }\n`,
    text: /cannot be set up: no signal/,
  },
  {
    name: 'a throw of a text in setup',
    code: `export default { name: 'radio-plugin', setup() { throw 'no signal' } }\n`,
    text: /cannot be set up: no signal/,
  },
  {
    name: 'a rejection in setup',
    code: `export default { name: 'radio-plugin', async setup() { await null.x } }\n`,
    text: /cannot be set up: Cannot read properties of null/,
  },
  { name: 'a setup that returns nothing', code: plugin('undefined'), text: /its setup brought none/ },
  { name: 'a setup that returns a text', code: plugin(`'radio'`), text: /its setup brought none/ },
  {
    name: 'a setup that returns no channel',
    code: plugin(`{ runners: [${runner}] }`),
    text: /a channel radio, and its setup brought none/,
  },
  {
    name: 'a setup that returns channels as a map',
    code: plugin(`{ channels: { radio: ${channel} }, runners: [${runner}] }`),
    text: /return `channels` as a list/,
  },
  {
    name: 'a channel with another id',
    code: plugin(whole.replace(`'radio'`, `'radios'`)),
    text: /a channel radio, and its setup brought none/,
  },
  {
    name: 'a channel without send',
    code: plugin(whole.replace('async send()', 'async post()')),
    text: /`send` has to be a function/,
  },
  {
    name: 'a channel without limits',
    code: plugin(whole.replace('limits:', 'limit:')),
    text: /`limits` has to be an object/,
  },
  {
    name: 'a channel with limits as a number',
    code: plugin(whole.replace(`{ part: 100, unit: 'utf16' }`, '100')),
    text: /`limits` has to be an object and is 100/,
  },
  {
    name: 'a channel without render',
    code: plugin(whole.replace('render:', 'format:')),
    text: /`render` has to be a function/,
  },
  {
    name: 'a channel without target',
    code: plugin(whole.replace('target:', 'address:')),
    text: /`target` has to be a function/,
  },
  {
    name: 'a runner without run',
    code: plugin(whole.replace('run: async', 'execute: async')),
    text: /`run` has to be a function/,
  },
  {
    name: 'a close that is no function',
    code: plugin(whole.replace('{ channels', '{ close: true, channels')),
    text: /`close`, which its setup returned, has to be a function/,
  },
]

/** What fails a run, because it only shows then. */
const inRun: readonly PluginMistake[] = [
  {
    name: 'a runner that returns nothing',
    code: plugin(whole.replace(`({ reply: 'on air' })`, '{}')),
    text: /answered without a reply/,
  },
  {
    name: 'a runner that returns a text',
    code: plugin(whole.replace(`({ reply: 'on air' })`, `'on air'`)),
    text: /answered without a reply/,
  },
  {
    name: 'a runner whose reply is an object',
    code: plugin(whole.replace(`reply: 'on air'`, `reply: { text: 'on air' }`)),
    text: /answered without a reply/,
  },
  {
    name: 'a runner that throws a text',
    code: plugin(whole.replace(`({ reply: 'on air' })`, `{ throw 'no signal' }`)),
    text: /no signal/,
  },
  {
    name: 'a runner that is not asynchronous',
    code: plugin(whole.replace(`async () => ({ reply: 'on air' })`, `() => null`)),
    text: /answered without a reply/,
  },
]

function start(
  t: TestContext,
  { description: changes = {}, code = plugin(whole), files = {} }: PluginMistake,
) {
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

for (const mistake of atStart) {
  test(`a plugin is refused at the start for ${mistake.name}`, async (t) => {
    const refused = await start(t, mistake).then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.ok(refused instanceof ConfigurationError, String(refused))
    assert.match(refused.message, mistake.text)
  })
}

for (const mistake of inRun) {
  test(`a run fails, and says why, for ${mistake.name}`, async (t) => {
    const { post, ended } = await start(t, mistake)
    const { body } = await post('/hooks/a', {})
    const run = await ended(body['runId'])
    assert.equal(run.state, 'failed')
    assert.match(JSON.stringify(run.error), mistake.text)
  })
}
