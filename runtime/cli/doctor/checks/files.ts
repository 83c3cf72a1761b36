/** Checks that the files of a gateway can be read here, and that other users can neither read what is secret nor change what is run. */

import { access, constants, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { isSecretKey } from '@reveille/engine'
import { shownPath } from '../../configuration.ts'
import { listed, shellWord } from '../../print.ts'
import { type Check, orOk, problem, type Subject, warning } from '../check.ts'
import { NotChecked } from '../gateway-view.ts'

export const fileChecks: readonly Check[] = [
  { name: 'file-access', group: 'files', title: 'readable', run: fileAccess },
  { name: 'file-modes', group: 'files', title: 'modes', run: fileModes },
]

/** Tries to read every file that configures the gateway, and to write into its data folder. */
async function fileAccess({ compiled, file, settings, io }: Subject) {
  const { dataDir } = settings().gateway
  const watched = compiled.ok ? compiled.configuration.watched : compiled.watched
  const files = [file, path.join(path.dirname(file), '.env'), ...watched]
  const failed = await Promise.all([
    ...[...new Set(files)].map((each) => refusal(each, constants.R_OK)),
    refusal(dataDir, constants.R_OK | constants.W_OK | constants.X_OK),
  ])
  const results = failed
    .filter((each) => each !== undefined)
    .map(({ target, code }) => {
      const fix = `Run it as the user of the gateway; as root, \`chown\` gives that user the file: chown USER ${shellWord(target)}`
      return problem('FILE_UNREADABLE', `${shownPath(target, io)}: ${code}`, fix)
    })
  return orOk(results, 'this user can read all of them')
}

async function refusal(target: string, mode: number) {
  try {
    await access(target, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Loading reports what is missing and has to be there.
    return code === 'ENOENT' ? undefined : { target, code }
  }
  return undefined
}

/** Checks that other users cannot read what is secret, nor change what the gateway does. */
async function fileModes({ file, settings, io }: Subject) {
  if (process.platform === 'win32') throw new NotChecked('NOT_POSIX', 'files have no modes on Windows')
  const { gateway, hooks } = settings()
  const text = await readFile(file, 'utf8').catch(() => '')
  const secret = [
    path.join(path.dirname(file), '.env'),
    gateway.dataDir,
    ...(holdsSecret(text) ? [file] : []),
  ]
  const withBits = async (bits: number, targets: readonly string[]) => {
    const all = await Promise.all(
      targets.map(async (target) => ({ target, stats: await stat(target).catch(() => undefined) })),
    )
    return all
      .filter(({ stats }) => ((stats?.mode ?? 0) & bits) !== 0)
      .map(({ target }) => shownPath(target, io))
  }
  const byOthers = await withBits(0o004, secret)
  const byGroup = (await withBits(0o040, secret)).filter((each) => !byOthers.includes(each))
  const changeable = await withBits(0o002, [...secret, file, hooks.mappingsDir, hooks.transformsDir])
  const open = (
    report: typeof problem,
    code: string,
    who: string,
    targets: readonly string[],
    bits: string,
  ) =>
    targets.length === 0
      ? []
      : [report(code, `${who} ${listed(targets)}`, `chmod ${bits} ${targets.map(shellWord).join(' ')}`)]
  const found = [
    ...open(problem, 'READABLE_BY_OTHERS', 'everybody on this machine can read', byOthers, 'go-rwx'),
    ...open(warning, 'READABLE_BY_GROUP', 'others of its group can read', byGroup, 'go-rwx'),
    ...open(
      problem,
      'WRITABLE_BY_OTHERS',
      'everybody on this machine can change',
      [...new Set(changeable)],
      'o-w',
    ),
  ]
  return orOk(found, 'other users cannot read what is secret, or change what is run')
}

/** True if the text holds a secret itself, and not only the name of a variable. */
function holdsSecret(text: string): boolean {
  const pairs = text.matchAll(/([\w-]+)["']?:[ \t]*\[?[ \t]*["']?[^\s"',{}[\]#$]{8,}/g)
  return [...pairs].some(([, key = '']) => isSecretKey(key))
}
