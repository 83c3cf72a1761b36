/**
 * Reads and writes `gateway.json` in the data folder, by which a command finds the gateway that runs on it, also after the
 * configuration was changed to another address.
 */

import { constants } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { isLoopback, type Settings } from '@reveille/engine'
import { writeWhole } from './write-whole.ts'

export interface GatewayFile {
  /** `http://127.0.0.1:8787`. */
  readonly address: string
  readonly pid: number
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  /** The host and port of the configuration that it was started with, without `--port` and `REVEILLE_PORT`. */
  readonly configured: string
}

export type FoundGateway =
  | ({ readonly state: 'running'; readonly isRestartDue: boolean } & GatewayFile)
  /** The file may be that of another user, who would be sent the token. `why` continues a sentence that begins with the file's name. */
  | { readonly state: 'untrusted'; readonly file: string; readonly why: string }
  /** No gateway runs, also where one was killed and left its file behind. */
  | { readonly state: 'unknown' }

/** A longer file was not written by a gateway. Bytes. */
const maxBytes = 4096

/** With these flags no link is followed and no pipe is waited for. Windows has neither flag. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** The clock may be set after the start of the machine, which changes the computed time of the start. Milliseconds. */
const bootSlackMs = 60_000

const fileIn = (dataDir: string) => join(dataDir, 'gateway.json')

/** Writes the file with mode 0600 in one step. */
export async function writeGatewayFile(
  settings: Settings,
  address: string,
  startedAt: number,
): Promise<void> {
  const facts: GatewayFile = { address, pid: process.pid, startedAt, configured: configuredIn(settings) }
  await writeWhole(fileIn(settings.gateway.dataDir), `${JSON.stringify(facts)}\n`)
}

/** Never fails, because a file that stays is recognised by its process. */
export async function removeGatewayFile(dataDir: string): Promise<void> {
  await rm(fileIn(dataDir), { force: true }).catch(() => undefined)
}

/** Finds the gateway that runs on the data folder of these settings, if the file can be trusted. */
export async function findGateway(settings: Settings): Promise<FoundGateway> {
  const { dataDir, host } = settings.gateway
  const file = fileIn(dataDir)
  const read = await readPrivately(file, dataDir)
  if (read === undefined) return { state: 'unknown' }
  if ('why' in read) return { state: 'untrusted', file, why: read.why }
  const facts = parse(read.text)
  if (facts === undefined) return { state: 'unknown' }
  const { hostname } = new URL(facts.address)
  if (!isLoopback(hostname) && hostname !== new URL(addressOf(host, 0)).hostname) {
    return { state: 'untrusted', file, why: 'leads to another machine than `gateway.host` names' }
  }
  if (!isAlive(facts)) return { state: 'unknown' }
  return { state: 'running', isRestartDue: facts.configured !== configuredIn(settings), ...facts }
}

/** The address at which a gateway is called, since `0.0.0.0` and `::` cannot be called. */
export function addressOf(host: string, port: number): string {
  const called = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${called.includes(':') ? `[${called}]` : called}:${port}`
}

function configuredIn({ gateway: { host, port } }: Settings): string {
  return `${host}:${port}`
}

/** Resolves with undefined if there is no file that this user may read. */
async function readPrivately(
  file: string,
  folder: string,
): Promise<{ readonly text: string } | { readonly why: string } | undefined> {
  const handle = await open(file, flags).catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    const [own, { uid }] = [await handle.stat(), await stat(folder)]
    if (process.getuid !== undefined) {
      if (own.uid !== uid && own.uid !== 0) return { why: 'belongs to another user than the data folder' }
      if ((own.mode & 0o077) !== 0) return { why: 'is open to other users' }
    }
    return own.isFile() && own.size <= maxBytes ? { text: await handle.readFile('utf8') } : undefined
  } finally {
    await handle.close()
  }
}

function parse(text: string): GatewayFile | undefined {
  try {
    const facts = JSON.parse(text) as GatewayFile
    const isGood = facts.pid > 0 && facts.startedAt > 0 && new URL(facts.address).protocol === 'http:'
    return isGood ? facts : undefined
  } catch {
    return undefined
  }
}

/** Process ids are used again, above all after a restart of the machine. */
function isAlive({ pid, startedAt }: GatewayFile): boolean {
  if (startedAt < Date.now() - uptime() * 1000 - bootSlackMs) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
