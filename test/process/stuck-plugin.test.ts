/** Tests a plugin that never ends to be imported or set up: the command line and a reload report it, and a gateway goes on. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { createFolder } from '../installation.ts'
import { bareConfiguration, build, limit, runReveille, startReveille } from './reveille-process.ts'

before(build)

/** Lets the 30 s that a plugin has last a hundredth of them. */
const impatient = `const { setTimeout } = globalThis
globalThis.setTimeout = (run, ms, ...rest) => setTimeout(run, ms === 30_000 ? 300 : ms, ...rest)
`
const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(impatient)}` }

const files = (code: string) => ({
  'reveille.yaml': `${bareConfiguration}plugins: [./radio]
agents: { defaults: { runner: dj } }
`,
  'radio/package.json': JSON.stringify({
    name: 'radio-plugin',
    type: 'module',
    exports: './index.js',
    reveille: { kit: 1, runners: ['dj'], configSchema: './schema.json' },
  }),
  'radio/schema.json': '{ "type": "object", "properties": {}, "additionalProperties": false }',
  'radio/index.js': code,
})

const runner = "{ runners: [{ id: 'dj', run: async () => ({ reply: 'on air' }) }] }"
const good = `export default { name: 'radio', setup: () => (${runner}) }\n`
const place = 'reveille\\.yaml:4:\\d+: error: agents\\.defaults\\.runner'

const stuck: readonly { readonly name: string; readonly code: string; readonly says: string }[] = [
  {
    name: 'whose setup never resolves',
    code: "export default { name: 'radio', setup: () => new Promise(() => {}) }\n",
    says: 'setup of the plugin radio-plugin did not end within 30 s',
  },
  {
    name: 'whose setup waits in a loop',
    code: `import { setImmediate } from 'node:timers/promises'
export default { name: 'radio', async setup() { for (;;) await setImmediate() } }\n`,
    says: 'setup of the plugin radio-plugin did not end within 30 s',
  },
  {
    name: 'whose import never resolves',
    code: `await new Promise(() => {})\n${good}`,
    says: 'import of the plugin radio-plugin did not end within 30 s',
  },
]

for (const [index, { name, code, says }] of stuck.entries())
  for (const command of index === 0 ? ['check', 'start'] : ['check'])
    test(`${command} refuses a plugin ${name}, with the place and the deadline`, limit, async (t) => {
      const cwd = await createFolder(t, files(code))
      const { code: exitCode, out, err } = await runReveille(t, [command], { cwd, env })
      assert.equal(exitCode, 1, err)
      assert.match(out + err, new RegExp(`${place}.*${says} \\[PLUGIN_SETUP\\]`))
      assert.doesNotMatch(out + err, /unsettled/)
    })

for (const { name, code, says } of stuck.slice(0, 1))
  test(`a reload refuses a plugin ${name}, and the gateway goes on and reloads again`, limit, async (t) => {
    const cwd = await createFolder(t, files(good))
    const gateway = await startReveille(t, cwd, { env })
    const reload = () => runReveille(t, ['reload'], { cwd })
    await writeFile(join(cwd, 'radio/index.js'), code)
    const refused = await reload()
    assert.equal(refused.code, 1)
    assert.match(refused.out + refused.err, new RegExp(says))
    assert.equal((await gateway.post('/hooks/agent', { message: 'hello' })).status, 202)
    await writeFile(join(cwd, 'radio/index.js'), good.replace('on air', 'on air again'))
    const again = await reload()
    assert.equal(again.code, 0, again.out + again.err)
  })
