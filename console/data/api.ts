/**
 * Asks the admin API. A sign-in has two halves: a cookie that scripts cannot read, and a key that this page keeps, because a browser sends
 * the cookie to every port of the host. An answer of 401 ends the session here too.
 */

import { signal } from '@preact/signals'

/** `unknown` until the first answer. */
export const session = signal<'unknown' | 'open' | 'none' | 'unreachable'>('unknown')

/** The signed-in user and their right. */
export interface Identity {
  readonly name: string
  readonly may: 'read' | 'operate' | 'configure'
}

export const identity = signal<Identity | undefined>(undefined)

const rights: readonly Identity['may'][] = ['read', 'operate', 'configure']

/** True if the signed-in user has this right or a higher one. */
export function mayDo(needed: Identity['may']): boolean {
  const { may = 'read' } = identity.value ?? {}
  return rights.indexOf(may) >= rights.indexOf(needed)
}

/** Each port has a storage of its own, which all tabs share. */
const keyName = 'reveille-sign-in'

export function saveKey(key: string | undefined): void {
  if (key === undefined) localStorage.removeItem(keyName)
  else localStorage.setItem(keyName, key)
}

/** The headers that let a request in. */
export function sessionHeaders(): Readonly<Record<string, string>> {
  const key = localStorage.getItem(keyName)
  return key === null ? {} : { 'x-reveille-key': key }
}

export interface FieldError {
  readonly pointer: string
  readonly message: string
}

/** An answer of the API that is no success, or none at all: then `status` is 0. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly details: readonly FieldError[]
  readonly requestId: string | undefined
  /** The whole answer, for those that say more, as a refused reload does. */
  readonly body: unknown

  constructor(status: number, body: unknown) {
    const { error, code, details, requestId } = (isObject(body) ? body : {}) as Record<string, unknown>
    super(typeof error === 'string' ? error : `The gateway answered ${status}.`)
    this.status = status
    this.code = typeof code === 'string' ? code : ''
    this.details = Array.isArray(details) ? details : []
    this.requestId = typeof requestId === 'string' ? requestId : undefined
    this.body = body
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

interface AskOptions {
  readonly query?: Query
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** Asks below `/api`. @throws ApiError */
export async function callApi<Answer>(
  method: Method,
  path: string,
  options: AskOptions = {},
): Promise<Answer> {
  const response = await send(method, path, options)
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

export const get = <Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> =>
  callApi<Answer>('GET', path, { query, signal })

export const post = <Answer>(path: string, body?: unknown, query?: Query): Promise<Answer> =>
  callApi<Answer>('POST', path, { body, query })

/** Asks for something that is saved as it is. @throws ApiError */
export async function getBlob(path: string): Promise<Blob> {
  return (await send('GET', path, {})).blob()
}

/** Asks for something that is shown as text, whatever it holds. Reads no more than `maxBytes` bytes. @throws ApiError */
export async function getText(
  path: string,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const response = await send('GET', path, { signal })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { text: new TextDecoder().decode(bytes.subarray(0, maxBytes)), isCut: bytes.length > maxBytes }
}

async function send(
  method: Method,
  path: string,
  { query = {}, body, signal }: AskOptions,
): Promise<Response> {
  const present = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(present.map(([name, value]) => [name, String(value)]))
  const response = await fetch(`/api${path}${search.size === 0 ? '' : `?${search}`}`, {
    method,
    signal,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...sessionHeaders() },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    const sentence = 'The gateway cannot be reached. It may be restarting.'
    throw new ApiError(0, { error: sentence, code: 'UNREACHABLE' })
  })
  if (response.ok) return response
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.status === 401 && path !== '/session') session.value = 'none'
  throw new ApiError(response.status, answer)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
