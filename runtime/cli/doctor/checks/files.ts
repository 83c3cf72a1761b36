/** Checks who may read and change the files of a gateway, and whether the gateway can read them. */

import { execFile } from 'node:child_process'
import type { Stats } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { isSecretKey } from '@reveille/engine'
import { shownPath } from '../../configuration.ts'
import { listed, shellWord } from '../../print.ts'
import { type Check, ok, orOk, problem, type Result, warning } from '../check.ts'
import type { DoctorContext } from '../context.ts'
import { NotChecked } from '../gateway-view.ts'

export const fileChecks: readonly Check[] = [
  { name: 'file-modes', group: 'files', title: 'modes', run: fileModes },
  { name: 'file-owners', group: 'files', title: 'owners', run: fileOwners },
  { name: 'file-access', group: 'files', title: 'readable', run: fileAccess },
  { name: 'file-mounts', group: 'files', title: 'mounts', run: fileMounts },
]

/** Checks that no file is mounted by itself: where it is replaced, its mount goes on showing the old one. */
async function fileMounts({ file, folder, settingsIfKnown: settings }: DoctorContext) {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => undefined)
  if (text === undefined) throw new NotChecked('NOT_LINUX', 'mounts are only known on Linux')
  const folders = settings === undefined ? [] : [settings.hooks.mappingsDir, settings.hooks.transformsDir]
  return assessMounts(text, [file, path.join(folder, '.env')], folders)
}

/** `mounts` is the text of `/proc/self/mountinfo`. */
export function assessMounts(
  mounts: string,
  files: readonly string[],
  folders: readonly string[],
): Result | readonly Result[] {
  const results = mounts.split('\n').flatMap((line): Result[] => {
    const [, , , root = '', point = ''] = line
      .split(' ')
      .map((field) => field.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))))
    const isBelow = folders.some((each) => point.startsWith(path.join(each, '/')) && /\.\w+$/.test(point))
    if (!isBelow && !files.includes(point)) return []
    const fix = `Mount the folder ${path.dirname(point)} instead, and restart the container`
    if (root.endsWith('//deleted'))
      return [problem('FILE_REPLACED', `${point} was replaced, and its mount still shows the old file`, fix)]
    const text = `${point} is mounted by itself, so edits that replace it go unseen`
    return [warning('SINGLE_FILE_MOUNT', text, fix)]
  })
  return orOk(results, 'no file is mounted by itself')
}

/** Checks that other users cannot read what is secret, nor change what the gateway does. */
async function fileModes(subject: DoctorContext) {
  if (process.platform === 'win32') throw new NotChecked('NOT_POSIX', 'files have no modes on Windows')
  const files = await guardedFiles(subject)
  const withBits = (bits: number) => (file: GuardedFile) => (file.stats.mode & bits) !== 0
  const secret = files.filter(({ isSecret }) => isSecret)
  const readable = secret.filter(withBits(0o004))
  const byGroup = secret.filter((file) => withBits(0o040)(file) && !readable.includes(file))
  const writable = files.filter((file) => withBits(0o002)(file) && !readable.includes(file))
  const found = [
    ...resultsFor(readable, problem, 'READABLE_BY_OTHERS', 'everybody on this machine can read'),
    ...resultsFor(byGroup, warning, 'READABLE_BY_GROUP', 'others of its group can read'),
    ...resultsFor(writable, problem, 'WRITABLE_BY_OTHERS', 'everybody on this machine can change'),
  ]
  return orOk(found, 'other users cannot read what is secret, or change what is run')
}

function resultsFor(
  files: readonly GuardedFile[],
  report: typeof problem,
  code: string,
  message: string,
): Result[] {
  if (files.length === 0) return []
  const [first] = files
  const names = files.map(({ shown, isFolder }) => (isFolder ? `${shown}/` : shown))
  // Closing a folder closes the files in it.
  const outer = files.filter(({ shown }) => !files.some((other) => shown.startsWith(`${other.shown}/`)))
  const isRecursive = outer.length < files.length || first?.isFolder
  const bits = code === 'WRITABLE_BY_OTHERS' ? 'o-w' : 'go-rwx'
  const command = `chmod ${isRecursive ? '-R ' : ''}${bits} ${outer.map(({ shown }) => shellWord(shown)).join(' ')}`
  return [report(code, `${message} ${listed(names)}`, command)]
}

/** Checks that the files of a gateway belong to the user who runs it. */
async function fileOwners(subject: DoctorContext) {
  const asking = askingUser()
  const { uid } = await gatewayUser(subject, asking)
  return assessOwners(await guardedFiles(subject), uid, asking.uid)
}

const root = 0

/** `owner` is the user of the gateway, `own` the one who asks. Files that the operator writes may be root's as well. */
export function assessOwners(files: readonly GuardedFile[], owner: number, own: number): Result {
  const strange = files.filter(({ isData, stats: { uid } }) => uid !== owner && (isData || uid !== root))
  if (strange.length === 0) {
    const user = owner === own ? 'you' : `user ${owner}`
    const others = files.some(({ stats: { uid } }) => uid !== owner) ? ' or to root' : ''
    return ok(`all of them belong to ${user}${others}`)
  }
  const data = files.find(({ isData }) => isData)
  const user = `the owner of ${data === undefined ? 'the folder' : `${data.shown}/`} (user ${owner})`
  const whose = data === undefined && owner === own ? 'you' : user
  const names = strange.map(({ shown }) => shown)
  return problem(
    'OWNED_BY_ANOTHER',
    `${listed(names)} ${names.length === 1 ? 'does' : 'do'} not belong to ${whose}: the gateway may not read it, or another user may change it`,
    `As root: chown ${owner} ${names.map(shellWord).join(' ')}`,
  )
}

/** A file, or a folder on the way to it. */
export interface Step {
  /** The path as the user would write it. */
  readonly shown: string
  readonly isFolder: boolean
  /** True if it is outside of the configuration's folder, so that other programs use it too. */
  readonly isOutside: boolean
  readonly stats: { readonly mode: number; readonly uid: number; readonly gid: number }
}

interface Reader {
  readonly uid: number
  readonly gids: readonly number[]
}

/** Maximum number of files checked, because a configuration may have thousands. */
const maxFiles = 1_000

/** Checks that the user of the gateway can read every file that configures it. */
async function fileAccess(subject: DoctorContext) {
  const asking = askingUser()
  const { compiled, file, folder } = subject
  const read = compiled.ok ? compiled.configuration.watched : compiled.watched
  const files = [...new Set([file, path.join(folder, '.env'), ...read])].slice(0, maxFiles)
  const ways = await Promise.all(files.map((each) => wayTo(each, subject)))
  const { uid, gid } = await gatewayUser(subject, asking)
  return assessAccess(ways, { uid, gids: [gid, ...(await groupsOf(uid, asking.uid))] })
}

/** Returns every folder from the root on, then the file itself; nothing for a file that does not exist. */
async function wayTo(file: string, { io, folder }: DoctorContext): Promise<readonly Step[]> {
  const target = await realpath(file).catch(() => undefined)
  if (target === undefined) return []
  const base = await realpath(folder).catch(() => folder)
  const parents: string[] = []
  for (let each = path.dirname(target); each !== path.dirname(each); each = path.dirname(each))
    parents.unshift(each)
  return Promise.all(
    [...parents, target].map(async (each) => {
      const stats = await stat(each)
      const isOutside = each !== base && !each.startsWith(`${base}${path.sep}`)
      return { shown: shownPath(each, io) || '.', isFolder: stats.isDirectory(), isOutside, stats }
    }),
  )
}

/** Those of the user database; none where it has no such user. */
async function groupsOf(uid: number, own: number): Promise<readonly number[]> {
  if (uid === own) return process.getgroups?.() ?? []
  const listed = await promisify(execFile)('id', ['-G', String(uid)]).catch(() => ({ stdout: '' }))
  return listed.stdout.split(/\s+/).filter(Boolean).map(Number)
}

/** Each of the `ways` leads to one file, its folders first. */
export function assessAccess(ways: readonly (readonly Step[])[], user: Reader): Result | readonly Result[] {
  const name = `the user of the gateway (${user.uid})`
  const faults = new Map<string, { readonly what: string; readonly command: string }>()
  for (const way of ways) {
    const index = way.findIndex((step, at) => !allows(step, bitsFor(step, at === way.length - 1), user))
    const step = way[index]
    if (step === undefined) continue
    const isWay = index < way.length - 1
    const what = isWay ? `what lies in ${step.shown}` : step.shown
    faults.set(step.shown, { what, command: commandFor(step, isWay, user) })
  }
  if (faults.size === 0) return ok(`${name} can read all of them`)
  const byCommand = [...Map.groupBy(faults, ([, { command }]) => command)]
  return byCommand.map(([command, group]) => {
    const words = group.map(([shown]) => shellWord(shown)).join(' ')
    return problem(
      'UNREADABLE_FOR_GATEWAY',
      `${name} may not read ${listed(group.map(([, { what }]) => what))}`,
      `As root: ${command} ${words}`,
    )
  })
}

/** Folders on the way are entered; the end of the way is read, and entered too where it is a folder. */
function bitsFor({ isFolder }: Step, isLast: boolean): number {
  if (!isLast) return 0o1
  return isFolder ? 0o5 : 0o4
}

function allows({ stats: { mode, uid, gid } }: Step, bits: number, user: Reader): boolean {
  if (user.uid === root) return true
  const shift = uid === user.uid ? 6 : user.gids.includes(gid) ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/** A file of the gateway is given to its user; a folder that other programs use is only opened for passing. */
function commandFor({ isFolder, isOutside, stats }: Step, isWay: boolean, { uid }: Reader): string {
  const right = isWay ? 'x' : isFolder ? 'rx' : 'r'
  if (stats.uid === uid) return `chmod u+${right}`
  return isFolder && isOutside ? `chmod a+${right}` : `chown ${uid}`
}

type User = Pick<Stats, 'uid' | 'gid'>

/** Returns the user who runs `doctor`. @throws NotChecked on Windows */
function askingUser(): User {
  const uid = process.getuid?.()
  if (uid === undefined) throw new NotChecked('NOT_POSIX', 'files have no owners of that kind on Windows')
  return { uid, gid: process.getgid?.() ?? uid }
}

/**
 * The owner of the data folder runs the gateway. Before the first start there is no data folder: a gateway that root sets up
 * is then for the owner of the configuration's folder, and any other user sets one up for himself.
 */
export async function gatewayUser(
  { settingsIfKnown, folder }: Pick<DoctorContext, 'settingsIfKnown' | 'folder'>,
  asking: User,
  ownerOf: (target: string) => Promise<User> = stat,
): Promise<User> {
  const dataDir = settingsIfKnown?.gateway.dataDir
  const data = dataDir === undefined ? undefined : await ownerOf(dataDir).catch(() => undefined)
  return data ?? (asking.uid === root ? ownerOf(folder) : asking)
}

export interface GuardedFile {
  /** The path as the user would write it. */
  readonly shown: string
  readonly isFolder: boolean
  /** True if the gateway writes it. */
  readonly isData: boolean
  /** True if others must not read it. Otherwise they only must not change it. */
  readonly isSecret: boolean
  readonly stats: Pick<Stats, 'mode' | 'uid'>
}

type Kind = Pick<GuardedFile, 'isSecret' | 'isData'>

/** Maximum number of entries checked in the data folder, and in each of its folders. */
const maxEntries = 200
/** The first two levels hold the store, secrets that providers handed out, and files of channels. Bundles are no secret. */
const maxDepth = 2

/** Returns the files that exist. Where the folders are not known, these are `.env` and the configuration file. */
async function guardedFiles(subject: DoctorContext): Promise<readonly GuardedFile[]> {
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

async function dataFiles(dataDir: string, subject: DoctorContext): Promise<(GuardedFile | undefined)[]> {
  const data = await look(dataDir, { isSecret: true, isData: true }, subject)
  // Files in a folder that others cannot enter are out of their reach.
  const isClosed = data === undefined || (data.stats.mode & 0o011) === 0
  return isClosed ? [data] : [data, ...(await filesBelow(dataDir, 1, subject))]
}

async function look(target: string, kind: Kind, { io }: DoctorContext): Promise<GuardedFile | undefined> {
  const stats = await stat(target).catch(() => undefined)
  if (stats === undefined) return undefined
  return { ...kind, shown: shownPath(target, io) || '.', isFolder: stats.isDirectory(), stats }
}

async function filesBelow(
  folder: string,
  depth: number,
  subject: DoctorContext,
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

/** True if the file holds a secret itself, and not only the name of a variable. */
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
