/**
 * Gives tests databases of their own on a real PostgreSQL: on the server that REVEILLE_TEST_POSTGRES_URL names, or on one that the first test
 * of a run starts and that ends after the last one (`keeper.ts`). Where neither is possible the tests fail, and say why.
 */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

export interface TestDatabase {
  /** A connection string with the rights of the database's owner. */
  readonly url: string
  /** Removes the database, whoever is still connected. */
  drop(): Promise<void>
}

/**
 * The initial content of a test file's databases: made once by `fill`, and then copied. `name` is a word of lower-case letters and digits
 * that identifies this content in all files of a run.
 */
export interface Template {
  readonly name: string
  fill(url: string): Promise<void>
}

/** Makes an empty database, or a copy of the template. @throws Error which says what to do where there is no server */
export async function testPostgres(template?: Template): Promise<TestDatabase> {
  opening ??= openServer()
  const server = await opening
  const name = `reveille_test_${process.pid}_${++made}`
  await server.use(async (query) => {
    const from = template === undefined ? 'template1' : await filled(template, server, query)
    await query(`CREATE DATABASE ${name} TEMPLATE ${from}`)
  })
  return {
    url: withDatabase(server.url, name),
    drop: () =>
      server.use(async (query) => void (await query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  }
}

let opening: ReturnType<typeof openServer> | undefined
let made = 0

type Query = (text: string, values?: unknown[]) => Promise<pg.QueryResult>

/** By name: the templates that this process has asked for. */
const templates = new Map<string, Promise<string>>()

function filled(template: Template, ...rest: Rest): Promise<string> {
  const known = templates.get(template.name) ?? fill(template, ...rest)
  templates.set(template.name, known)
  return known
}

type Rest = [server: { readonly url: string; readonly run: string }, query: Query]

/** Files run side by side, so one of them makes the template, and the others wait for it. */
async function fill(template: Template, ...[{ url, run }, query]: Rest): Promise<string> {
  const name = `reveille_${run}_${template.name}`
  const key = createHash('sha256').update(name).digest().readInt32BE()
  await query('SELECT pg_advisory_lock($1)', [key])
  try {
    const { rowCount } = await query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) {
      await query(`DROP DATABASE IF EXISTS ${name}_draft WITH (FORCE)`)
      await query(`CREATE DATABASE ${name}_draft`)
      await template.fill(withDatabase(url, `${name}_draft`))
      await query(`ALTER DATABASE ${name}_draft RENAME TO ${name}`)
    }
  } finally {
    await query('SELECT pg_advisory_unlock($1)', [key])
  }
  return name
}

async function openServer() {
  const given = process.env['REVEILLE_TEST_POSTGRES_URL']
  const { url, run } = given ? { url: given, run: `test_${process.ppid}` } : await askKeeper()
  const client = new pg.Client({ connectionString: url }) as pg.Client & { ref(): void; unref(): void }
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw new Error(`No PostgreSQL for the tests: ${(error as Error).message}. ${advice}`)
  }
  let users = 0
  client.unref()
  return {
    url,
    /** Differs from run to run on one server. */
    run,
    /** The connection keeps the process alive only while it is used. */
    async use<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
      if (++users === 1) client.ref()
      try {
        return await work((text, values) => client.query(text, values))
      } finally {
        if (--users === 0) client.unref()
      }
    },
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

const advice =
  'Set REVEILLE_TEST_POSTGRES_URL to the address of a server, with a role that may create databases, such as postgres://postgres@127.0.0.1/postgres.'

/** Where the keeper of this checkout is found by all processes of a user. */
export function keeperAddress(): string {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const name = `reveille-postgres-${createHash('sha256').update(`${userInfo().uid} ${root}`).digest('hex').slice(0, 12)}`
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`)
}

/** The keeper's answer, as one line of JSON. */
export type KeeperAnswer = { readonly url: string; readonly run: string } | { readonly problem: string }

async function askKeeper(): Promise<{ readonly url: string; readonly run: string }> {
  // Under `node --test` the parent is the run, and the server should last as long as it does.
  const isOfRun = process.env['NODE_TEST_CONTEXT'] !== undefined
  for (;;) {
    const socket = (await reach()) ?? (await startKeeper())
    socket.write(`${JSON.stringify({ ...(isOfRun && { run: process.ppid }) })}\n`)
    const line = await Promise.race([
      once(createInterface(socket), 'line').then(([text]) => text as string),
      once(socket, 'close').then(() => undefined),
    ])
    // It was about to end; another one is started.
    if (line === undefined) continue
    socket.unref()
    const answer = JSON.parse(line) as KeeperAnswer
    if ('problem' in answer) throw new Error(`No PostgreSQL for the tests: ${answer.problem}. ${advice}`)
    return answer
  }
}

async function reach(): Promise<Socket | undefined> {
  const socket = connect(keeperAddress())
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return undefined
  }
}

/** Starts the keeper. Its output goes nowhere, so that a test run does not wait for it. It ends by itself. */
async function startKeeper(): Promise<Socket> {
  const { NODE_TEST_CONTEXT: _context, NODE_COMPILE_CACHE: _cache, ...env } = process.env
  const keeper = spawn(process.execPath, [fileURLToPath(new URL('./keeper.ts', import.meta.url))], {
    detached: true,
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  // It says when it can be asked; it ends at once where another file of the run was faster.
  await Promise.race([once(keeper, 'message'), once(keeper, 'exit')])
  if (keeper.connected) keeper.disconnect()
  keeper.unref()
  const socket = await reach()
  if (socket === undefined) throw new Error(`No PostgreSQL for the tests: its keeper ended. ${advice}`)
  return socket
}
