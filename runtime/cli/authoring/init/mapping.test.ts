import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { presetsFolder } from '../../../presets-folder.ts'
import { createCommandLine } from '../../io-fixture.ts'

test('a preset is copied beside the configuration, whole, and never over a file', async (t) => {
  const { run, cwd, write } = await createCommandLine(t, { 'reveille.yaml': '{}\n' })
  const { code, out } = await run('init', 'mapping', 'github')
  assert.equal(code, 0)
  assert.match(out, /^wrote mappings\/github\.yaml\n\n`hooks\.presets: \[github\]` is not needed/)
  const copy = path.join(cwd, 'mappings', 'github.yaml')
  assert.equal(
    await readFile(copy, 'utf8'),
    await readFile(path.join(presetsFolder(), 'github.yaml'), 'utf8'),
  )
  assert.equal((await run('check')).code, 0)

  await write('mappings/github.yaml', 'mappings: []\n')
  const again = await run('init', 'mapping', 'github', '--json')
  assert.equal(again.code, 1)
  assert.deepEqual(JSON.parse(again.out), { file: path.join('mappings', 'github.yaml'), written: false })
  assert.deepEqual(await run('init', 'mapping', 'github'), {
    code: 1,
    out: '',
    err:
      'mappings/github.yaml is there, and is another text than the preset; nothing was written.\n' +
      'To have the preset beside it, list it under `hooks.presets`: your mappings replace its own of the same id.\n' +
      'For a copy, which must not have ids of yours: `reveille init mapping github --as my-github`\n',
  })
  assert.match(
    (await run('init', 'mapping', 'github', '--as', 'my-github')).out,
    /^wrote mappings\/my-github\.yaml\n/,
  )
  assert.equal((await run('init', 'mapping', 'github', '--as', '../github')).code, 2)
  assert.equal(await readFile(copy, 'utf8'), 'mappings: []\n')
})

test('a copy beside its preset takes precedence: its mappings replace those of the same id', async (t) => {
  const { run } = await createCommandLine(t, { 'reveille.yaml': 'hooks: { presets: [github] }\n' })
  const { mappings } = JSON.parse((await run('check', '--json')).out)
  await run('init', 'mapping', 'github')
  assert.equal(JSON.parse((await run('check', '--json')).out).mappings, mappings)
})

test('the copy goes where the configuration looks for mappings: here, in local, or in the folder named', async (t) => {
  const { run } = await createCommandLine(t, {
    'local/reveille.yaml': 'hooks: { mappingsDir: ./hooks }\n',
    'other/reveille.yaml': 'hooks: { acton: 1 }\n',
    'local/hooks/.keep': '',
  })
  const { out } = await run('init', 'mapping', 'stripe', '--json')
  assert.deepEqual(JSON.parse(out), { file: path.join('local', 'hooks', 'stripe.yaml'), written: true })
  const named = await run('init', 'mapping', 'stripe', 'other', '--json')
  assert.deepEqual(JSON.parse(named.out), {
    file: path.join('other', 'mappings', 'stripe.yaml'),
    written: true,
  })
})

test('an unknown preset and a folder without a configuration are bad usage; without a name all presets are listed', async (t) => {
  const { run } = await createCommandLine(t, {})
  const unknown = await run('init', 'mapping', 'githb')
  assert.equal(unknown.code, 2)
  assert.match(
    unknown.err,
    /^There is no preset githb\. Did you mean github\? There are .*generic, github, .*\.$/m,
  )
  const nowhere = await run('init', 'mapping', 'github')
  assert.equal(nowhere.code, 2)
  assert.match(
    nowhere.err,
    /no reveille\.yaml in this folder, nor in local\.\nName one .* write a first one: reveille init$/m,
  )
  const unnamed = await run('init', 'mapping')
  assert.equal(unnamed.code, 0)
  assert.match(unnamed.out, /^There are .*generic, github, .*\.\n\nCopy one, to edit: reveille init mapping /)
})
