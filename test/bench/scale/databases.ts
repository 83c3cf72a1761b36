/** The PostgreSQL under test: one of its own with fsync, or the one that REVEILLE_TEST_POSTGRES_URL names; and its databases. */

import { readFileSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedServer } from '../../../plugins/postgres/testing/embedded-server.ts'
import { fileSystemOf } from '../kernel.ts'
import { BenchError } from '../measure.ts'
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
  const shown = async (name: string) => (await operator.query(`SHOW ${name}`)).rows[0]?.[name]
  for (const name of ['fsync', 'synchronous_commit'])
    if ((await shown(name)) === 'off')
      throw new BenchError(`${name} is off at REVEILLE_TEST_POSTGRES_URL, so its figures would say nothing.`)
  const origin = given ? 'the one of REVEILLE_TEST_POSTGRES_URL' : 'started for this run'
  const described = `PostgreSQL ${await shown('server_version')}, ${origin}, fsync on, shared_buffers ${await shown('shared_buffers')}, autovacuum ${await shown('autovacuum')}`
  const made: string[] = []
  let isClosed = false
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
    /** Ends what is connected to these databases too. */
    async close(): Promise<void> {
      if (isClosed) return
      isClosed = true
      if (given) for (const address of made) await drop(address)
      await operator.end()
      await stop()
    },
  }
}

async function startServer() {
  const folder = await folderForServer()
  const server = await startEmbeddedServer({ folder, fsync: true, settings }).catch((cause: Error) => {
    throw new BenchError(`No PostgreSQL to measure: ${cause.message}`, { cause })
  })
  const pid = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  let isRunning = true
  process.on('exit', () => {
    if (isRunning) process.kill(pid, 'SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  return {
    url: server.url,
    async stop() {
      await server.stop()
      isRunning = false
    },
  }
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
