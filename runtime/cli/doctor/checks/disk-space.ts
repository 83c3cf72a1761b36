/** Checks how much space is free on the disk of the data folder. */

import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import path from 'node:path'
import { type Check, ok, type Result, warning } from '../check.ts'

const leastBytes = 1_000_000_000
const leastShare = 0.05

export const diskSpace: Check = {
  name: 'disk-space',
  group: 'machine',
  title: 'disk',
  async run(subject) {
    const { dataDir } = subject.settings().gateway
    const { bsize, bavail, blocks } = await statfsNear(dataDir)
    return judgeSpace({ free: bsize * bavail, total: bsize * blocks })
  },
}

export function judgeSpace({ free, total }: { readonly free: number; readonly total: number }): Result {
  const share = total > 0 ? free / total : 1
  const text = `${sizeText(free)} free, ${Math.floor(share * 100)} %`
  if (free >= leastBytes && share >= leastShare) return ok(text)
  return warning(
    'DISK_NEARLY_FULL',
    `${text}: without room nothing is accepted`,
    'Make room, or keep less: `history.keep` and `history.bodies` say how much',
  )
}

/** Asks about the folder, or about the one that it will be created in. */
async function statfsNear(folder: string): Promise<StatsFs> {
  try {
    return await statfs(folder)
  } catch (error) {
    const parent = path.dirname(folder)
    if (parent === folder || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return statfsNear(parent)
  }
}

function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1000 ** unit
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}
