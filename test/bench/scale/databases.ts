/** The PostgreSQL under test: one of its own with fsync, or the one that REVEILLE_TEST_POSTGRES_URL names; its databases, and the CPU it takes. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedServer } from '../../../plugins/postgres/testing/embedded-server.ts'
import { BenchError } from '../bench-error.ts'
import { fileSystemOf } from '../machine.ts'
import { workFolder } from '../server.ts'

export type Databases = Awaited<ReturnType<typeof openDatabases>>

/** Settings of a small server. */
const settings = {
  autovacuum: 'on',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
}

export async function openDatabases() {
  const given = process.env['REVEILLE_TEST_POSTGRES_URL']
  const { url, stop } = given ? { url: given, stop: async () => {} } : await startServer()
  const operator = new pg.Client({ connectionString: url })
  operator.on('error', () => {})
  await operator.connect()
  const ask = async (text: string) => (await operator.query(text)).rows[0] as Record<string, unknown>
  const root = rootOf(Number((await ask('SELECT pg_backend_pid() AS pid'))['pid']))
  let isClosed = false
  // Before its folder is removed.
  if (root !== undefined && !given) process.prependListener('exit', () => isClosed || kill(root))
  const shown = async (name: string) => (await ask(`SHOW ${name}`))[name]
  for (const name of ['fsync', 'synchronous_commit'])
    if ((await shown(name)) === 'off')
      throw new BenchError(`${name} is off at REVEILLE_TEST_POSTGRES_URL, so its figures would say nothing.`)
  const isOwn = given === undefined
  const described = `PostgreSQL ${await shown('server_version')}, ${isOwn ? 'started for this run' : 'the one of REVEILLE_TEST_POSTGRES_URL'}, fsync on, shared_buffers ${await shown('shared_buffers')}, autovacuum ${await shown('autovacuum')}`
  const made: string[] = []
  const drop = async (address: string) =>
    void (await operator.query(`DROP DATABASE IF EXISTS ${nameOf(address)} WITH (FORCE)`))

  return {
    described,
    /** Makes a database: an empty one, or a copy of one that no client is connected to. Returns its address. */
    async create(template?: string): Promise<string> {
      const name = `reveille_bench_${process.pid}_${made.length}`
      const from = template === undefined ? '' : ` TEMPLATE ${nameOf(template)}`
      await operator.query(`CREATE DATABASE ${name}${from}`)
      const address = new URL(url)
      address.pathname = `/${name}`
      made.push(address.href)
      return address.href
    },
    drop,
    /** Writes now what would be written in the middle of a sample. A role may lack the right to. */
    settle: async () => void (await operator.query('CHECKPOINT').catch(() => undefined)),
    /** Returns a function that returns the microseconds of CPU since this call; NaN where the server is out of sight. */
    startCpuCount(): () => number {
      const before = root === undefined ? Number.NaN : cpuOfTree(root)
      return () => (root === undefined ? Number.NaN : cpuOfTree(root)) - before
    },
    /** Ends what is connected to these databases too. */
    async close(): Promise<void> {
      if (!isOwn) for (const address of made) await drop(address)
      await operator.end()
      await stop()
      isClosed = true
    },
  }
}

async function startServer() {
  const folder = await folderForServer()
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const server = await startEmbeddedServer({ folder, fsync: true, settings }).catch((cause: Error) => {
    throw new BenchError(`No PostgreSQL to measure: ${cause.message}`, { cause })
  })
  return { url: server.url, stop: () => server.stop() }
}

/** Where this process is root's, the server's user may not be able to enter the checkout. */
async function folderForServer(): Promise<string> {
  const parent = process.getuid?.() === 0 ? tmpdir() : workFolder
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'reveille-bench-postgres-'))
  if (fileSystemOf(folder) === 'tmpfs')
    throw new BenchError(
      `${folder} is in memory (tmpfs), where being durable costs nothing. Set TMPDIR to a disk.`,
    )
  return folder
}

function nameOf(address: string): string {
  return new URL(address).pathname.slice(1)
}

function kill(pid: number): void {
  try {
    if (nameOfProcess(pid) === 'postgres') process.kill(pid, 'SIGQUIT')
  } catch {
    // It has ended.
  }
}

/** Returns the process that all of the server's have started from, if the server is on this machine. */
function rootOf(backend: number): number | undefined {
  if (!existsSync(`/proc/${backend}/stat`) || nameOfProcess(backend) !== 'postgres') return undefined
  return Number(statOf(backend)[1])
}

function nameOfProcess(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
}

/** The fields of a process behind its name, which may hold spaces: state, parent, … */
function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Microseconds of a process, of its children, and of those of them that have ended. */
function cpuOfTree(root: number): number {
  const ended = statOf(root)
  let microseconds = own(root) + (Number(ended[13]) + Number(ended[14])) * 10_000
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      if (Number(statOf(pid)[1]) === root) microseconds += own(pid)
    } catch {
      // It has ended meanwhile.
    }
  }
  return microseconds
}

function own(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
}
