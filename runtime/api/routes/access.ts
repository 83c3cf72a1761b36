/** Declares how a browser signs in and out. */

import type { Routes } from './declaration.ts'
import { closedObject, exactly, givenText, object, time } from './schema.ts'

export const accessRoutes = {
  signIn: {
    method: 'POST',
    path: '/session',
    summary: 'Sets the cookie that stands for the gateway token for twelve hours.',
    body: closedObject({ token: givenText('The gateway token.', 1_024) }),
    mostBodyBytes: 8_192,
    answers: { 200: object({ ok: exactly(true), until: time }) },
    isUndocumented: true,
  },
  signOut: {
    method: 'DELETE',
    path: '/session',
    summary: 'Removes the cookie.',
    answers: { 200: object({ ok: exactly(true) }) },
    isUndocumented: true,
  },
} satisfies Routes
