/** Checks that the files of a gateway belong to whoever runs it. */

import { shellWord } from '../../pasted.ts'
import { type Check, NotChecked, ok, problem, type Result } from '../check.ts'
import { type GuardedFile, guardedFiles } from '../guarded-files.ts'
import { listed } from '../listed.ts'

export const fileOwners: Check = {
  name: 'file-owners',
  group: 'files',
  title: 'owners',
  async run(subject) {
    const own = process.getuid?.()
    if (own === undefined) throw new NotChecked('NOT_POSIX', 'files have no owners of that kind on Windows')
    return judgeOwners(await guardedFiles(subject), own)
  },
}

const root = 0

/** Whose gateway it is, the data folder tells; what the operator writes may be root's as well. `own`: who asks. */
export function judgeOwners(files: readonly GuardedFile[], own: number): Result {
  const data = files.find(({ isData }) => isData)
  const owner = data?.stats.uid ?? own
  const strange = files.filter(({ isData, stats: { uid } }) => uid !== owner && (isData || uid !== root))
  if (strange.length === 0) {
    const user = owner === own ? 'you' : `user ${owner}`
    const others = files.some(({ stats: { uid } }) => uid !== owner) ? ' or to root' : ''
    return ok(`all of them belong to ${user}${others}`)
  }
  const whose = data === undefined ? 'you' : `whoever has ${data.shown}/ (user ${owner})`
  const names = strange.map(({ shown }) => shown)
  return problem(
    'OWNED_BY_ANOTHER',
    `${listed(names)} ${names.length === 1 ? 'does' : 'do'} not belong to ${whose}: the gateway may not read it, or somebody else may change it`,
    `As root: chown ${owner} ${names.map(shellWord).join(' ')}`,
  )
}
