/** Owns which files a gateway has that others are not to read, or not to write, and what their modes say. */

import type { Stats } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { isSecretKey } from '@reveille/engine'
import { shownPath } from '../configuration.ts'
import type { Subject } from './subject.ts'

export interface GuardedFile {
  /** As the user would write it. */
  readonly shown: string
  readonly isFolder: boolean
  /** Whether the gateway writes it. */
  readonly isData: boolean
  /** Whether it holds what nobody else may read; else only what nobody else may change. */
  readonly isSecret: boolean
  readonly stats: Pick<Stats, 'mode' | 'uid'>
}

type Kind = Pick<GuardedFile, 'isSecret' | 'isData'>

/** In the data folder, and in each folder of it. */
const mostEntries = 200
/** Below it lie the store, what a provider entrusted, and what channels keep. Bundles of transforms are no secret. */
const deepest = 2

/** Those that are there. Of a configuration that says nothing of its folders, the two that are read before it is. */
export async function guardedFiles(subject: Subject): Promise<readonly GuardedFile[]> {
  const { file, folder, found } = subject
  const read = [
    look(path.join(folder, '.env'), { isSecret: true, isData: false }, subject),
    look(file, { isSecret: await holdsSecrets(file), isData: false }, subject),
  ]
  const code = found === undefined ? [] : [found.hooks.mappingsDir, found.hooks.transformsDir]
  const changed = code.map((each) => look(each, { isSecret: false, isData: false }, subject))
  const kept = found === undefined ? [] : dataFiles(found.gateway.dataDir, subject)
  const files = await Promise.all([...read, ...changed, kept])
  return files.flat().filter((each) => each !== undefined)
}

async function dataFiles(dataDir: string, subject: Subject): Promise<(GuardedFile | undefined)[]> {
  const data = await look(dataDir, { isSecret: true, isData: true }, subject)
  // Nobody gets at what lies in a folder that is closed to them.
  const isClosed = data === undefined || (data.stats.mode & 0o011) === 0
  return isClosed ? [data] : [data, ...(await filesBelow(dataDir, 1, subject))]
}

async function look(target: string, kind: Kind, { io }: Subject): Promise<GuardedFile | undefined> {
  const stats = await stat(target).catch(() => undefined)
  if (stats === undefined) return undefined
  return { ...kind, shown: shownPath(target, io) || '.', isFolder: stats.isDirectory(), stats }
}

async function filesBelow(
  folder: string,
  depth: number,
  subject: Subject,
): Promise<(GuardedFile | undefined)[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const told = entries.slice(0, mostEntries).filter((entry) => !entry.isSymbolicLink())
  const found = await Promise.all(
    told.map(async (entry) => {
      const target = path.join(folder, entry.name)
      const isSecret = !(depth === 1 && entry.name === 'transforms')
      const own = await look(target, { isSecret, isData: true }, subject)
      const goesOn = entry.isDirectory() && depth < deepest && isSecret
      return goesOn ? [own, ...(await filesBelow(target, depth + 1, subject))] : [own]
    }),
  )
  return found.flat()
}

/** Whether a secret stands in the file itself, and not only the name of the variable that has it. */
async function holdsSecrets(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return [...text.matchAll(pair)].some(([, key = '', ...values]) => {
    const value = values.find((each) => each !== undefined) ?? ''
    return isSecretKey(key) && !/^(?:\$\{[^{}]*\}|true|false|null|none|~|\d*)$/.test(value)
  })
}

/** A key, and the text or the first text of the list behind it. */
const pair =
  /["']?([\w-]+)["']?:[ \t]*\[?[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|(\$\{[^{}\n]*\}|[^\s"'{}[\],#][^\s,{}[\]]*))/g
