/** Runs a gateway of one file, whose reloads a script tells step by step, for tests. */

import assert from 'node:assert/strict'
import { configurationOf, type Mapping } from '../compile/fixture.ts'
import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration, Loaded } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { Settings } from '../config/settings.ts'
import type { Bundle, Bundled, OpenedModule } from '../transform/port.ts'
import { CandidateError } from './candidate.ts'
import type { GenerationArchive } from './generation.ts'
import { createMemoryArchive } from './memory-archive-fixture.ts'
import type { ReloadEvent, ReloadResult } from './reload-event.ts'
import { createReloader, type ReloaderOptions } from './reloader.ts'

const file = '/etc/reveille.yaml'
export const place = { file: '/etc/transforms/review.ts', line: 1, column: 1, text: '' }
const found = (code: string, more: Partial<Diagnostic> = {}): Diagnostic => {
  return { severity: 'error', code, message: code, place, ...more }
}

/** The step that fails for the next candidate. */
type Fault = 'bundle' | 'compile' | 'load' | 'test' | 'warn' | 'prepare'

interface World {
  /** The text of the one file. `broken …` does not load, `unfit …` does not compile. */
  text: string
  /** The value of a reference in it. */
  secret: string
  port: number
  /** The digest of the one transform's bundle. Absent: there is no transform. */
  bundle: string | undefined
  fault: Fault | undefined
  /** Distinguishes two faults of a kind. */
  message: string
  tests: 'required' | 'optional'
  /** Holds back a load; the text is read after it. */
  beforeLoad: () => Promise<void>
}

/** Makes a reloader on one file. Another one with the same archive is the same gateway after a restart. */
export function createBench(
  archive: GenerationArchive = createMemoryArchive(),
  parts: Partial<ReloaderOptions> = {},
) {
  const world: World = {
    ...{ text: 'one', secret: 's', port: 1, bundle: undefined, fault: undefined, message: 'no' },
    ...{ tests: 'required', beforeLoad: async () => {} },
  }
  const events: ReloadEvent[] = []
  const story: string[] = []
  let time = 0
  const is = (fault: Fault) => world.fault === fault
  const reloader = createReloader({
    archive,
    now: () => ++time,
    async load(kept): Promise<Loaded> {
      await world.beforeLoad()
      const text = kept ? String(kept.get(file)) : world.text
      const digest = `${text} ${world.secret}`
      const watched = [file, `/etc/${text}`]
      if (text.startsWith('broken')) return { ok: false, diagnostics: [found('BAD')], watched, digest }
      const mapping: Mapping = world.bundle === undefined ? {} : { transform: { module: 'review.ts' } }
      const base = configurationOf([{ id: text, ...mapping }])
      const gateway = { ...base.settings.gateway, port: world.port } as Settings['gateway']
      const reload = { requireTests: world.tests === 'required', debounceMs: 50, restMs: 1000, poll: false }
      const settings = { ...base.settings, gateway, hooks: { ...base.settings.hooks, reload } }
      const sources = new Map([[file, text]])
      return { ok: true, configuration: { ...base, settings, digest, sources, watched } }
    },
    bundle: async (): Promise<Bundled> => {
      const watched = [place.file]
      if (is('bundle'))
        return { ok: false, diagnostics: [found('IMPORT_NOT_FOUND', { message: world.message })], watched }
      const digest = String(world.bundle)
      const bundle: Bundle = { module: 'review.ts', digest, file: `/data/${digest}.mjs` }
      return { ok: true, bundles: new Map([['review.ts', bundle]]), watched }
    },
    openTransforms([opened]: readonly OpenedModule[]) {
      const digest = opened?.bundle.digest ?? 'none'
      story.push(`open ${digest}`)
      return {
        bind: () => async () => ({ kind: 'one', action: undefined }) as const,
        start: async () =>
          is('load') ? [{ module: 'review.ts', message: 'review.ts: Error: no', place }] : [],
        release: () => void story.push(`release ${digest}`),
      }
    },
    compile({ digest, settings, mappings }: Configuration) {
      if (is('compile')) throw new TypeError('oops')
      if (digest.startsWith('unfit')) return { ok: false, diagnostics: [found('BAD')] }
      const snapshot = { digest, settings, mappings } as unknown as Snapshot
      return { ok: true, warnings: [], snapshot }
    },
    async test() {
      if (is('warn')) return [found('TEST_CALLS_OUT', { severity: 'warning' })]
      return is('test') ? [found('TEST_FAILED')] : []
    },
    prepare() {
      if (is('prepare')) throw new CandidateError([found('BAD_CHANNEL')])
      return { commit() {}, discard() {} }
    },
    ...parts,
  })
  reloader.subscribe((event) => events.push(event))
  return {
    reloader,
    world,
    events,
    story,
    /** Returns the live text of the file, and its generation. */
    live() {
      const { generation, snapshot } = reloader.current()
      return [(snapshot.mappings as unknown as { id: string }[])[0]?.id, generation]
    },
    async edit(text: string) {
      world.text = text
      return reloader.reload()
    },
  }
}

export type Bench = ReturnType<typeof createBench>

/** Makes the generations 1 `one`, 2 `two` and 3 `three`, the last one live. */
export async function withThree(bench: Bench): Promise<Bench> {
  await bench.reloader.start()
  await bench.edit('two')
  await bench.edit('three')
  return bench
}

export function states({ reloader }: Bench): readonly string[] {
  return reloader.generations().map(({ generation, state }) => `${generation ?? '-'} ${state}`)
}

/**
 * Performs steps on a gateway whose generations 1 `one`, 2 `two` and 3 `three` went live in turn. Behind each arrow are the outcome,
 * the live generation and its text, with the codes of diagnostics; a rollback is marked with `*`. Steps without an arrow change
 * the world, or say what the story of transforms was.
 */
export async function runScript(steps: string): Promise<void> {
  const archive = createMemoryArchive()
  let bench = await withThree(createBench(archive))
  for (const step of steps.split('; ')) {
    const [command = '', expected] = step.split(' → ')
    const [verb = '', ...words] = command.split(' ')
    const word = words.join(' ')
    if (verb === 'restart') {
      const { world } = bench
      await bench.reloader.close()
      bench = createBench(archive)
      Object.assign(bench.world, world, word && { text: word })
    }
    if (verb === 'close') await bench.reloader.close()
    else if (verb === 'story') assert.equal(bench.story.join(', '), word, step)
    else if (expected === undefined)
      Object.assign(bench.world, { [verb]: verb === 'port' ? Number(word) : word })
    else assert.equal(lineOf(bench, await perform(bench, verb, word)), expected, step)
  }
}

function perform({ reloader, edit }: Bench, verb: string, word: string): Promise<ReloadResult> {
  if (verb === 'restart') return reloader.start()
  if (verb === 'edit') return edit(word)
  if (verb === 'rollback') return reloader.rollback(Number(word))
  return reloader.reload({ endsRollback: verb === 'end' })
}

function lineOf(bench: Bench, { ok, outcome, rolledBack, diagnostics, changes }: ReloadResult): string {
  assert.equal(ok, outcome !== 'rejected')
  const [text, generation] = bench.live()
  const codes = diagnostics.map(({ code, severity }) => (severity === 'warning' && ok ? `(${code})` : code))
  const changed = changes.transforms.changed.map((module) => `~${module}`)
  const state = `${outcome}${rolledBack ? '*' : ''}`
  return [state, generation, text, ...codes, ...changes.restart, ...changed].join(' ')
}
