/** Runs the tests of a source that patterns ask for. */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type Loaded, runTests, type TestEntry, type TestResult } from '@reveille/engine'
import { trySurface } from '../../../http/index.ts'
import { presetsFolder } from '../../../presets-folder.ts'
import { badUsage } from '../../command-failure.ts'
import { findConfiguration, load, loadText, reportUnset, shownPath } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { type Compiled, withCompiled } from '../compile.ts'
import { listOwnFiles } from '../own-files.ts'
import { knownPresets, presetFile } from '../presets.ts'

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
  const selected = files.filter((file) => isWanted(unitTarget(file)))
  const all = [...configuration.tests.map(targetOf), ...files.map(unitTarget)]
  return {
    results,
    /** The number of all tests, asked for or not. */
    known: configuration.tests.length,
    /** The patterns that match no test. */
    unmatchedPatterns: patterns.filter((_, index) => !all.some((target) => matchers[index]?.(target))),
    /** The tests of single functions beside the transforms. Absent if there are none, or if they were not requested. */
    ...(selected.length > 0 && { units: await runUnitTests(selected, configuration.settings.hooks, io) }),
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

interface TestSource {
  /** The name for people: a file, or the presets. */
  readonly name: string
  /** The folder where patterns are looked up as files, besides the working directory. */
  readonly folder: string
  /** True if there may be transforms with tests of their own. */
  readonly hasTransforms: boolean
  load(): Promise<Loaded>
}

/** @throws CommandFailure (bad usage) when there is no such file or preset */
export function findTestSource(io: Io, options: CommandOptions): TestSource {
  const { preset = [], presets } = options
  if (preset.length === 0 && presets === undefined) {
    const file = findConfiguration(io)
    return {
      name: shownPath(file, io),
      folder: path.dirname(file),
      hasTransforms: true,
      load: () => load(io, { allowsUnset: true }),
    }
  }
  if (io.config !== undefined)
    throw badUsage('Presets are tested without a configuration; leave out --config.')
  const names = presets === 'all' ? knownPresets() : preset
  names.forEach(presetFile)
  const folder = presetsFolder()
  return {
    name: names.length === 1 ? `the preset ${names[0]}` : `${names.length} presets`,
    folder,
    hasTransforms: false,
    // This configuration exists in memory alone, and only names the presets.
    load: () =>
      loadText(path.join(folder, 'presets.json'), JSON.stringify({ hooks: { presets: names } }), {}),
  }
}

export interface UnitRun {
  /** Absolute. */
  readonly files: readonly string[]
  readonly passed: boolean
  /** The output of Node's test runner. */
  readonly output: string
}

const isTest = /\.test\.[cm]?[jt]s$/

/** The test files below a folder of transforms, sorted. */
async function findUnitTests(transformsDir: string): Promise<readonly string[]> {
  const names = await listOwnFiles(transformsDir)
  return names.filter((name) => isTest.test(name)).map((name) => path.join(transformsDir, name))
}

/** Runs the files in a process of tsx, so that they have the syntax of transforms. */
async function runUnitTests(
  files: readonly string[],
  { transformsDir }: { readonly transformsDir: string },
  io: Io,
): Promise<UnitRun> {
  // A test runner that finds this variable takes itself for a part of another one.
  const { NODE_TEST_CONTEXT: _context, ...env } = io.env
  const colour = io.columns !== undefined && !env['NO_COLOR'] ? { FORCE_COLOR: '1' } : {}
  const tsconfig = findTsconfig(transformsDir)
  const imports = [
    import.meta.resolve('tsx'),
    `data:text/javascript,${encodeURIComponent(importsOfTransforms)}`,
  ]
  const child = spawn(
    process.execPath,
    [...imports.map((each) => `--import=${each}`), '--test', '--test-reporter=spec', ...files],
    {
      cwd: io.cwd,
      // Without the variable, tsx runs code that it finds in a folder of `tmpdir()`, which may be another user's.
      env: { ...env, ...colour, ...(tsconfig && { TSX_TSCONFIG_PATH: tsconfig }), TSX_DISABLE_CACHE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const ended = new Promise<boolean>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
  const [out, err, passed] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { files, passed, output: `${out}${err}`.trim() }
}

/** Lets tests import as transforms do, besides TypeScript: the engine's package from any folder, and text files. */
const importsOfTransforms = `
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({
  resolve: (name, context, next) =>
    next(name === '@reveille/engine/transform' ? '${import.meta.resolve('@reveille/engine/transform')}' : name, context),
  load: (url, context, next) => /\\.(?:txt|md|html|sql)$/.test(url)
    ? { format: 'module', source: 'export default ' + JSON.stringify(readFileSync(new URL(url), 'utf8')), shortCircuit: true }
    : next(url, context)
})`

/** The tsconfig.json that applies to the folder. tsx alone looks for one from the working directory on. */
function findTsconfig(folder: string): string | undefined {
  const file = path.join(folder, 'tsconfig.json')
  if (existsSync(file)) return file
  const above = path.dirname(folder)
  return above === folder ? undefined : findTsconfig(above)
}
