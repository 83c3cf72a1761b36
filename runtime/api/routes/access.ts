/** Declares how a browser signs in and out. */

import type { Routes } from './declaration.ts'
import { closedObject, exactly, givenText, object, oneOf, text, time } from './schema.ts'

const holder = {
  name: text('Who has the token.'),
  may: oneOf(['read', 'operate', 'configure'], 'Each with all before it.'),
}

export const accessRoutes = {
  signIn: {
    method: 'POST',
    path: '/session',
    needs: 'read',
    summary:
      'Signs a browser in for twelve hours: sets a cookie, and answers the key that the page sends as `x-reveille-key` with it.',
    body: closedObject({ token: givenText('The gateway token.', 1_024) }),
    maxBodyBytes: 8_192,
    answers: {
      200: object({ ok: exactly(true), until: time, key: text('The half of the page.'), ...holder }),
    },
    isUndocumented: true,
  },
  readSignIn: {
    method: 'GET',
    path: '/session',
    needs: 'read',
    summary: 'Says who the token or the sign-in belongs to, and what it may do.',
    answers: { 200: object(holder) },
    isUndocumented: true,
  },
  signOut: {
    method: 'DELETE',
    path: '/session',
    needs: 'read',
    summary: 'Ends the sign-in, and removes the cookie.',
    answers: { 200: object({ ok: exactly(true) }) },
    isUndocumented: true,
  },
} satisfies Routes
