/** Reads from Linux what a process cost: the CPU time of each thread, and resident memory. */

import { readdirSync, readFileSync } from 'node:fs'

/** Nanoseconds on a core by thread, and of the whole process with the threads that have ended. */
interface CpuReading {
  readonly threads: ReadonlyMap<string, { readonly kind: ThreadKind; readonly ns: number }>
  readonly ticks: number
}

export const threadKinds = ['main', 'store writer', 'evaluator', 'V8 workers', 'others'] as const
export type ThreadKind = (typeof threadKinds)[number]

/** Microseconds. */
export type CpuTime = Readonly<Record<ThreadKind, number>>

/** The kernel counts the time of a whole process in hundredths of a second. */
const microsecondsPerTick = 10_000

/** Returns a function that returns the CPU time of the process since this call. */
export function startCpuCount(pid: number): () => CpuTime {
  const before = readCpu(pid)
  return () => {
    const after = readCpu(pid)
    const time = { main: 0, 'store writer': 0, evaluator: 0, 'V8 workers': 0, others: 0 }
    let counted = 0
    for (const [id, { kind, ns }] of after.threads) {
      const spent = (ns - (before.threads.get(id)?.ns ?? 0)) / 1000
      time[kind] += spent
      counted += spent
    }
    // The time of a thread that ended meanwhile is only in the total of the process, which is rounded.
    const ended = (after.ticks - before.ticks) * microsecondsPerTick - counted
    if (ended > 2 * microsecondsPerTick) time.others += ended
    return time
  }
}

function readCpu(pid: number): CpuReading {
  const folder = `/proc/${pid}/task`
  const ids = readdirSync(folder).sort((a, b) => Number(a) - Number(b))
  const names = ids.map((id) => readFileSync(`${folder}/${id}/comm`, 'utf8').trim())
  // Before threads had names, the writer's was the first worker that a gateway started.
  const writer = names.includes('store writer') ? -1 : names.indexOf('WorkerThread')
  const threads = ids.map((id, index) => {
    const ns = Number(readFileSync(`${folder}/${id}/schedstat`, 'utf8').split(' ')[0])
    const kind =
      id === String(pid) ? 'main' : index === writer ? 'store writer' : kindOf(names[index] as string)
    return [id, { kind, ns }] as const
  })
  // The name of a process may hold spaces and brackets, so fields are counted from behind it.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { threads: new Map(threads), ticks: Number(fields[11]) + Number(fields[12]) }
}

function kindOf(name: string): ThreadKind {
  if (name === 'V8Worker') return 'V8 workers'
  return threadKinds.find((kind) => kind === name) ?? 'others'
}

/** Microseconds of CPU of a process since its start. */
export function cpuSinceStart(pid: number): number {
  return [...readCpu(pid).threads.values()].reduce((total, { ns }) => total + ns / 1000, 0)
}

/** Microseconds of CPU of this process so far. */
export function processCpu(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Microseconds of CPU of the ended children of this process so far, in steps of ten milliseconds. */
export function childrenCpu(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * microsecondsPerTick
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
  return busy * microsecondsPerTick - processCpu() - childrenCpu()
}

/** Resident memory in millions of bytes. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return (Number(kilobytes) * 1024) / 1_000_000
}
