/** The jobs behind the npm scripts that check, test and measure. */

import { existsSync, globSync, statSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { relay } from '../runtime/bin/relay.js'
import { ensureInstalled } from './install.js'
import { type Group, groupTests, writeGroups } from './test-groups.ts'

interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}
type Job = (root: string, args: readonly string[]) => Promise<End>

const workspaces = ['engine', 'runtime', 'plugins', 'mappings', 'transforms', 'console', 'tools', 'test']

/** Runs lint, types and tests, or only the tests of some paths. All of them run, so that one run shows every problem. */
export const test: Job = async (root, args) => {
  if (args.length > 0) return runTests(root, args, 'test')
  const linted = await check(root, [])
  if (linted.signal) return linted
  const words = await checkWords(root)
  const checked = words.code === 0 ? linted : words
  if (checked.code !== 0)
    process.stderr.write('\nLint, types or words failed, see above. The tests run all the same.\n\n')
  const tested = await runTests(root, workspaces, 'test')
  return tested.code === 0 ? checked : tested
}

/** Runs the long tests that do not belong in every test run. */
export const soak: Job = (root, args) => {
  process.env['REVEILLE_SOAK'] = '1'
  return runTests(root, args.length > 0 ? args : workspaces, 'soak')
}

/** Downloads the real programs of other vendors, which are large, and runs them against a mock. */
const testCli: Job = (root) => runTests(root, ['test/cli'], 'cli')

export { testCli as 'test:cli' }

export const check: Job = async (root) => {
  // `biome ci` writes colours to files and pipes too, unless they are off.
  const plain = process.stdout.isTTY ? [] : ['--colors=off']
  const lint = await runTool(root, '@biomejs/biome/bin/biome', ['ci', ...plain])
  if (lint.signal) return lint
  // Four checkers, as without a number, look at what they have in common four times.
  const checkers = ['--checkers', String(Math.min(availableParallelism(), 4))]
  for (const project of ['.', 'console']) {
    const types = await runTool(root, 'typescript/bin/tsc', ['-p', project, ...checkers])
    if (types.code !== 0) return types
  }
  const imports = await checkImports(root)
  return imports.code === 0 ? lint : imports
}

function checkImports(root: string): Promise<End> {
  const program = 'dependency-cruiser/bin/dependency-cruiser.mjs'
  return runSeparate(root, 'imports', program, ['--config', '.dependency-cruiser.ts', ...workspaces])
}

/** Refuses words that others have replaced, as `tools/words/cspell.json` lists them. The first time takes as long as the types. */
function checkWords(root: string): Promise<End> {
  // Files unchanged since the last check are not read again.
  const cache = ['--cache', '--cache-strategy=content', '--cache-location=build/words']
  const options = ['--config=tools/words/cspell.json', '--root=.', '--no-progress', '--no-summary']
  return runSeparate(root, 'words', 'cspell/bin.mjs', ['lint', ...options, ...cache])
}

/** Runs a program of `tools/<name>`, which has packages of its own. */
async function runSeparate(root: string, name: string, program: string, args: readonly string[]) {
  const home = path.join(root, 'tools', name)
  await ensureInstalled(home)
  return runNode(root, [path.join(home, 'node_modules', program), ...args])
}

export const format: Job = (root, args) =>
  runTool(root, '@biomejs/biome/bin/biome', ['check', '--write', ...args])

export const bench: Job = (root, args) => runNode(root, ['test/bench/run.ts', ...args])

export const dev: Job = async (root, args) => {
  const { startArguments } = await import('./start.js')
  const { watchConsole } = await import('./console.js')
  const watched = await watchConsole(root)
  const options = startArguments(args, 'local/reveille.yaml')
  const watch = ['watch', '--clear-screen=false', 'runtime/main.ts', 'start', ...options]
  // A second signal makes tsx kill the gateway in the middle of its drain.
  const notForwarded: readonly NodeJS.Signals[] = process.stdin.isTTY ? ['SIGINT'] : []
  return runTool(root, 'tsx/dist/cli.mjs', watch, { notForwarded }).finally(() => watched.dispose())
}

/** `kind` is the word before `.ts` in the names of the files. */
async function runTests(
  root: string,
  places: readonly string[],
  kind: 'test' | 'soak' | 'cli',
): Promise<End> {
  const files = places.flatMap((place) => filesOf(root, place, kind))
  // Two processes more than there are cores, because a third of the time of all tests is a wait for a disk, a timer or a process.
  const concurrency = `--test-concurrency=${availableParallelism() + 2}`
  if (files.length === 0) {
    process.stderr.write(`No ${kind} files: ${places.join(', ')}\n`)
    return { code: 1, signal: null }
  }
  return inFolder(root, async (folder) => {
    // Compiling the sources again in each process and thread would be a third of a test's work.
    const cache = { NODE_COMPILE_CACHE: path.join(folder, 'compiled') }
    const env = { ...process.env, ...cache, ...(await bundleFor(root, files)) }
    if (kind !== 'test') return runNode(root, ['--test', concurrency, ...new Set(files)], { env })
    const prepare = new URL('./test-process.js', import.meta.url)
    const run = async (groups: readonly Group[], options: readonly string[]) => {
      const modules = await writeGroups(root, folder, groups)
      return runNode(root, ['--import', prepare.href, '--test', ...options, ...modules], { env })
    }
    const list = path.join(folder, 'failed')
    const first = await run(groupTests([...new Set(files)]), [concurrency, ...listingFailures(list)])
    const failures = first.code === 1 ? await readFailures(root, list) : []
    const failed = failures.filter((file) => files.includes(file))
    // The end of a whole process is a failure of its group's module, which lies elsewhere.
    const hasLostProcess = failures.some((file) => file.startsWith('..'))
    const isWhole = places === workspaces
    if (!isWhole || hasLostProcess || failed.length === 0 || failed.length > maxRepeated) return first
    process.stderr.write(`\nThese files failed. They run again, one at a time:\n  ${failed.join('\n  ')}\n\n`)
    const again = await run([{ room: 'again', files: failed }], [])
    if (again.code === 0)
      process.stderr.write(`\nFlaky, as they pass alone. The run has failed:\n  ${failed.join('\n  ')}\n`)
    return first
  })
}

/** More failures than this are no accident of a loaded machine, and are not tried again. */
const maxRepeated = 5

/** The options of a run that prints what it prints without them, and writes the files with failures to a list. */
function listingFailures(list: string): readonly string[] {
  const reporter = path.join(import.meta.dirname, 'failed-tests.js')
  const reporters = { spec: 'stdout', [reporter]: list }
  return Object.entries(reporters).flatMap(([name, to]) => [
    `--test-reporter=${name}`,
    `--test-reporter-destination=${to}`,
  ])
}

/** Returns the files that have failures, relative to the root. */
async function readFailures(root: string, list: string): Promise<string[]> {
  const lines = (await readFile(list, 'utf8')).split('\n').filter((line) => line !== '')
  return [...new Set(lines)].map((file) => path.relative(root, file))
}

/** Makes a folder that ends with the run, because modules that tests write would pile up among what is compiled. */
async function inFolder<Result>(root: string, run: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-run-'))
  try {
    return await run(folder)
  } finally {
    for (const made of [folder, runBundle(root)])
      await rm(made, { recursive: true, force: true, maxRetries: 3 })
  }
}

function runBundle(root: string): string {
  return path.join(root, 'build', `run-${process.pid}`)
}

/** Bundles the command once, where tests start it as a process. */
async function bundleFor(root: string, files: readonly string[]): Promise<NodeJS.ProcessEnv> {
  if (!files.some((file) => file.startsWith('test/'))) return {}
  const { writeBundle } = await import('./bundle.ts')
  await writeBundle(root, runBundle(root))
  return { REVEILLE_TEST_BUNDLE: path.join(runBundle(root), 'main.js') }
}

function filesOf(root: string, place: string, kind: string): string[] {
  const full = path.resolve(root, place)
  if (!existsSync(full)) return globSync(place, { cwd: root })
  if (!statSync(full).isDirectory()) return [place]
  return globSync(`${place}/**/*.${kind}.ts`, {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  }).sort()
}

interface Relayed {
  readonly env?: NodeJS.ProcessEnv
  readonly notForwarded?: readonly NodeJS.Signals[]
}

function runTool(root: string, tool: string, args: readonly string[], options?: Relayed): Promise<End> {
  return runNode(root, [path.join(root, 'node_modules', tool), ...args], options)
}

function runNode(root: string, args: readonly string[], options: Relayed = {}): Promise<End> {
  return relay(process.execPath, args, { cwd: root, ...options })
}
