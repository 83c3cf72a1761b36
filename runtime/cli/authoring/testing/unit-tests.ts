/** Runs the tests of single functions that stand beside transforms, with the Node.js that runs this program. */

import { spawn } from 'node:child_process'
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

export async function runUnitTests(files: readonly string[], io: Io): Promise<UnitRun> {
  // A test runner that finds this variable takes itself for a part of another one.
  const { NODE_TEST_CONTEXT: _context, ...env } = io.env
  const colour = io.columns !== undefined && !env['NO_COLOR'] ? { FORCE_COLOR: '1' } : {}
  const args = ['--import', typesHook(), '--test', '--test-reporter=spec', ...files]
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
  return { files, passed, output: `${out}${err}`.trim() }
}

/** Resolves `@reveille/engine/transform` to this program's own file, installed or not, as the gateway does. */
function typesHook(): string {
  const name = JSON.stringify('@reveille/engine/transform')
  const url = JSON.stringify(import.meta.resolve('@reveille/engine/transform'))
  const code = `import { registerHooks } from 'node:module'
registerHooks({ resolve: (asked, context, next) => next(asked === ${name} ? ${url} : asked, context) })`
  return `data:text/javascript,${encodeURIComponent(code)}`
}
