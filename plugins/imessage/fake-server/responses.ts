/** Owns the shapes of BlueBubbles' answers. */

import type { FakeServerAnswer } from '@reveille/kit/fake-server'

export type ErrorType =
  | 'Authentication Error'
  | 'Validation Error'
  | 'Database Error'
  | 'iMessage Error'
  | 'Server Error'

const messages: Readonly<Record<ErrorType, string>> = {
  'Authentication Error': 'You are not authorized to access this resource',
  'Validation Error': "You've made a bad request! Please check your request params & body",
  'Database Error': 'The requested resource was not found',
  'iMessage Error': 'Message Send Error',
  'Server Error': 'An unhandled error has occurred!',
}

export function answer(message: string, data: unknown): FakeServerAnswer {
  return { status: 200, body: { status: 200, message, data } }
}

export function refuse(status: number, type: ErrorType, message: string, data?: object): FakeServerAnswer {
  const error = { type, message }
  return { status, body: { status, message: messages[type], error, ...(data !== undefined && { data }) } }
}
