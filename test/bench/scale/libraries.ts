/** Installs pg-boss and graphile-worker into build/, as the lock file beside this file says. Reveille does not depend on them. */

import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { BenchError } from '../bench-error.ts'
import { here } from '../server.ts'

const folder = join(here.root, 'build/bench-scale')
const names = ['pg-boss', 'graphile-worker'] as const
type Libraries = Readonly<Record<(typeof names)[number], Readonly<Record<string, unknown>>>>

let installing: Promise<Libraries> | undefined

export function installLibraries(): Promise<Libraries> {
  installing ??= install()
  return installing
}

async function install(): Promise<Libraries> {
  const lock = readFileSync(source('package-lock.json'), 'utf8')
  const done = join(folder, 'installed')
  if (read(done) !== lock) {
    mkdirSync(folder, { recursive: true })
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(source(name), join(folder, name))
    process.stderr.write('Installing pg-boss and graphile-worker into build/bench-scale (npm ci) …\n')
    try {
      await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string }
      throw new BenchError(
        `npm ci failed in ${folder}, so pg-boss and graphile-worker cannot be measured; --only leaves them out.\n${stderr}`,
      )
    }
    writeFileSync(done, lock)
  }
  const { resolve } = createRequire(join(folder, 'package.json'))
  const modules = await Promise.all(
    names.map(async (name) => {
      const module = await import(pathToFileURL(resolve(name)).href)
      return [name, { ...module.default, ...module }] as const
    }),
  )
  return Object.fromEntries(modules) as Libraries
}

/** The versions that the report names. */
export function versionsOfLibraries(): string {
  const { dependencies } = JSON.parse(readFileSync(source('package.json'), 'utf8'))
  return names.map((name) => `${name} ${dependencies[name]}`).join(', ')
}

function source(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
