/** Checks the machine: the version of Node.js, the clock and the disk. */

import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import path from 'node:path'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import type { DoctorContext } from '../context.ts'
import { NotChecked, skewOf } from '../gateway-view.ts'

export const machineChecks: readonly Check[] = [
  { name: 'node-version', group: 'machine', title: 'Node.js', run: async () => assessNode() },
  { name: 'clock-gateway', group: 'machine', title: 'clock', run: clockAgainstGateway },
  { name: 'clock-online', group: 'machine', title: 'time', run: clockOnline },
  { name: 'disk-space', group: 'machine', title: 'disk', run: diskSpace },
]

/** The version that `engines` in `package.json` asks for. */
const least = 24

export function assessNode(version = process.versions.node): Result {
  if (Number.parseInt(version, 10) >= least) return ok(version)
  return problem(
    'NODE_TOO_OLD',
    `${version} runs this command; Reveille needs ${least} or newer`,
    'Install a newer Node.js, or start with `npm start`, which brings one along',
  )
}

/** Signatures of many providers are valid for a few minutes only; the least that one allows is three. */
const problemMs = 120_000
const warningMs = 10_000

/** Any server would do; this one answers everywhere, without a cookie and in a few bytes. */
const timeServer = 'https://www.cloudflare.com/cdn-cgi/trace'
const answerMs = 5_000

async function clockAgainstGateway(subject: DoctorContext) {
  const reach = await subject.gateway().reach()
  if (reach.kind !== 'gateway') throw new NotChecked('GATEWAY_DOWN', 'no gateway answers')
  if (reach.skewMs === undefined) throw new NotChecked('GATEWAY_ANSWER', 'the gateway does not send the time')
  return assessSkew(reach.skewMs, "the gateway's", 'Have both machines keep their time by NTP')
}

async function clockOnline({ io, isOnline }: DoctorContext, signal: AbortSignal) {
  if (!isOnline) throw new NotChecked('NOT_ASKED', '`--online` asks a public server for the time')
  const startedAt = io.now()
  const response = await io
    .fetch(timeServer, {
      method: 'HEAD',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    })
    .catch(() => undefined)
  const date = Date.parse(response?.headers.get('date') ?? '')
  if (Number.isNaN(date)) throw new NotChecked('OFFLINE', `${new URL(timeServer).host} does not answer`)
  const fix = 'Have this machine keep its time by NTP: `timedatectl set-ntp true`'
  return assessSkew(skewOf(date, startedAt, io.now()), `that of ${new URL(timeServer).host}`, fix)
}

export function assessSkew(skewMs: number, whose: string, fix: string): Result {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  if (Math.abs(skewMs) < warningMs) return ok(`as ${whose}`)
  const text = `${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} ${whose}`
  if (Math.abs(skewMs) < problemMs) return warning('CLOCK_SKEW', text, fix)
  return problem('CLOCK_SKEW', `${text}: signatures that bear a time are refused`, fix)
}

const minBytes = 1_000_000_000
const minShare = 0.05

/** Checks how much space is free on the disk of the data folder. */
async function diskSpace(subject: DoctorContext) {
  const { dataDir } = subject.settings().gateway
  const { bsize, bavail, blocks } = await statfsNear(dataDir)
  return assessSpace({ free: bsize * bavail, total: bsize * blocks })
}

export function assessSpace({ free, total }: { readonly free: number; readonly total: number }): Result {
  const share = total > 0 ? free / total : 1
  const text = `${sizeText(free)} free, ${Math.floor(share * 100)} %`
  if (free >= minBytes && share >= minShare) return ok(text)
  return warning(
    'DISK_NEARLY_FULL',
    `${text}: without room nothing is accepted`,
    'Make room, or keep less: `history.keep` and `history.bodies` say how much',
  )
}

/** Asks about the folder, or about the one that it will be created in. */
async function statfsNear(folder: string): Promise<StatsFs> {
  try {
    return await statfs(folder)
  } catch (error) {
    const parent = path.dirname(folder)
    if (parent === folder || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return statfsNear(parent)
  }
}

function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** unit
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}
