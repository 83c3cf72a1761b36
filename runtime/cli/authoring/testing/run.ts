/** Owns one run of a source's tests: which were asked for, and what became of them. */

import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { type Diagnostic, runTests, type TestEntry, type TestResult } from '@reveille/engine'
import { trialSurface } from '../../../http/index.ts'
import { tellUnset } from '../../configuration.ts'
import type { Io } from '../../io.ts'
import { type Compiled, withCompiled } from '../compile.ts'
import type { TestSource } from './source.ts'

export interface TestOutcome extends TestResult {
  /** Of a preset's test that failed: the mapping of the operator's that took its request, and that it says nothing of. */
  readonly takenBy?: string
}

export type TestRun = {
  readonly source: string
  /** Where the places of mappings start. */
  readonly folder: string
  readonly watched: readonly string[]
  readonly digest: string
  readonly tookMs: number
} & (
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }
  | {
      readonly ok: true
      readonly results: readonly TestOutcome[]
      /** How many there are, asked for or not. */
      readonly known: number
      /** Patterns that fit no test. */
      readonly unfit: readonly string[]
    }
)

/** `patterns`: files, folders, or parts of the names of tests, files and presets; a test that fits one of them is run. None: every test. */
export async function runSource(source: TestSource, patterns: readonly string[], io: Io): Promise<TestRun> {
  const startedAt = performance.now()
  const loaded = await source.load()
  const { watched, digest } = loaded.ok ? loaded.configuration : loaded
  const facts = () => ({
    source: source.name,
    folder: source.folder,
    watched,
    digest,
    tookMs: performance.now() - startedAt,
  })
  return withCompiled(loaded, io, async (compiled) => {
    if (compiled.ok) tellUnset(compiled.configuration, io)
    const watched = compiled.ok ? compiled.configuration.watched : compiled.watched
    if (!compiled.ok) return { ok: false, diagnostics: compiled.diagnostics, ...facts(), watched }
    return {
      ok: true,
      ...(await runPatterns(compiled, patterns, [io.cwd, source.folder])),
      ...facts(),
      watched,
    }
  })
}

async function runPatterns(
  { configuration, snapshot }: Pick<Extract<Compiled, { ok: true }>, 'configuration' | 'snapshot'>,
  patterns: readonly string[],
  folders: readonly string[],
) {
  const fits = patterns.map((pattern) => createFit(pattern, folders))
  const tests = configuration.tests.filter((test) => fits.length === 0 || fits.some((fit) => fit(test)))
  const own = new Set(
    configuration.mappings.flatMap(({ id, origin }) => (origin.kind === 'preset' ? [] : [id])),
  )
  const results = (await runTests({ tests, snapshot, surface: trialSurface })).map((result) =>
    outcomeOf(result, own),
  )
  const unfit = patterns.filter((_, index) => !configuration.tests.some((test) => fits[index]?.(test)))
  return { results, known: configuration.tests.length, unfit }
}

function outcomeOf(result: TestResult, own: ReadonlySet<string>): TestOutcome {
  const { test, passed, observed } = result
  if (passed || test.origin.kind !== 'preset') return result
  const takenBy = observed?.mapping?.split(', ').find((id) => own.has(id))
  return takenBy === undefined ? result : { ...result, takenBy }
}

/** What exists as a file or folder is one; anything else is a part of a name. */
function createFit(pattern: string, folders: readonly string[]): (test: TestEntry) => boolean {
  const paths = folders.map((folder) => path.resolve(folder, pattern)).filter((each) => existsSync(each))
  if (paths.length > 0) {
    const real = paths.map(realPath)
    return (test) => {
      const file = realPath(test.locate([]).file)
      return real.some((each) => file === each || file.startsWith(`${each}${path.sep}`))
    }
  }
  const part = pattern.toLowerCase()
  return ({ value, origin }) => [value.name, origin.name].some((name) => name.toLowerCase().includes(part))
}

function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
