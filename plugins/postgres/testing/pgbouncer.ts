/** Runs pgbouncer in front of a test's database, where the machine has that program. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, unprivilegedUser } from './embedded-server.ts'

export const poolModes = ['session', 'transaction'] as const

/** The options of tests that need the program: without it they are skipped, and say so. */
export const withPgbouncer = hasProgram() ? {} : { skip: 'there is no pgbouncer here' }

function hasProgram(): boolean {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export async function startPgbouncer(url: string, mode: (typeof poolModes)[number]) {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-pgbouncer-'))
  await chmod(folder, 0o755)
  const { hostname, port, username } = new URL(url)
  const [own, users] = [await freePort(), join(folder, 'users')]
  await writeFile(users, `"${username}" ""\n`)
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
max_client_conn = 200
default_pool_size = 40
`,
  )
  const user = await unprivilegedUser()
  const child = spawn('pgbouncer', ['--quiet', join(folder, 'pgbouncer.ini')], { ...user, stdio: 'ignore' })
  const ended = once(child, 'exit')
  while (!(await takes(own))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`)
    await pause(20)
  }
  const through = new URL(url)
  through.port = String(own)
  return {
    /** The address of the database through the pooler. */
    url: through.href,
    async stop() {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function takes(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
