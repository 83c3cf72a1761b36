/** Tests that an edited plugin of a folder goes live without a restart, with all of its modules. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration, install } from '../installation.ts'
import { runReveille } from '../process/reveille-process.ts'

const files = {
  'reveille.yaml': configuration
    .replace('plugins: [', 'plugins: [./parrot, ')
    .replace('agents: {', 'agents: { defaults: { runner: parrot },'),
  'parrot/package.json': JSON.stringify({
    name: 'parrot',
    type: 'module',
    exports: './index.ts',
    reveille: { kit: 1, runners: ['parrot'], configSchema: './config.schema.json' },
  }),
  'parrot/config.schema.json': '{ "type": "object" }',
  'parrot/words/ports.json': '{ "main": "Pier 4" }',
  'parrot/tsconfig.json':
    '{ "compilerOptions": { "experimentalDecorators": true, "paths": { "~/*": ["./words/*"] } } }',
  'parrot/words/tone.ts':
    'export enum Tone { Warm, Cold }\nexport namespace Tones { export const first = Tone[0] }\n',
}

test('an edited plugin is read again with its modules and the syntax of transforms, a broken one changes nothing, and a repaired one goes live', async (t) => {
  const { gateway, post, ended, write, board, folder } = await install(t, {
    ...files,
    'parrot/index.ts': parrot('Hello'),
  })
  const said = async () => {
    const { body } = await post('/hooks/agent', { message: 'Say', deliver: true })
    await ended(body['runId'])
    return (await board()).at(-1)?.text
  }
  assert.equal(await said(), 'Hello from Pier 4, Warm!')
  assert.equal((await gateway.reload()).outcome, 'unchanged')
  const { code, out, err } = await runReveille(t, ['check'], { cwd: folder })
  assert.equal(code, 0, out + err)

  await write('parrot/index.ts', parrot('Ahoy'))
  assert.equal((await gateway.reload()).outcome, 'live')
  assert.equal(await said(), 'Ahoy from Pier 4, Warm!')

  for (const [text, reported] of [
    [
      'export enum Tone { Warm,\n\nexport const = 3\n',
      /cannot be imported: \S+parrot\/words\/tone\.ts:3:7: Expected/,
    ],
    [
      'interface Long {\n  a: string\n}\n\nexport namespace Tones { export const first = 1 }\nthrow new Error("no tone")\n',
      /cannot be imported: .*parrot\/words\/tone\.ts:6:7: no tone$/,
    ],
  ] as const) {
    await write('parrot/words/tone.ts', text)
    const { outcome, diagnostics } = await gateway.reload()
    assert.equal(outcome, 'rejected')
    assert.match(diagnostics[0]?.message ?? '', reported)
    assert.equal(await said(), 'Ahoy from Pier 4, Warm!')
  }
  await write('parrot/words/tone.ts', files['parrot/words/tone.ts'].replace('Tone[0]', 'Tone[1]'))
  assert.equal((await gateway.reload()).outcome, 'live')
  assert.equal(await said(), 'Ahoy from Pier 4, Cold!')
})

const parrot = (word: string) => `import { definePlugin, type Runner } from '@reveille/kit'
import ports from './words/ports.json'
import { Tones } from '~/tone'

const loud = (target: { prototype: object }) => void Object.assign(target.prototype, { mark: '!' })
@loud
class Parrot implements Runner {
  readonly id = 'parrot'
  declare mark: string
  constructor(private readonly word: string) {}
  async run() {
    return { reply: \`\${this.word} from \${ports.main}, \${Tones.first}\${this.mark}\` }
  }
}
export default definePlugin({ name: 'parrot', setup: () => ({ runners: [new Parrot('${word}')] }) })
`
