/**
 * Runs one program from its start to its end, as the turn sees it. Its process group may take longer to end: the turn does not
 * wait for that, but the next turn of the session and the closing of the plugin do.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { withoutColours } from '../output/colours.ts'
import { createProcessGroup, type ProcessGroup } from './group.ts'

const maxLines = 20
const maxCharacters = 2048

function createTail() {
  let last = ''
  return {
    write(chunk: string) {
      // Twice the length is stored, because colours and blank lines are removed at the end.
      last = (last + chunk).slice(-2 * maxCharacters)
    },
    /** Returns the last lines, without colours and blank lines. */
    text() {
      const lines = withoutColours(last)
        .split(/\r?\n/)
        .map((line) => line.trimEnd())
        .filter((line) => line !== '')
      return lines.slice(-maxLines).join('\n').slice(-maxCharacters)
    },
  }
}

export interface ProgramCall {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The standard input; undefined if it is empty. */
  readonly input: string | undefined
  /** Maximum bytes of standard output; a program that prints more is stopped. */
  readonly maxOutputBytes: number
  /** The milliseconds between TERM and KILL. */
  readonly graceMs: number
  readonly isWindows: boolean
  readonly signal: AbortSignal
  readonly onOutput: (chunk: string) => void
}

export type ProgramEnd =
  /** The program ended; `stderr` is the end of its standard error. */
  | {
      readonly kind: 'exited'
      readonly code: number | null
      readonly signal: string | null
      readonly stderr: string
    }
  | { readonly kind: 'overflowed' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'not-started'; readonly error: NodeJS.ErrnoException }

export interface Program {
  /** Never rejects. */
  readonly ended: Promise<ProgramEnd>
  /** The process group; absent if the program was never started. */
  readonly group?: ProcessGroup
}

/** Milliseconds without output after which a pipe that a grandchild keeps open is abandoned. */
const quietMs = 100
/** Maximum number of checks of that pipe, even if output continues. */
const maxLooks = 10

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

/** Reads one chunk at a time and yields in between, since a system delivers up to two megabytes at once. */
function yieldToEventLoop({ stdout }: ChildProcess): void {
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
    settle({ kind: 'exited', code: child.exitCode, signal: child.signalCode, stderr: tail.text() })
  }

  function look(seen: number, looks: number): void {
    looking = setTimeout(() => {
      if (bytes === seen || looks === maxLooks) settleExited()
      else look(bytes, looks + 1)
    }, quietMs)
  }

  child.stdout?.on('data', (chunk: Buffer) => {
    if (isOver) return
    bytes += chunk.length
    if (bytes > maxOutputBytes) return settle({ kind: 'overflowed' })
    call.onOutput(decoder.write(chunk))
    yieldToEventLoop(child)
  })
  child.stderr?.setEncoding('utf8').on('data', tail.write)
  // A program that closes a pipe early has read enough, and its exit code reports the rest.
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
