/** Checks the machine: the version of Node.js, the clock and the disk. */

import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import path from 'node:path'
import { type Check, ok, problem, type Result, type Subject, warning } from '../check.ts'
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

async function clockAgainstGateway({ gateway }: Subject) {
  const reach = await gateway().reach()
  if (reach.kind !== 'gateway') throw new NotChecked('GATEWAY_DOWN', 'no gateway answers')
  return assessSkew(reach.skewMs ?? 0, "the gateway's clock")
}

async function clockOnline({ io, isOnline }: Subject) {
  if (!isOnline) throw new NotChecked('NOT_ASKED', '`--online` asks a public server for the time')
  const startedAt = io.now()
  const request = { method: 'HEAD', signal: AbortSignal.timeout(answerMs) }
  const response = await io.fetch(timeServer, request).catch(() => undefined)
  const date = Date.parse(response?.headers.get('date') ?? '')
  const { host } = new URL(timeServer)
  if (Number.isNaN(date)) throw new NotChecked('OFFLINE', `${host} does not answer`)
  return assessSkew(skewOf(date, startedAt, io.now()), `that of ${host}`)
}

/** `whose`: the clock that this machine's is compared with. */
export function assessSkew(skewMs: number, whose: string): Result {
  if (Math.abs(skewMs) < warningMs) return ok(`as ${whose}`)
  const side = skewMs > 0 ? 'behind' : 'ahead of'
  const text = `${Math.round(Math.abs(skewMs) / 1000)} s ${side} ${whose}: signatures that bear a time may be refused`
  const report = Math.abs(skewMs) < problemMs ? warning : problem
  return report('CLOCK_SKEW', text, 'Have each machine keep its time by NTP: `timedatectl set-ntp true`')
}

const minBytes = 1_000_000_000
const minShare = 0.05

/** Checks how much space is free on the disk of the data folder. */
async function diskSpace({ settings }: Subject) {
  const { dataDir } = settings().gateway
  const { bsize, bavail, blocks } = await statfsNear(dataDir)
  return assessSpace({ free: bsize * bavail, total: bsize * blocks })
}

export function assessSpace({ free, total }: { readonly free: number; readonly total: number }): Result {
  const share = total > 0 ? free / total : 1
  const text = `${(free / 1e9).toFixed(1)} GB free, ${Math.floor(share * 100)} %`
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
