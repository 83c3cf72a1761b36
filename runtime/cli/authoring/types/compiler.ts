/** Owns the TypeScript compiler: the author's own before ours, run as the program that it is. */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { CommandFailure } from '../../command-failure.ts'

export interface Compiler {
  /** What it wrote, whatever it found. @throws CommandFailure when it cannot be run */
  run(options: readonly string[], folder: string): Promise<string>
}

/** As installed for the folder, else for this program; undefined where there is none. */
export async function findCompiler(folder: string): Promise<Compiler | undefined> {
  const manifest = resolveFrom(path.join(folder, 'index.js')) ?? resolveFrom(import.meta.url)
  if (manifest === undefined) return undefined
  const { bin } = JSON.parse(await readFile(manifest, 'utf8'))
  const program = path.join(path.dirname(manifest), bin.tsc)
  return {
    run: (options, cwd) =>
      new Promise((resolve, reject) => {
        const all = [program, ...options, '--pretty', 'false']
        execFile(process.execPath, all, { cwd, maxBuffer: longestOutput }, (error, stdout, stderr) => {
          // An exit code says that it found something; without one it was not run.
          if (error === null || (typeof error.code === 'number' && stdout !== '')) resolve(stdout)
          else
            reject(
              new CommandFailure(1, `The compiler ${program} failed:\n${stderr.trim() || error.message}`),
            )
        })
      }),
  }
}

/** In bytes. */
const longestOutput = 64 * 1024 * 1024

function resolveFrom(place: string): string | undefined {
  try {
    return createRequire(place).resolve('typescript/package.json')
  } catch {
    return undefined
  }
}
