/** Runs the unit tests beside transforms, with the Node.js that runs this program. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { Io } from '../../io.ts'
import { listOwnFiles } from '../own-files.ts'

export interface UnitRun {
  /** Absolute. */
  readonly files: readonly string[]
  readonly passed: boolean
  /** The output of Node's test runner. */
  readonly output: string
}

const isTest = /\.test\.[cm]?[jt]s$/

/** The test files below a folder of transforms, sorted. */
export async function findUnitTests(transformsDir: string): Promise<readonly string[]> {
  const names = await listOwnFiles(transformsDir)
  return names.filter((name) => isTest.test(name)).map((name) => path.join(transformsDir, name))
}

/** Runs the files in a process of tsx, so that they have the syntax of transforms. */
export async function runUnitTests(
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

/** What tests can import as transforms do, besides TypeScript: the engine's package from any folder, and text files. */
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
