import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { isPluginError } from '@reveille/kit'
import { checkPlugins, PluginSetupError } from '../../runtime/plugin/index.ts'
import { atEnd } from '../../test/at-end.ts'
import type { CommandConfiguration } from './configuration.ts'
import { createEnsureFolder } from './folder.ts'
import { recipes } from './recipes/recipes.ts'
import { compileSettings } from './settings.ts'
import { sessionIdOf } from './state.ts'

type Settings = Parameters<typeof checkPlugins>[0]

/** Checks a configuration as `reveille check` does: by the schema, and by none of the plugin's code. */
function check(runners: Readonly<Record<string, object>>): void {
  const named = Object.entries(runners).map(([name, config]) => [name, { kind: 'command', ...config }])
  const agents = { defaults: { runner: 'echo' }, runners: Object.fromEntries(named) }
  checkPlugins({ agents, channels: {}, sources: {}, observers: {}, plugins: [] } as unknown as Settings)
}

const host = { environment: {}, isWindows: false }

test('a recipe is a configuration that any user could have written', () => {
  check(recipes)
  for (const recipe of Object.values(recipes)) compileSettings(recipe, host)
})

const refusedAtCheck: readonly [Record<string, unknown>, RegExp][] = [
  [{}, /command is required/],
  [{ preset: 'chatgpt' }, /preset must be one of claude, codex/],
  [{ command: 'x', arguments: [] }, /arguments is not a known key/],
  [{ command: ' ' }, /command must match/],
  [{ command: 'x', args: [[[]]] }, /args/],
  [{ command: 'x', thinking: { max: [] } }, /thinking\.max is not a known key/],
  [{ command: 'x', cwd: 'work' }, /cwd must match/],
  [{ command: 'x', killGrace: '5 seconds' }, /killGrace must match/],
  [{ command: 'x', env: { REVEILLE_TOKEN: 'x' } }, /env/],
  [{ command: 'x', envAllow: ['REVEILLE_*'] }, /envAllow\.0 must match/],
  [{ command: 'x', output: { text: 'reply' } }, /output\.text/],
  [{ command: 'x', retryableExitCodes: [0] }, /retryableExitCodes\.0/],
]

test('a configuration that the schema refuses names its key', () => {
  const runners = refusedAtCheck.map(([config], index) => [`mine-${index}`, config])
  assert.throws(
    () => check(Object.fromEntries(runners)),
    (error) => {
      assert.ok(error instanceof PluginSetupError, String(error))
      for (const [index, [, message]] of refusedAtCheck.entries()) {
        const own = error.problems.filter(({ key }) => key.startsWith(`agents.runners.mine-${index}.`))
        assert.match(own.map((problem) => `${problem.key} ${problem.message}`).join('\n'), message)
      }
      return true
    },
  )
})

const refusedAtSetup: readonly [CommandConfiguration, RegExp][] = [
  [{ command: 'x', args: ['--model', '{modle}'] }, /args\[1\] holds \{modle\}.*known: prompt, model/],
  [{ command: 'x', args: ['--{model}'] }, /args\[0\] lets a value name a flag/],
  [{ command: 'x', args: ['{prompt}'] }, /wants input: argument, not stdin/],
  [{ command: 'x', input: 'argument' }, /input: argument wants \{prompt\}/],
  [{ command: 'x', output: { format: 'jsonl' } }, /output\.text is required with output\.format: jsonl/],
  [{ command: 'x', env: { ASKED: '{prompt}' } }, /env\.ASKED holds \{prompt\}/],
  [{ command: 'x', lost: ['('] }, /lost\[0\] is no regular expression/],
  [{ command: 'x', modelPattern: '[' }, /modelPattern is no regular expression/],
]

test('a configuration that makes no sense is refused before any turn, naming its key', () => {
  for (const [config, message] of refusedAtSetup) {
    assert.throws(
      () => compileSettings(config, host),
      (error) => isPluginError(error) && error.code === 'bad-config' && message.test(error.message),
      String(message),
    )
  }
})

test("every key beside a preset replaces the recipe's, and extra arguments follow its own", () => {
  const settings = compileSettings({ preset: 'codex', extraArgs: ['--ephemeral'], start: ['-', '--'] }, host)
  assert.deepEqual(settings.argumentsFor(false, 'low').render({ modelName: 'gpt-5' }), [
    ...['exec', '--json', '--skip-git-repo-check', '-c', 'sandbox_mode=read-only', '--model=gpt-5'],
    ...['--ephemeral', '-c', 'model_reasoning_effort=low', '-', '--'],
  ])
})

test('without cwd a program starts in a private folder of its own, apart from the configuration', async (t) => {
  const home = await mkdtemp(path.join(tmpdir(), 'reveille-home-'))
  atEnd(t, () => rm(home, { recursive: true }))
  const cwd = await createEnsureFolder(undefined, { HOME: home })()
  assert.equal(cwd, path.join(home, '.local', 'state', 'reveille', 'agent'))
  if (process.platform !== 'win32') assert.equal((await stat(cwd)).mode & 0o777, 0o700)
  const named = await createEnsureFolder(undefined, {
    HOME: home,
    XDG_STATE_HOME: path.join(home, 'state'),
  })()
  assert.equal(named, path.join(home, 'state', 'reveille', 'agent'))
})

test('the id of a session is a UUID that is the same in every release', () => {
  assert.equal(sessionIdOf('hook:pull:7'), '1dfaec07-abd2-55d0-b3ec-4070da7c72d0')
  assert.notEqual(sessionIdOf('hook:pull:8'), sessionIdOf('hook:pull:7'))
})
