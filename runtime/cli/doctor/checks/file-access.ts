/** Checks that the user of the gateway can read every file that configures it. */

import { execFile } from 'node:child_process'
import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { shownPath } from '../../configuration.ts'
import { shellWord } from '../../pasted.ts'
import { type Check, ok, problem, type Result } from '../check.ts'
import { askingUser, gatewayUser } from '../gateway-user.ts'
import { listed } from '../listed.ts'
import type { Subject } from '../subject.ts'

/** A file, or a folder on the way to it. */
export interface Step {
  /** The path as the user would write it. */
  readonly shown: string
  readonly isFolder: boolean
  /** Whether it stands outside of the configuration's folder, so that other programs use it too. */
  readonly isOutside: boolean
  readonly stats: { readonly mode: number; readonly uid: number; readonly gid: number }
}

interface Reader {
  readonly uid: number
  readonly gids: readonly number[]
}

/** The most files that are looked at, because a configuration may have thousands. */
const mostFiles = 1_000

const root = 0

export const fileAccess: Check = {
  name: 'file-access',
  group: 'files',
  title: 'readable',
  async run(subject) {
    const asking = askingUser()
    const { compiled, file, folder } = subject
    const read = compiled.ok ? compiled.configuration.watched : compiled.watched
    const files = [...new Set([file, path.join(folder, '.env'), ...read])].slice(0, mostFiles)
    const ways = await Promise.all(files.map((each) => wayTo(each, subject)))
    const { uid, gid } = await gatewayUser(subject, asking)
    return judgeAccess(ways, { uid, gids: [gid, ...(await groupsOf(uid, asking.uid))] })
  },
}

/** Returns every folder from the root on, then the file itself; nothing for a file that does not exist. */
async function wayTo(file: string, { io, folder }: Subject): Promise<readonly Step[]> {
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
export function judgeAccess(ways: readonly (readonly Step[])[], user: Reader): Result | readonly Result[] {
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
