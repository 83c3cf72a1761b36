/**
 * A real file system whose disk runs out of space for a while, as a thinly provisioned volume does: ext4 in an image on a loop device,
 * and the image is a sparse file on a tmpfs that is full. Writes to blocks that the image has not allocated fail at fsync; the
 * journal, which was allocated when the file system was made, goes on. Needs root and loop devices.
 */

import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export interface FailingDisk {
  /** Its name in a report. */
  readonly name: string
  readonly folder: string
  /** For the processes that use it. */
  readonly env: Record<string, string>
  /** From now on writes are lost, until `heal`. */
  fail(): void
  heal(): void
  /** Drops what the cache holds of these files, except for what is still to be written. */
  evict(...files: string[]): void
  /** Leaves what is on the disk, and nothing of what was only in the cache. No process uses it meanwhile. */
  losePower(): void
  remove(): void
}

const imageMiB = 256

/** Returns undefined where this machine has no loop devices, or not for this user. */
export function createThinDisk(): FailingDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'reveille-thin-'))
  const [backing, filler] = [join(folder, 'backing'), join(folder, 'backing', 'filler')]
  const disk = join(folder, 'disk')
  let image = join(backing, 'image')
  let device: string | undefined

  function mount(): void {
    device = run('losetup', '--find', '--show', image)
    // A write for which the image has room in part is reported as done by the loop device (Linux 6.18), and by no disk. One page fits
    // or it does not.
    writeFileSync(join('/sys/block', basename(device), 'queue/max_sectors_kb'), '4')
    run('mount', '-t', 'ext4', device, disk)
  }

  function unmount(): void {
    attempt('umount', disk)
    if (device !== undefined) attempt('losetup', '--detach', device)
    device = undefined
  }

  function remove(): void {
    unmount()
    attempt('umount', backing)
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    mkdirSync(backing)
    mkdirSync(disk)
    run('mount', '-t', 'tmpfs', '-o', `size=${3 * imageMiB}m`, 'tmpfs', backing)
    run('truncate', '--size', `${imageMiB}M`, image)
    run('mkfs.ext4', '-q', '-F', '-b', '4096', image)
    // Everything is allocated once, and then what is free is not: the journal and the tables of the file system always have room.
    run('fallocate', '--length', `${imageMiB}M`, image)
    mount()
    run('fstrim', disk)
  } catch {
    remove()
    return undefined
  }

  return {
    name: 'ext4 on a loop device',
    folder: disk,
    env: {},
    fail() {
      const file = openSync(filler, 'w')
      try {
        for (const block of [new Uint8Array(1 << 20), new Uint8Array(4096)]) fill(file, block)
      } finally {
        closeSync(file)
      }
    },
    heal: () => rmSync(filler, { force: true }),
    evict(...files) {
      for (const file of files)
        attempt('dd', `of=${file}`, 'oflag=nocache', 'conv=notrunc', 'count=0', 'status=none')
    },
    losePower() {
      const before = image
      image = `${before}-1`
      // The image as it is: what the file system has not written to its device is lost.
      run('cp', '--sparse=always', before, image)
      unmount()
      rmSync(before)
      mount()
    },
    remove,
  }
}

/** Writes until there is no space left. */
function fill(file: number, block: Uint8Array): void {
  try {
    for (;;) writeSync(file, block)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

function attempt(command: string, ...args: string[]): void {
  try {
    run(command, ...args)
  } catch {
    // A mount in use stays.
  }
}
