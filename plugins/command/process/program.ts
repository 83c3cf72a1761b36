/**
 * Owns one program from its start to its end, as the turn sees it. Its group may take longer to be gone: the turn
 * does not wait for that, whoever runs the next turn or closes the plugin does.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { createProcessGroup, type ProcessGroup } from './group.ts'
import { createTail } from './tail.ts'

export interface ProgramCall {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** What it reads; undefined: its standard input is empty. */
  readonly input: string | undefined
  /** Bytes of standard output after which it is stopped. */
  readonly maxOutputBytes: number
  /** Milliseconds between TERM and KILL. */
  readonly graceMs: number
  readonly isWindows: boolean
  readonly signal: AbortSignal
  readonly onOutput: (chunk: string) => void
}

export type ProgramEnd =
  /** `complaint` is the end of its standard error. */
  | {
      readonly kind: 'exited'
      readonly code: number | null
      readonly signal: string | null
      readonly complaint: string
    }
  | { readonly kind: 'overflowed' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'not-started'; readonly error: NodeJS.ErrnoException }

export interface Program {
  /** Never rejects. */
  readonly ended: Promise<ProgramEnd>
  /** Absent when it was never started. */
  readonly group?: ProcessGroup
}

/** A pipe that some grandchild keeps open is left once it has been quiet for this long. Milliseconds. */
const quietMs = 100
/** And however much still comes, after so many looks. */
const mostLooks = 10

export function startProgram(call: ProgramCall): Program {
  if (call.signal.aborted) return { ended: Promise.resolve({ kind: 'aborted' }) }
  let child: ChildProcess
  try {
    child = spawn(call.command, call.args, {
      cwd: call.cwd,
      env: call.env,
      stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: !call.isWindows,
      windowsHide: true,
    })
  } catch (error) {
    return { ended: Promise.resolve({ kind: 'not-started', error: error as NodeJS.ErrnoException }) }
  }
  const group = createProcessGroup(child, call.isWindows)
  return { group, ended: follow(child, group, call) }
}

/** One chunk at a time: a system hands over two megabytes at once, and a gateway has others to serve in between. */
function takeTurns({ stdout }: ChildProcess): void {
  stdout?.pause()
  setImmediate(() => stdout?.resume())
}

function follow(child: ChildProcess, group: ProcessGroup, call: ProgramCall): Promise<ProgramEnd> {
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>()
  const { signal, maxOutputBytes } = call
  const decoder = new StringDecoder('utf8')
  const tail = createTail()
  let bytes = 0
  let isOver = false
  let looking: NodeJS.Timeout | undefined

  function settle(end: ProgramEnd): void {
    if (isOver) return
    isOver = true
    clearTimeout(looking)
    signal.removeEventListener('abort', abort)
    for (const stream of child.stdio) stream?.destroy()
    void group.end(call.graceMs)
    resolve(end)
  }

  function abort(): void {
    settle({ kind: 'aborted' })
  }

  function settleExited(): void {
    call.onOutput(decoder.end())
    settle({ kind: 'exited', code: child.exitCode, signal: child.signalCode, complaint: tail.text() })
  }

  function look(seen: number, looks: number): void {
    looking = setTimeout(() => {
      if (bytes === seen || looks === mostLooks) settleExited()
      else look(bytes, looks + 1)
    }, quietMs)
  }

  child.stdout?.on('data', (chunk: Buffer) => {
    if (isOver) return
    bytes += chunk.length
    if (bytes > maxOutputBytes) return settle({ kind: 'overflowed' })
    call.onOutput(decoder.write(chunk))
    takeTurns(child)
  })
  child.stderr?.setEncoding('utf8').on('data', tail.write)
  // Whoever closes a pipe early has read enough; how it ends says the rest.
  for (const stream of child.stdio) stream?.on('error', () => {})
  child.on('error', (error) => settle({ kind: 'not-started', error }))
  child.once('exit', () => {
    if (!isOver) look(bytes, 1)
  })
  child.once('close', () => {
    if (!isOver) settleExited()
  })
  signal.addEventListener('abort', abort)
  child.stdin?.end(call.input)
  return promise
}
