/** Checks that the files of a gateway belong to the user who runs it. */

import { shellWord } from '../../pasted.ts'
import { type Check, ok, problem, type Result } from '../check.ts'
import { askingUser, gatewayUser } from '../gateway-user.ts'
import { type GuardedFile, guardedFiles } from '../guarded-files.ts'
import { listed } from '../listed.ts'

export const fileOwners: Check = {
  name: 'file-owners',
  group: 'files',
  title: 'owners',
  async run(subject) {
    const asking = askingUser()
    const { uid } = await gatewayUser(subject, asking)
    return judgeOwners(await guardedFiles(subject), uid, asking.uid)
  },
}

const root = 0

/** `owner` is the user of the gateway, `own` the one who asks. Files that the operator writes may be root's as well. */
export function judgeOwners(files: readonly GuardedFile[], owner: number, own: number): Result {
  const strange = files.filter(({ isData, stats: { uid } }) => uid !== owner && (isData || uid !== root))
  if (strange.length === 0) {
    const user = owner === own ? 'you' : `user ${owner}`
    const others = files.some(({ stats: { uid } }) => uid !== owner) ? ' or to root' : ''
    return ok(`all of them belong to ${user}${others}`)
  }
  const data = files.find(({ isData }) => isData)
  const user = `the owner of ${data === undefined ? 'the folder' : `${data.shown}/`} (user ${owner})`
  const whose = data === undefined && owner === own ? 'you' : user
  const names = strange.map(({ shown }) => shown)
  return problem(
    'OWNED_BY_ANOTHER',
    `${listed(names)} ${names.length === 1 ? 'does' : 'do'} not belong to ${whose}: the gateway may not read it, or another user may change it`,
    `As root: chown ${owner} ${names.map(shellWord).join(' ')}`,
  )
}
