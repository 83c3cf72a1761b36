import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { editorSchemas } from '@reveille/engine'
import { createCommandLine } from '../io-fixture.ts'

test('the schema of each kind of file is printed, by default that of the configuration', async (t) => {
  const { run } = await createCommandLine(t, {})
  const { configuration, mappings } = editorSchemas()
  assert.deepEqual(JSON.parse((await run('schema')).out), configuration)
  assert.deepEqual(JSON.parse((await run('schema', 'configuration')).out), configuration)
  assert.deepEqual(JSON.parse((await run('schema', 'mappings')).out), mappings)
  assert.equal((await run('schema', 'maping')).code, 2)
})

test('a schema is written to a file, also over an older one', async (t) => {
  const { run, cwd, write } = await createCommandLine(t, {})
  const file = path.join('.schemas', 'mappings.json')
  await write(file, 'of an older version')
  const { code, out } = await run('schema', 'mappings', '--out', file)
  assert.equal(code, 0)
  assert.match(out, /^wrote \.schemas\/mappings\.json$/m)
  assert.match(out, /^# yaml-language-server: \$schema=\.\.\/\.schemas\/mappings\.json$/m)
  const configuration = await run('schema', '--out', 'one.json')
  assert.match(configuration.out, /^# yaml-language-server: \$schema=one\.json$/m)
  assert.deepEqual(JSON.parse(await readFile(path.join(cwd, file), 'utf8')), editorSchemas().mappings)
})
