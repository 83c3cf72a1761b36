/** Runs the tests of a source that patterns ask for. */

import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { runTests, type TestEntry, type TestResult } from '@reveille/engine'
import { trySurface } from '../../../http/index.ts'
import { reportUnset } from '../../configuration.ts'
import type { Io } from '../../io.ts'
import { type Compiled, withCompiled } from '../compile.ts'
import type { TestSource } from './source.ts'
import { findUnitTests, runUnitTests } from './unit-tests.ts'

export interface TestOutcome extends TestResult {
  /** For a preset's test that failed: the operator's own mapping that matched its request. */
  readonly takenBy?: string
}

export type TestRun = Awaited<ReturnType<typeof runSource>>

/**
 * `patterns`: files, folders, or parts of the names of tests, files and presets. A test that matches one of them is run;
 * without patterns every test is.
 */
export async function runSource(source: TestSource, patterns: readonly string[], io: Io) {
  const startedAt = performance.now()
  const loaded = await source.load()
  const { digest } = loaded.ok ? loaded.configuration : loaded
  const tested = await withCompiled(loaded, io, async (compiled) => {
    if (!compiled.ok) {
      const { diagnostics, watched } = compiled
      return { ok: false as const, diagnostics, watched, digest }
    }
    const { configuration } = compiled
    reportUnset(configuration, io)
    const { transformsDir } = configuration.settings.hooks
    const files = source.hasTransforms ? await findUnitTests(transformsDir) : []
    return {
      ok: true as const,
      ...(await runPatterns(compiled, patterns, files, io, [io.cwd, source.folder])),
      digest: await digestOf(digest, files),
      watched: [...configuration.watched, ...files],
    }
  })
  return {
    ...tested,
    source: source.name,
    /** The folder that places of mappings are relative to. */
    folder: source.folder,
    tookMs: performance.now() - startedAt,
  }
}

async function runPatterns(
  { configuration, snapshot }: Pick<Extract<Compiled, { ok: true }>, 'configuration' | 'snapshot'>,
  patterns: readonly string[],
  files: readonly string[],
  io: Io,
  folders: readonly string[],
) {
  const matchers = patterns.map((pattern) => createMatcher(pattern, folders))
  const isWanted = (target: PatternTarget) =>
    matchers.length === 0 || matchers.some((matches) => matches(target))
  const tests = configuration.tests.filter((test) => isWanted(targetOf(test)))
  const own = new Set(
    configuration.mappings.flatMap(({ id, origin }) => (origin.kind === 'preset' ? [] : [id])),
  )
  const results = (await runTests({ tests, snapshot, surface: trySurface })).map((result) =>
    outcomeOf(result, own),
  )
  const wanted = files.filter((file) => isWanted(unitTarget(file)))
  const all = [...configuration.tests.map(targetOf), ...files.map(unitTarget)]
  return {
    results,
    /** The number of all tests, asked for or not. */
    known: configuration.tests.length,
    /** The patterns that match no test. */
    unmatchedPatterns: patterns.filter((_, index) => !all.some((target) => matchers[index]?.(target))),
    /** The tests of single functions beside the transforms. Absent if there are none, or if they were not requested. */
    ...(wanted.length > 0 && { units: await runUnitTests(wanted, configuration.settings.hooks, io) }),
  }
}

/** The parts of a test, or of a file of unit tests, that a pattern is compared with. */
interface PatternTarget {
  readonly names: readonly string[]
  file(): string
}

function targetOf(test: TestEntry): PatternTarget {
  return { names: [test.value.name, test.origin.name], file: () => test.locate([]).file }
}

function unitTarget(file: string): PatternTarget {
  return { names: [path.basename(file)], file: () => file }
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

/** A pattern that exists as a file or folder stands for it; any other is a part of a name. */
function createMatcher(pattern: string, folders: readonly string[]): (target: PatternTarget) => boolean {
  const paths = folders.map((folder) => path.resolve(folder, pattern)).filter((each) => existsSync(each))
  if (paths.length > 0) {
    const real = paths.map(realPath)
    return (target) => {
      const file = realPath(target.file())
      return real.some((each) => file === each || file.startsWith(`${each}${path.sep}`))
    }
  }
  const part = pattern.toLowerCase()
  return ({ names }) => names.some((name) => name.toLowerCase().includes(part))
}

function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
