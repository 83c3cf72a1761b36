/** Says where and of what the figures are. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { BenchError } from './bench-error.ts'
import { type Checkout, workFolder } from './server.ts'
import { userPath } from './start.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGigabytes: number
  readonly kernel: string
  readonly fileSystem: string
  readonly node: string
  /** The Node.js that commands are started with, which hands over to the other one if it is too old. */
  readonly nodeOfCommands: string
  readonly sqlite: string
}

/** @throws BenchError where the figures would say nothing, or cannot be had. */
export function describeMachine(): Machine {
  if (process.platform !== 'linux')
    throw new BenchError('The benchmark reads CPU time and memory from /proc, so it needs Linux.')
  const fileSystem = fileSystemOf(workFolder)
  if (fileSystem === 'tmpfs')
    throw new BenchError(`${workFolder} is in memory (tmpfs), where being durable costs nothing.`)
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryGigabytes: Math.round(os.totalmem() / 1e9),
    kernel: `${os.type()} ${os.release()}`,
    fileSystem,
    node: process.version,
    nodeOfCommands: nodeOfCommands(),
    sqlite: process.versions['sqlite'] ?? 'unknown',
  }
}

/** Returns the abbreviated commit, with a mark where files differ from it. */
export function commitOf({ root }: Checkout): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
    const dirty = git('status', '--porcelain') !== ''
    return `${git('rev-parse', '--short=8', 'HEAD')}${dirty ? ' with changes' : ''}`
  } catch {
    return 'unknown'
  }
}

export function fileSystemOf(folder: string): string {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, place = '-']) =>
      `${path.resolve(folder)}/`.startsWith(place.endsWith('/') ? place : `${place}/`),
    )
    .sort(([, one = ''], [, other = '']) => other.length - one.length)
  return mounts[0]?.[2] ?? 'unknown'
}

function nodeOfCommands(): string {
  try {
    const env = { ...process.env, PATH: userPath() }
    return execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()
  } catch {
    throw new BenchError('There is no `node` on the path, with which commands are started.')
  }
}
