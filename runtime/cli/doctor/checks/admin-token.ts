/** Checks that the running gateway accepts the token of the configuration. */

import { pasted } from '../../pasted.ts'
import { type Check, ok, problem, warning } from '../check.ts'

export const adminToken: Check = {
  name: 'admin-token',
  group: 'gateway',
  title: 'admin',
  async run(subject) {
    if (subject.settings().gateway.tokens.length === 0) {
      return warning(
        'NO_ADMIN_TOKEN',
        'what happened cannot be read: there is no `gateway.auth.token`',
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
          subject.gateway().pid === undefined
            ? `Another gateway may listen there, or one that has not read them: start it again, or ${pasted('check', subject.io)}`
            : `It has not read them since the token was changed, or refused them: \`kill -HUP ${subject.gateway().pid}\` has it read them, and ${pasted('check', subject.io)} says what it would refuse`,
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
