/** Declares how a browser signs in and out. */

import { Type } from '@reveille/engine/schema'
import type { Routes } from './declaration.ts'
import { boundedText, time } from './schema.ts'

const holder = {
  name: Type.String({ description: 'Who has the token.' }),
  may: Type.Enum(['read', 'operate', 'configure'], { description: 'Each with all before it.' }),
}

export const accessRoutes = {
  signIn: {
    method: 'POST',
    path: '/session',
    needs: 'read',
    summary:
      'Signs a browser in for twelve hours: sets a cookie, and answers the key that the page sends as `x-reveille-key` with it.',
    body: Type.Object({ token: boundedText('The gateway token.', 1_024) }, { additionalProperties: false }),
    maxBodyBytes: 8_192,
    answers: {
      200: Type.Object({
        ok: Type.Literal(true),
        until: time,
        key: Type.String({ description: 'The half of the page.' }),
        ...holder,
      }),
    },
    isUndocumented: true,
  },
  readSignIn: {
    method: 'GET',
    path: '/session',
    needs: 'read',
    summary: 'Says who the token or the sign-in belongs to, and what it may do.',
    answers: { 200: Type.Object(holder) },
    isUndocumented: true,
  },
  signOut: {
    method: 'DELETE',
    path: '/session',
    needs: 'read',
    summary: 'Ends the sign-in, and removes the cookie.',
    answers: { 200: Type.Object({ ok: Type.Literal(true) }) },
    isUndocumented: true,
  },
} satisfies Routes
