/** Checks that the running gateway takes the token of the configuration. */

import { pasted } from '../../pasted.ts'
import { type Check, ok, problem, warning } from '../check.ts'

export const adminToken: Check = {
  name: 'admin-token',
  group: 'gateway',
  title: 'admin',
  async run(subject) {
    const { token } = subject.settings().gateway
    if (token === undefined) {
      return warning(
        'NO_ADMIN_TOKEN',
        'nobody may read what happened: there is no `gateway.auth.token`',
        'Write `auth: { token: "${REVEILLE_GATEWAY_TOKEN}" }` under `gateway:`, and the variable into .env',
      )
    }
    const status = await subject.gateway().admission()
    switch (status) {
      case 200:
        return ok('the token is taken')
      case 401:
        return problem(
          'ADMIN_TOKEN_REFUSED',
          'the running gateway wants another token than `gateway.auth.token` of these files',
          `Another gateway may listen there, or one that has not read them: start it again, or ${pasted('check', subject.io)}`,
        )
      case 404:
        return problem(
          'NO_ADMIN_SURFACE',
          'the running gateway has no admin surface: what is live has no `gateway.auth.token`',
          'It goes live with the files; what keeps them back, the log of the gateway says',
        )
      default:
        return problem('ADMIN_ANSWER', `the running gateway answers ${status}`, 'Its log says why')
    }
  },
}
