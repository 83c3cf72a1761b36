/** Lists the files of a gateway that others must not read, or must not change. */

import type { Stats } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { isSecretKey } from '@reveille/engine'
import { shownPath } from '../configuration.ts'
import type { Subject } from './subject.ts'

export interface GuardedFile {
  /** The path as the user would write it. */
  readonly shown: string
  readonly isFolder: boolean
  /** Whether the gateway writes it. */
  readonly isData: boolean
  /** Whether others must not read it. Otherwise they only must not change it. */
  readonly isSecret: boolean
  readonly stats: Pick<Stats, 'mode' | 'uid'>
}

type Kind = Pick<GuardedFile, 'isSecret' | 'isData'>

/** Maximum number of entries checked in the data folder, and in each of its folders. */
const maxEntries = 200
/** Within two levels stand the store, secrets that providers handed out, and files of channels. Bundles are no secret. */
const maxDepth = 2

/** Returns the files that exist. Where the folders are not known, these are `.env` and the configuration file. */
export async function guardedFiles(subject: Subject): Promise<readonly GuardedFile[]> {
  const { file, folder, settingsIfKnown: settings } = subject
  const inputs = [
    look(path.join(folder, '.env'), { isSecret: true, isData: false }, subject),
    look(file, { isSecret: await holdsSecrets(file), isData: false }, subject),
  ]
  const folders = settings === undefined ? [] : [settings.hooks.mappingsDir, settings.hooks.transformsDir]
  const code = folders.map((each) => look(each, { isSecret: false, isData: false }, subject))
  const data = settings === undefined ? [] : dataFiles(settings.gateway.dataDir, subject)
  const files = await Promise.all([...inputs, ...code, data])
  return files.flat().filter((each) => each !== undefined)
}

async function dataFiles(dataDir: string, subject: Subject): Promise<(GuardedFile | undefined)[]> {
  const data = await look(dataDir, { isSecret: true, isData: true }, subject)
  // Files in a folder that others cannot enter are out of their reach.
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
  const some = entries.slice(0, maxEntries).filter((entry) => !entry.isSymbolicLink())
  const files = await Promise.all(
    some.map(async (entry) => {
      const target = path.join(folder, entry.name)
      const isSecret = !(depth === 1 && entry.name === 'transforms')
      const own = await look(target, { isSecret, isData: true }, subject)
      const isEntered = entry.isDirectory() && depth < maxDepth && isSecret
      return isEntered ? [own, ...(await filesBelow(target, depth + 1, subject))] : [own]
    }),
  )
  return files.flat()
}

/** Whether the file holds a secret itself, and not only the name of a variable. */
async function holdsSecrets(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return [...text.matchAll(pair)].some(([, key = '', ...values]) => {
    const value = values.find((each) => each !== undefined) ?? ''
    return isSecretKey(key) && !/^(?:\$\{[^{}]*\}|true|false|null|none|~|\d*)$/.test(value)
  })
}

/** Matches a key, and its text or the first text of its list. */
const pair =
  /["']?([\w-]+)["']?:[ \t]*\[?[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|(\$\{[^{}\n]*\}|[^\s"'{}[\],#][^\s,{}[\]]*))/g
