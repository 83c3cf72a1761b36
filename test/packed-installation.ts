/**
 * Installs packed workspaces into folders as npm does: each package in its own folder, with the dependencies that package-lock.json names
 * copied from this clone, so that nothing leads back into it. It needs no registry; `pack.soak.ts` has npm do it.
 */

import { execFile } from 'node:child_process'
import { constants, existsSync } from 'node:fs'
import { cp, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Packed } from '../tools/pack.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')

interface Locked {
  readonly link?: true
  readonly dev?: true
  /** Of a link: the folder of the workspace. */
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Installs these packages, and what they depend on, into `node_modules` of a folder. */
export async function installPacked(
  folder: string,
  names: readonly string[],
  packages: readonly Packed[],
): Promise<void> {
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'))
  const locked: Readonly<Record<string, Locked>> = lock.packages
  /** Places in the lock file, all of which the loop visits, those that it adds too. */
  const wanted = new Set(names.map((name) => `node_modules/${name}`))
  for (const place of wanted) {
    const { link, resolved: workspace = '' } = locked[place] ?? {}
    const target = path.join(folder, targetOf(place, locked))
    if (existsSync(path.join(target, 'package.json'))) continue
    if (link) await unpack(packages, place.slice('node_modules/'.length), target)
    else await copyPackage(path.join(root, place), target)
    const source = link ? workspace : place
    // What is published depends on what is bundled into it too.
    const manifest = JSON.parse(await readFile(path.join(target, 'package.json'), 'utf8')) as Locked
    const { dependencies, optionalDependencies, peerDependencies } = manifest
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = findLocked(source, dependency, locked)
      // Packages for other platforms are not installed.
      if (found !== undefined && !locked[found]?.dev && existsSync(path.join(root, found))) wanted.add(found)
    }
  }
}

/** Where Node.js finds a dependency from a place: in its own `node_modules`, or in one above it. */
function findLocked(
  from: string,
  name: string,
  locked: Readonly<Record<string, Locked>>,
): string | undefined {
  for (let place = from; ; place = path.posix.dirname(place)) {
    const candidate = path.posix.join(place, 'node_modules', name)
    if (candidate in locked) return candidate
    if (place === '.') return undefined
  }
}

/** The packages below a workspace are installed below its package. */
function targetOf(place: string, locked: Readonly<Record<string, Locked>>): string {
  const [folder = '', ...rest] = place.split(/(?=\/node_modules\/)/)
  const owner = Object.entries(locked).find(([, { link, resolved }]) => link && resolved === folder)?.[0]
  return [owner ?? folder, ...rest].join('')
}

async function unpack(packages: readonly Packed[], name: string, target: string): Promise<void> {
  const packed = packages.find((each) => each.name === name)
  if (packed === undefined) throw new Error(`${name} was not packed`)
  await mkdir(target, { recursive: true })
  await run('tar', ['-xzf', packed.file, '-C', target, '--strip-components=1'])
}

async function copyPackage(source: string, target: string): Promise<void> {
  const filter = (file: string) => path.relative(source, file) !== 'node_modules'
  await cp(source, target, { recursive: true, mode: constants.COPYFILE_FICLONE, filter })
}
