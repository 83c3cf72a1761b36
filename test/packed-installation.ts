/**
 * Installs packed workspaces into folders as npm does: each package in its own folder, with the dependencies that package-lock.json names.
 * Files are hard links to what was unpacked and to what this clone has installed, so that no path leads back there. It needs no registry;
 * `pack.soak.ts` has npm do it.
 */

import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Packed } from '../tools/pack.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')

export interface Tarball extends Packed {
  /** The folder of its content; absolute. */
  readonly unpacked: string
}

/** Unpacks each tarball into a folder of its own below a folder. */
export async function unpackAll(packages: readonly Packed[], folder: string): Promise<readonly Tarball[]> {
  return Promise.all(
    packages.map(async (each) => {
      const unpacked = path.join(folder, each.name)
      await mkdir(unpacked, { recursive: true })
      await run('tar', ['-xzf', each.file, '-C', unpacked, '--strip-components=1'])
      return { ...each, unpacked }
    }),
  )
}

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
  packages: readonly Tarball[],
): Promise<void> {
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'))
  const locked: Readonly<Record<string, Locked>> = lock.packages
  /** Places in the lock file, all of which the loop visits, those that it adds too. */
  const wanted = new Set(names.map((name) => `node_modules/${name}`))
  for (const place of wanted) {
    const { link, resolved: workspace = '' } = locked[place] ?? {}
    const target = path.join(folder, targetOf(place, locked))
    if (existsSync(path.join(target, 'package.json'))) continue
    linkFolder(
      link ? unpackedOf(packages, place.slice('node_modules/'.length)) : path.join(root, place),
      target,
    )
    const source = link ? workspace : place
    // A published package depends also on the dependencies of the code bundled into it.
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

function unpackedOf(packages: readonly Tarball[], name: string): string {
  const packed = packages.find((each) => each.name === name)
  if (packed === undefined) throw new Error(`${name} was not packed`)
  return packed.unpacked
}

/** Gives the files of a package a second name, without those that are installed below it. Copies them where that is impossible. */
function linkFolder(source: string, target: string, isNested = false): void {
  mkdirSync(target, { recursive: true })
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [path.join(source, entry.name), path.join(target, entry.name)]
    if (!entry.isDirectory()) linkOrCopy(from, to)
    else if (isNested || entry.name !== 'node_modules') linkFolder(from, to, true)
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes(code)) throw error
    copyFileSync(from, to)
  }
}
