/** Owns a gateway in a child process that takes orders and reports: what it costs and how it ends is seen from outside. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { atEnd } from '../../at-end.ts'
import { createFolder, type Files } from '../../installation.ts'

export interface ChildGateway {
  readonly address: string
  readonly folder: string
  /** What it says next; `asked` is told to it first. @throws Error when it ends instead */
  told<Message>(asked?: string): Promise<Message>
  /** Rejects when the process ends before it was told to. */
  readonly ended: Promise<never>
  /** Everything that it wrote, of late. */
  output(): string
}

export interface ChildOptions {
  /** What the process runs; its first message is `{ address }`, and `close` ends it. */
  readonly entry: URL
  readonly files: Files
  /** For Node.js. */
  readonly flags?: readonly string[]
}

const mostOutput = 200_000

export async function openChildGateway(
  t: TestContext,
  { entry, files, flags = [] }: ChildOptions,
): Promise<ChildGateway> {
  const folder = await createFolder(t, files)
  const child = fork(entry, [join(folder, 'reveille.yaml')], {
    execArgv: ['--expose-gc', ...flags],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-mostOutput)
    })
  }
  const exit = once(child, 'exit')
  const ended = exit.then(([code, signal]): never => {
    throw new Error(`The gateway ended with ${signal ?? code}:\n${output.slice(-20_000)}`)
  })
  ended.catch(() => {})
  atEnd(t, async () => {
    if (child.connected) child.send('close')
    await exit
  })

  async function told<Message>(asked?: string): Promise<Message> {
    const message = once(child, 'message')
    if (asked !== undefined) child.send(asked)
    const [first] = await Promise.race([message, ended])
    return first
  }

  const { address } = await told<{ address: string }>()
  return { address, folder, told, ended, output: () => output }
}
