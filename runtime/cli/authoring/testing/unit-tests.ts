/** Runs the tests of single functions that stand beside transforms, with the Node.js that runs this program. */

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { createBundler } from '@reveille/engine'
import { formatDiagnostics } from '../../configuration.ts'
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

/** Compiles the files as the gateway compiles transforms, and runs them. */
export async function runUnitTests(
  files: readonly string[],
  { transformsDir, folder }: { readonly transformsDir: string; readonly folder: string },
  io: Io,
): Promise<UnitRun> {
  const built = await mkdtemp(path.join(tmpdir(), 'reveille-tests-'))
  const bundler = createBundler({ folder: built })
  try {
    const modules = files.map((file) => ({
      module: path.relative(transformsDir, file).split(path.sep).join('/'),
      exports: [],
      place: { file, line: 1, column: 1, text: '' },
    }))
    const bundled = await bundler.bundle({ modules, transformsDir, folder })
    if (!bundled.ok) return { files, passed: false, output: formatDiagnostics(bundled.diagnostics, io) }
    const bundles = modules.flatMap(({ module }) => bundled.bundles.get(module)?.file ?? [])
    return { files, ...(await runTestRunner(bundles, io)) }
  } finally {
    await bundler.close()
    await rm(built, { recursive: true, force: true })
  }
}

async function runTestRunner(
  bundles: readonly string[],
  io: Io,
): Promise<Pick<UnitRun, 'passed' | 'output'>> {
  // A test runner that finds this variable takes itself for a part of another one.
  const { NODE_TEST_CONTEXT: _context, ...env } = io.env
  const colour = io.columns !== undefined && !env['NO_COLOR'] ? { FORCE_COLOR: '1' } : {}
  const args = ['--enable-source-maps', '--test', '--test-reporter=spec', ...bundles]
  const child = spawn(process.execPath, args, {
    cwd: io.cwd,
    env: { ...env, ...colour },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<boolean>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
  const [out, err, passed] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { passed, output: `${out}${err}`.trim() }
}
