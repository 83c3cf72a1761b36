import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { checkPlugins } from '../../runtime/plugin/index.ts'
import { atEnd } from '../../test/at-end.ts'
import type { CommandConfiguration } from './configuration.ts'
import { openCall, setUpRunner, turnOf } from './fake-programs/fake-program.ts'
import { allowedVariables } from './input/environment.ts'
import { placeholders } from './input/placeholder.ts'
import { recipes } from './recipes/recipes.ts'
import { compileSettings } from './settings.ts'

const page = await readFile(path.join(import.meta.dirname, 'README.md'), 'utf8')

function examplesOf(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text = '']) => text,
  )
}

type Runners = Readonly<Record<string, CommandConfiguration & { readonly kind: string }>>

const configured = examplesOf('yaml').map(
  (text) => (parse(text) as { agents: { runners: Runners } }).agents.runners,
)

test('each example of the page is a configuration that starts', () => {
  const presets = Object.values(configured[0] ?? {}).flatMap(({ preset }) => preset ?? [])
  assert.deepEqual(presets, Object.keys(recipes))
  for (const runners of configured) {
    const agents = { defaults: { runner: 'echo' }, runners }
    checkPlugins({ agents, channels: {}, sources: {}, observers: {}, plugins: [] } as unknown as Parameters<
      typeof checkPlugins
    >[0])
    for (const config of Object.values(runners))
      compileSettings(config, { environment: {}, isWindows: false })
  }
})

test('the program of the page answers two turns of one conversation', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-readme-'))
  atEnd(t, () => rm(folder, { recursive: true }))
  const script = path.join(folder, 'mine.mjs')
  await writeFile(script, examplesOf('js')[0] ?? '')
  const { kind: _, ...given } = configured.at(-1)?.['mine'] ?? assert.fail('the page has an example')
  const config = { ...given, command: process.execPath, args: [script], cwd: folder }
  const { runner, close } = await setUpRunner(config)
  atEnd(t, close)
  const first = await runner.run(turnOf('One.'), openCall())
  assert.equal(first.reply, 'That was number 1: One.')
  const second = await runner.run(turnOf('Two.', { state: first.state }), openCall())
  assert.equal(second.reply, 'That was number 2: Two.')
})

test('the page names every placeholder and every recipe', () => {
  for (const name of placeholders) assert.ok(page.includes(`\`{${name}}\``), name)
  for (const recipe of Object.keys(recipes)) assert.ok(page.includes(`\`${recipe}\``), recipe)
})

test('no variable that is allowed by default can hold a credential', () => {
  for (const name of allowedVariables) assert.doesNotMatch(name, /TOKEN|SECRET|KEY|PASS|AUTH|PROXY|CRED/i)
})
