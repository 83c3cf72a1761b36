/** Runs the tests of a source that patterns ask for. */

import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Diagnostic, runTests, type TestEntry, type TestResult } from '@reveille/engine'
import { trySurface } from '../../../http/index.ts'
import { reportUnset } from '../../configuration.ts'
import type { Io } from '../../io.ts'
import { type Compiled, withCompiled } from '../compile.ts'
import type { TestSource } from './source.ts'
import { findUnitTests, runUnitTests, type UnitRun } from './unit-tests.ts'

export interface TestOutcome extends TestResult {
  /** For a preset's test that failed: the operator's own mapping that matched its request. */
  readonly takenBy?: string
}

export type TestRun = {
  readonly source: string
  /** The folder that places of mappings are relative to. */
  readonly folder: string
  readonly watched: readonly string[]
  readonly digest: string
  readonly tookMs: number
} & (
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }
  | {
      readonly ok: true
      readonly results: readonly TestOutcome[]
      /** The number of all tests, asked for or not. */
      readonly known: number
      /** The tests of single functions beside the transforms; absent where there are none, or none were asked for. */
      readonly units?: UnitRun
      /** The patterns that match no test. */
      readonly unmatchedPatterns: readonly string[]
    }
)

/**
 * `patterns`: files, folders, or parts of the names of tests, files and presets. A test that matches one of them is run;
 * without patterns every test is.
 */
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
    if (compiled.ok) reportUnset(compiled.configuration, io)
    const watched = compiled.ok ? compiled.configuration.watched : compiled.watched
    if (!compiled.ok) return { ok: false, diagnostics: compiled.diagnostics, ...facts(), watched }
    const { configuration } = compiled
    const { transformsDir } = configuration.settings.hooks
    const files = source.hasTransforms ? await findUnitTests(transformsDir) : []
    return {
      ok: true,
      ...(await runPatterns(compiled, patterns, files, io, [io.cwd, source.folder])),
      ...facts(),
      digest: await digestOf(configuration.digest, files),
      watched: [...watched, ...files],
    }
  })
}

async function runPatterns(
  { configuration, snapshot }: Pick<Extract<Compiled, { ok: true }>, 'configuration' | 'snapshot'>,
  patterns: readonly string[],
  files: readonly string[],
  io: Io,
  folders: readonly string[],
) {
  const matchers = patterns.map((pattern) => createMatcher(pattern, folders))
  const tests = configuration.tests.filter(
    (test) => matchers.length === 0 || matchers.some((matches) => matches(test)),
  )
  const own = new Set(
    configuration.mappings.flatMap(({ id, origin }) => (origin.kind === 'preset' ? [] : [id])),
  )
  const results = (await runTests({ tests, snapshot, surface: trySurface })).map((result) =>
    outcomeOf(result, own),
  )
  const wanted = files.filter(
    (file) => matchers.length === 0 || matchers.some((matches) => matches(unitEntry(file))),
  )
  const all = [...configuration.tests, ...files.map(unitEntry)]
  const unmatchedPatterns = patterns.filter((_, index) => !all.some((test) => matchers[index]?.(test)))
  const units = wanted.length === 0 ? undefined : await runUnitTests(wanted, io)
  return { results, known: configuration.tests.length, unmatchedPatterns, ...(units && { units }) }
}

/** A file of unit tests in the form that patterns are compared with. */
function unitEntry(file: string): PatternTarget {
  const name = path.basename(file)
  return {
    value: { name },
    origin: { name },
    locate: () => ({ file, line: 1, column: 1, text: '' }),
  }
}

/** A digest of everything that decides the results. */
async function digestOf(content: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(content)
  for (const file of files) hash.update(await readFile(file).catch(() => ''))
  return hash.digest('hex')
}

function outcomeOf(result: TestResult, own: ReadonlySet<string>): TestOutcome {
  const { test, passed, observed } = result
  if (passed || test.origin.kind !== 'preset') return result
  const takenBy = observed?.mapping?.split(', ').find((id) => own.has(id))
  return takenBy === undefined ? result : { ...result, takenBy }
}

/** The parts of a test that a pattern is compared with. */
type PatternTarget = Pick<TestEntry, 'locate'> & {
  readonly value: { readonly name: string }
  readonly origin: { readonly name: string }
}

/** A pattern that exists as a file or folder stands for it; any other is a part of a name. */
function createMatcher(pattern: string, folders: readonly string[]): (test: PatternTarget) => boolean {
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
