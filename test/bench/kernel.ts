/** Reads from Linux what a process cost: the CPU time of each thread, and resident memory. */

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const threadKinds = ['main', 'store writer', 'evaluator', 'V8 workers', 'others'] as const

/** Microseconds. */
export type CpuTime = Readonly<Record<(typeof threadKinds)[number], number>>

/** The kernel counts the time of a whole process in hundredths of a second. */
const microsecondsPerTick = 10_000

/** Returns a function that returns the CPU time of the process since this call. */
export function startCpuCount(pid: number): () => CpuTime {
  const before = readCpu(pid)
  return () => {
    const after = readCpu(pid)
    const time = { main: 0, 'store writer': 0, evaluator: 0, 'V8 workers': 0, others: 0 }
    let counted = 0
    for (const [id, { kind, us }] of after.threads) {
      const spent = us - (before.threads.get(id)?.us ?? 0)
      time[kind] += spent
      counted += spent
    }
    // The time of a thread that ended meanwhile is only in the total of the process, which is rounded.
    const ended = after.total - before.total - counted
    if (ended > 2 * microsecondsPerTick) time.others += ended
    return time
  }
}

function readCpu(pid: number) {
  const folder = `/proc/${pid}/task`
  const threads = readdirSync(folder).map((id) => {
    const name = readFileSync(`${folder}/${id}/comm`, 'utf8').trim().replace('V8Worker', 'V8 workers')
    const us = Number(readFileSync(`${folder}/${id}/schedstat`, 'utf8').split(' ')[0]) / 1000
    const kind = id === String(pid) ? 'main' : (threadKinds.find((each) => each === name) ?? 'others')
    return [id, { kind, us }] as const
  })
  const [, , , , , , , , , , , user, system] = statOf(pid)
  return { threads: new Map(threads), total: (Number(user) + Number(system)) * microsecondsPerTick }
}

/** The fields of a process behind its name, which may hold spaces and brackets: state, parent, … */
function statOf(pid: number | 'self'): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Microseconds of CPU of a process since its start. */
export function cpuSinceStart(pid: number): number {
  return [...readCpu(pid).threads.values()].reduce((total, { us }) => total + us, 0)
}

/** Microseconds of CPU of this process so far. */
export function processCpu(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/**
 * Returns a function that returns how many cores, on average since this call, were taken by what is neither this process nor one of its ended
 * children. The kernel's own threads count too.
 */
export function startForeignCount(): () => number {
  const start = performance.now()
  const before = foreignCpu()
  return () => (foreignCpu() - before) / ((performance.now() - start) * 1000)
}

/** Microseconds that all cores were busy for others. */
function foreignCpu(): number {
  const [total = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  // cpu user nice system idle iowait irq softirq steal; a guest's time is in the user's.
  const [, user, nice, system, , , irq, softirq] = total.split(/\s+/).map(Number)
  const busy = [user, nice, system, irq, softirq].reduce((sum: number, ticks) => sum + (ticks ?? 0), 0)
  const [, , , , , , , , , , , , , childrenUser, childrenSystem] = statOf('self')
  const children = Number(childrenUser) + Number(childrenSystem)
  return (busy - children) * microsecondsPerTick - processCpu()
}

/** Resident memory in millions of bytes. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return (Number(kilobytes) * 1024) / 1_000_000
}

/** The kind of file system that a folder is on. */
export function fileSystemOf(folder: string): string {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, mount = '-']) =>
      `${path.resolve(folder)}/`.startsWith(mount.endsWith('/') ? mount : `${mount}/`),
    )
    .sort(([, one = ''], [, other = '']) => other.length - one.length)
  return mounts[0]?.[2] ?? 'unknown'
}
