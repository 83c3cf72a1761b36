/** Loads, compiles and asks the built-in presets for tests, as the gateway does. */

import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Catalog,
  type Compiler,
  type Configuration,
  createCompiler,
  type Diagnostic,
  loadConfiguration,
  runTests,
  type Snapshot,
  type TestResult,
  type TryResult,
  tryRequest,
} from '@reveille/engine'
import { formatDiagnostic } from '@reveille/engine/text'
import { trySurface } from '../../runtime/http/try-surface.ts'
import { presetsFolder } from '../../runtime/presets-folder.ts'
import type { Sample } from '../sample-data.ts'

const catalog: Catalog = { channels: ['terminal', 'slack'], runners: ['echo'] }

type Compiled =
  | (Extract<Awaited<ReturnType<Compiler['compile']>>, { ok: true }> & {
      readonly configuration: Configuration
    })
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

export type SoundPresets = Extract<Compiled, { ok: true }>

/** Makes a configuration that uses these presets, with more lines for hooks, and nothing else. */
export function compilePresets(presets: readonly unknown[], hooks: object = {}): Promise<Compiled> {
  return compileHooks({ ...hooks, presets })
}

/** Makes a configuration whose mapping files are copies of all presets. */
export function compileCopies(): Promise<Compiled> {
  return compileHooks({ mappingsDir: './copies' }, (home) =>
    cp(presetsFolder(), join(home, 'copies'), {
      recursive: true,
      filter: (path) => !path.endsWith('package.json'),
    }),
  )
}

async function compileHooks(different: object, furnish = async (_home: string) => {}): Promise<Compiled> {
  const home = await mkdtemp(join(tmpdir(), 'reveille-presets-'))
  try {
    await furnish(home)
    const file = join(home, 'reveille.yaml')
    const hooks = { enabled: true, token: 'hook-4fK29sLq0ZpVx81mWnB7', ...different }
    await writeFile(file, JSON.stringify({ hooks, channels: { slack: {} } }))
    const loaded = await loadConfiguration({ file, env: {}, presets: presetsFolder() })
    if (!loaded.ok) return loaded
    const { configuration } = loaded
    const compiled = await createCompiler({ randomness: countingRandomness() }).compile(
      configuration,
      catalog,
    )
    return compiled.ok ? { ...compiled, configuration } : compiled
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** Loads the presets. @throws Error with all diagnostics, warnings too */
export async function soundPresets(presets: readonly unknown[], hooks: object = {}): Promise<SoundPresets> {
  const compiled = await compilePresets(presets, hooks)
  const said = compiled.ok ? compiled.warnings : compiled.diagnostics
  if (compiled.ok && said.length === 0) return compiled
  throw new Error(said.map((each) => formatDiagnostic(each, presetsFolder())).join('\n'))
}

export function runPresetTests({ configuration, snapshot }: SoundPresets): Promise<TestResult[]> {
  return runTests({ tests: configuration.tests, snapshot, surface: trySurface })
}

/** Returns what the gateway would make of the sample, without checking its token or signature. */
export function trySample(snapshot: Snapshot, endpoint: string, sample: Sample): Promise<TryResult> {
  const { headers, body } = sample
  const received = {
    endpoint,
    headers,
    query: {},
    body: Buffer.from(body),
    now: Date.UTC(2026, 0, 2, 3, 4, 5),
  }
  return tryRequest(received, snapshot, trySurface, { dryRun: 'refuse' })
}

/** These ids are unlike any in a payload. */
function countingRandomness() {
  let count = 0
  return { mint: () => `minted-${++count}`, randomId: () => `fence${++count}` }
}

/** Returns the ids of the mappings, or the outcome. A refusal or failure is returned whole. */
export function outcomeOf({ decision }: TryResult): string {
  if (decision.outcome === 'accepted') return decision.actions.map(({ mapping }) => mapping).join(', ')
  return 'code' in decision ? JSON.stringify(decision) : decision.outcome
}

/** Returns the sample with other values at JSON Pointers that begin with `/body` or `/headers`. @throws TypeError at a missing value */
export function withChanges(sample: Sample, changes: Readonly<Record<string, unknown>>): Sample {
  // biome-ignore lint/suspicious/noExplicitAny: a body has any shape.
  const whole: Record<string, any> = { headers: { ...sample.headers }, body: JSON.parse(sample.body) }
  for (const [pointer, value] of Object.entries(changes)) {
    const keys = pointer.split('/').slice(1)
    const last = keys.pop() ?? ''
    keys.reduce((holder, key) => holder[key], whole)[last] = value
  }
  const name = `${sample.name} with ${JSON.stringify(changes)}`
  return { name, headers: whole['headers'], body: JSON.stringify(whole['body']) }
}
