/** Follows each recipe of docs/recipes as a reader does, in this process. The vendors' own addresses lead to fakes. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, mock, type TestContext, test } from 'node:test'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'
import type { DeliveryRecord } from '../runtime/store/port.ts'
import { atEnd } from './at-end.ts'
import { createFolder, gatewayToken, hookToken, install, until } from './installation.ts'
import {
  adapted,
  expected,
  openModels,
  openOutside,
  readRecipe,
  recipePages,
  redirects,
  runShell,
} from './recipe.ts'
import { recordedSamples } from './sample-data.ts'

const isWindows = process.platform === 'win32'
const realFetch = globalThis.fetch
/** The reply of every model; each recipe sets its own. */
let reply = ''
let models: Awaited<ReturnType<typeof openModels>>

before(async () => {
  models = await openModels(() => reply)
  mock.method(globalThis, 'fetch', (input: string | URL | Request, init?: RequestInit) => {
    const url = input instanceof Request ? input.url : String(input)
    const found = [...redirects].find(([from]) => url.startsWith(from))
    if (!found) throw new Error(`no fake answers for ${url}`)
    const to = found[1] + url.slice(found[0].length)
    return realFetch(input instanceof Request ? new Request(to, input) : to, init)
  })
})
after(async () => {
  mock.restoreAll()
  await models.close()
})

test('every recipe is in the table of contents, and has an expectation here', () => {
  const names = globSync('*.md', { cwd: recipePages }).map((page) => basename(page, '.md'))
  const recipes = names.filter((name) => name !== 'README').sort()
  assert.deepEqual(recipes, Object.keys(expected))
  const contents = readFileSync(join(recipePages, 'README.md'), 'utf8')
  for (const name of recipes) {
    assert.ok(contents.includes(`](${name}.md)`), name)
    for (const each of readRecipe(name).installs) assert.ok(contents.includes(`--prefix . ${each}`), each)
  }
})

for (const [name, { words = [], recorded }] of Object.entries(expected)) {
  test(`the recipe ${name}`, { skip: isWindows && 'its commands are for a POSIX shell' }, async (t) => {
    const { files, variables, attempt, shown } = readRecipe(name)
    reply = shown
    const outside = await openOutside(t, files['reveille.yaml'] ?? '', variables, printedTo(t))
    const env = { REVEILLE_HOOK_TOKEN: hookToken, REVEILLE_GATEWAY_TOKEN: gatewayToken, ...outside.variables }
    const written = Object.entries(env).map(([variable, value]) => `${variable}=${value}\n`)
    const pasted: Record<string, string> = { ...files, '.env': written.join('') }
    const { run } = await createCommandLine(t, pasted)
    const checked = await run('check')
    assert.equal(checked.code, 0, checked.out + checked.err)
    const tested = await run('test')
    assert.match(tested.out, /^[1-9]\d* passed/m, tested.out + tested.err)
    assert.equal(tested.code, 0)
    const linted = await run('lint')
    assert.equal(linted.code, 0, linted.out + linted.err)

    const hurried = Object.entries(pasted).map(([file, text]) => [file, adapted(text)])
    const folder = await createFolder(t, Object.fromEntries(hurried))
    await outside.installPrograms(folder)
    const { gateway, read, post } = await install(t, {}, { folder })
    const address = await gateway.listen()
    const answers = await runShell(attempt.replaceAll('http://127.0.0.1:8787', address), folder)
    assert.ok(answers.length > 0 && answers.every(({ ok }) => ok === true), JSON.stringify(answers))
    const ids = new Set(answers.map(({ runId, eventId }) => runId ?? eventId))
    assert.equal(ids.size, 1, 'all requests of the recipe give one run or event')

    const arrived = await until(() => outside.arrived(), `what ${name} delivers`)
    for (const each of [...words, ...shown.split('\n').filter((line) => line !== '')])
      assert.ok(arrived.includes(each), `${each}\n\nis not in\n\n${arrived}`)
    if (outside.handsOver) return
    const { items } = await until(async () => {
      const found = await read<{ items: readonly DeliveryRecord[] }>('/api/deliveries')
      return found.items.some(({ state }) => state === 'delivered') ? found : undefined
    }, 'the delivery')
    // The main session may answer as well.
    assert.ok(
      items.every(({ state }) => state !== 'parked'),
      JSON.stringify(items),
    )

    const sample = recorded === undefined ? undefined : sampleOf(recorded)
    if (sample === undefined) return
    const { status, body } = await post(`/hooks/${recorded?.split('/')[0]}`, sample.body, {
      ...sample.headers,
      authorization: `Bearer ${hookToken}`,
    })
    assert.ok(
      status < 300 && ['runId', 'eventId', 'actions'].some((key) => key in body),
      JSON.stringify(body),
    )
  })
}

/** Returns what the gateway's terminal channel prints; all else goes where it would. */
function printedTo(t: TestContext): () => readonly string[] {
  const printed: string[] = []
  const real = process.stdout.write.bind(process.stdout)
  const replaced = t.mock.method(
    process.stdout,
    'write',
    (chunk: string | Uint8Array, ...more: unknown[]) => {
      if (typeof chunk !== 'string' || !chunk.includes('│'))
        return Reflect.apply(real, undefined, [chunk, ...more])
      printed.push(chunk)
      for (const each of more) if (typeof each === 'function') each()
      return true
    },
  )
  atEnd(t, () => replaced.mock.restore())
  return () => printed
}

function sampleOf(name: string) {
  const [provider = ''] = name.split('/')
  return recordedSamples(provider)?.find((sample) => sample.name === name)
}
