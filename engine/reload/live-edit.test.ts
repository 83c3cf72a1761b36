/** Tests edits from start to end with real files: watched, loaded, compiled, live. */

import assert from 'node:assert/strict'
import { rename, rm, writeFile } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import type { Snapshot } from '../compile/snapshot.ts'
import { createSampleFolder, type SampleFolder } from '../config/folder-fixture.ts'
import { loadConfiguration } from '../config/load.ts'
import type { ReloadEvent } from './reload-event.ts'
import { createReloader, type ReloaderOptions } from './reloader.ts'
import { createWatcher } from './watcher.ts'

/** The message of each mapping identifies it. */
const compile: ReloaderOptions['compile'] = ({ digest, settings, mappings }) => ({
  ok: true,
  warnings: [],
  snapshot: { digest, settings, mappings: mappings.map(({ value }) => value.message) } as unknown as Snapshot,
})

async function createBench(context: TestContext, folder: SampleFolder) {
  const env = {}
  const reloader = createReloader({
    load: () => loadConfiguration({ file: folder.at('reveille.yaml'), env }),
    compile,
    watch: createWatcher,
    now: Date.now,
    watchSettings: { debounceMs: 20 },
  })
  context.after(() => reloader.close())
  const seen: ReloadEvent[] = []
  reloader.subscribe((event) => seen.push(event))
  const started = await reloader.start()
  assert.ok(started.ok, JSON.stringify(started))
  const live = () => reloader.current().snapshot.mappings as unknown as readonly string[]

  /** Runs the step, and resolves with the first event that passes, from before the step or after it. */
  async function until(step: () => Promise<unknown>, passes: (event: ReloadEvent) => boolean): Promise<void> {
    const done = Promise.withResolvers<void>()
    const end = reloader.subscribe((event) => passes(event) && done.resolve())
    await step()
    await done.promise
    end()
  }

  return {
    reloader,
    seen,
    live,
    /** Waits until exactly these messages are live. */
    becomes: (expected: readonly string[], step: () => Promise<unknown>) =>
      until(step, ({ type }) => type === 'snapshot-swapped' && live().join() === expected.join()),
    isRejected: (code: string, step: () => Promise<unknown>) =>
      until(
        step,
        (event) => event.type === 'candidate-rejected' && event.diagnostics.some((one) => one.code === code),
      ),
  }
}

function mapping(...messages: string[]): string {
  return `mappings:\n${messages.map((message) => `  - message: ${message}\n`).join('')}`
}

const limit = { timeout: 15_000 }

test('files go live however they are saved', limit, async (context) => {
  const folder = await createSampleFolder(context, {
    'reveille.yaml': 'hooks: {}\n',
    'mappings/a.yaml': mapping('one'),
  })
  const { becomes, live } = await createBench(context, folder)
  assert.deepEqual(live(), ['one'])
  const a = folder.at('mappings/a.yaml')

  await becomes(['edited'], () => writeFile(a, mapping('edited')))
  for (const message of ['saved', 'saved-again', 'and-again']) {
    await becomes([message], async () => {
      await writeFile(`${a}~`, mapping(message))
      await rename(`${a}~`, a)
    })
  }
  await becomes(['and-again', 'new'], () => folder.write('mappings/sub/b.yaml', mapping('new')))
  await becomes(['new'], () => rm(a))
  await becomes(['back', 'new'], () => writeFile(a, mapping('back')))
  await becomes([], () => rm(folder.at('mappings'), { recursive: true }))
  await becomes(['returned'], () => folder.write('mappings/sub/b.yaml', mapping('returned')))
  await becomes(['once-more'], () => folder.write('mappings/sub/b.yaml', mapping('once-more')))
})

test('a half-written file keeps the old snapshot until it is complete', limit, async (context) => {
  const folder = await createSampleFolder(context, {
    'reveille.yaml': 'hooks: {}\n',
    'mappings/a.yaml': mapping('one'),
  })
  const { becomes, isRejected, live } = await createBench(context, folder)
  const a = folder.at('mappings/a.yaml')
  await isRejected('YAML_SYNTAX', () => writeFile(a, 'mappings:\n  - message: "half'))
  assert.deepEqual(live(), ['one'])
  await becomes(['whole'], () => writeFile(a, mapping('whole')))
  await isRejected('FILE_EMPTY', () => writeFile(folder.at('reveille.yaml'), ''))
  await isRejected('CONFIGURATION_NOT_FOUND', () => rm(folder.at('reveille.yaml')))
  assert.deepEqual(live(), ['whole'])
  const own = 'hooks: { mappings: [{ message: own }] }\n'
  await becomes(['own', 'whole'], () => writeFile(folder.at('reveille.yaml'), own))
})

test(
  'variables, secrets and folders that a configuration begins to name are watched at once',
  limit,
  async (context) => {
    const folder = await createSampleFolder(context, {
      'reveille.yaml': 'hooks: {}\n',
      '.env': 'PROMPT=a\n',
      secret: 'hook-secret-1\n',
      'others/a.yaml': mapping('other'),
    })
    const { becomes, reloader, isRejected } = await createBench(context, folder)
    const text =
      'agents: { defaults: { systemPrompt: "${PROMPT}" } }\nhooks: { token: "${file:secret}", mappingsDir: others }\n'
    await becomes(['other'], () => writeFile(folder.at('reveille.yaml'), text))
    const settings = () => reloader.current().snapshot.settings

    const swapped = (step: () => Promise<unknown>) => becomes(['other'], step)
    await swapped(() => writeFile(folder.at('.env'), 'PROMPT=b\n'))
    assert.equal(settings().agents.defaults.systemPrompt, 'b')
    await swapped(() => writeFile(folder.at('secret'), 'hook-secret-2\n'))
    assert.deepEqual(settings().hooks.tokens, ['hook-secret-2'])
    await isRejected('UNRESOLVED_REFERENCE', () => rm(folder.at('secret')))
    assert.deepEqual(settings().hooks.tokens, ['hook-secret-2'])
    await swapped(() => writeFile(folder.at('secret'), 'hook-secret-3\n'))
    assert.deepEqual(settings().hooks.tokens, ['hook-secret-3'])
  },
)

test('a change that is undone makes no generation', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'reveille.yaml': 'hooks: {}\n' })
  const { isRejected, reloader } = await createBench(context, folder)
  await isRejected('UNKNOWN_KEY', () => writeFile(folder.at('reveille.yaml'), 'hoks: {}\n'))
  await writeFile(folder.at('reveille.yaml'), 'hooks: {}\n')
  const result = await reloader.reload()
  assert.ok(result.outcome === 'unchanged')
  assert.equal(reloader.current().generation, 1)
})
