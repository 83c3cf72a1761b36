import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { createCommandLine } from './io-fixture.ts'

const pages = path.join(import.meta.dirname, '..', '..', 'docs')

test('docs lists the pages with their titles, and prints one by its name or the end of it', async (t) => {
  const { run } = await createCommandLine(t, {})
  const { out } = await run('docs')
  assert.match(out, /^PAGE +TITLE\n/)
  assert.match(out, /^mappings {2}.*Mappings/m)
  assert.match(out, /^presets /m)
  const whole = await readFile(path.join(pages, 'reference', 'http.md'), 'utf8')
  for (const name of ['reference/http', 'http', 'docs/reference/http.md'])
    assert.equal((await run('docs', name)).out, whole, name)
  assert.match((await run('docs', 'skill')).out, /^---\nname: reveille\n/)
  const { pages: listed } = JSON.parse((await run('docs', '--json')).out)
  assert.ok(
    listed.every(({ title }: { title: string }) => title !== ''),
    JSON.stringify(listed),
  )
  assert.equal(JSON.parse((await run('docs', 'trust', '--json')).out).name, 'trust')
})

test('a page that does not exist is bad usage, and the nearest name is suggested', async (t) => {
  const { run } = await createCommandLine(t, {})
  const { code, err } = await run('docs', 'maping')
  assert.equal(code, 2)
  assert.equal(err, 'There is no page maping. Did you mean mappings? reveille docs lists all pages.\n')
})
