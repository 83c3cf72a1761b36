import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { presetsFolder } from '../../../presets-folder.ts'
import { createCommandLine, testTranscript } from '../../io-fixture.ts'

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

testTranscript(
  {},
  `
# an unknown preset and a folder without a configuration are bad usage; without a name all presets are listed
2 $ init mapping githb
! There is no preset githb. Did you mean github? There are …generic, github, ….
2 $ init mapping github
! …no reveille.yaml in this folder, nor in local.
! Name one …write a first one: reveille init
$ init mapping
There are …generic, github, ….

Copy one, to edit: reveille init mapping …

# the copy goes where the configuration looks for mappings: here, in local, or in the folder named
+ local/reveille.yaml: hooks: { mappingsDir: ./hooks }
+ local/hooks/.keep: {}
+ other/reveille.yaml: hooks: { acton: 1 }
$ init mapping stripe --json
  "file": "local/hooks/stripe.yaml",
  "written": true
$ init mapping stripe other --json
  "file": "other/mappings/stripe.yaml",
  "written": true
`,
)
