/** Checks that other users cannot read what is secret, nor change what the gateway does. */

import { shellWord } from '../../pasted.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import { type GuardedFile, guardedFiles } from '../guarded-files.ts'
import { listed } from '../listed.ts'
import { NotChecked } from '../not-checked.ts'

export const fileModes: Check = {
  name: 'file-modes',
  group: 'files',
  title: 'modes',
  async run(subject) {
    if (process.platform === 'win32') throw new NotChecked('NOT_POSIX', 'files have no modes on Windows')
    const files = await guardedFiles(subject)
    const results = judgeModes(files)
    return results.length > 0 ? results : ok('other users cannot read what is secret, or change what is run')
  },
}

function judgeModes(files: readonly GuardedFile[]): readonly Result[] {
  const withBits = (bits: number) => (file: GuardedFile) => (file.stats.mode & bits) !== 0
  const secret = files.filter(({ isSecret }) => isSecret)
  const readable = secret.filter(withBits(0o004))
  const byGroup = secret.filter((file) => withBits(0o040)(file) && !readable.includes(file))
  const writable = files.filter((file) => withBits(0o002)(file) && !readable.includes(file))
  return [
    ...resultsFor(readable, problem, 'READABLE_BY_OTHERS', 'everybody on this machine can read'),
    ...resultsFor(byGroup, warning, 'READABLE_BY_GROUP', 'others of its group can read'),
    ...resultsFor(writable, problem, 'WRITABLE_BY_OTHERS', 'everybody on this machine can change'),
  ]
}

function resultsFor(
  files: readonly GuardedFile[],
  report: typeof problem,
  code: string,
  message: string,
): Result[] {
  if (files.length === 0) return []
  const [first] = files
  const names = files.map(({ shown, isFolder }) => (isFolder ? `${shown}/` : shown))
  // Closing a folder closes the files in it.
  const outer = files.filter(({ shown }) => !files.some((other) => shown.startsWith(`${other.shown}/`)))
  const isRecursive = outer.length < files.length || first?.isFolder
  const bits = code === 'WRITABLE_BY_OTHERS' ? 'o-w' : 'go-rwx'
  const command = `chmod ${isRecursive ? '-R ' : ''}${bits} ${outer.map(({ shown }) => shellWord(shown)).join(' ')}`
  return [report(code, `${message} ${listed(names)}`, command)]
}
