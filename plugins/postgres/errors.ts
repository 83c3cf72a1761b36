/** Says what an error of PostgreSQL means. No message holds a value of a statement or the password. */

import { DriverError, isDriverError } from '@reveille/kit'
import type { ClientConfig } from 'pg'

/** A description that may be shown to anyone. */
const brief = 'the database does not answer'

/** Maximum number of connections that a node opens: those of its pool, and the one that listens. */
export const maxConnections = 9

export function unavailable(
  message: string,
  options: { readonly cause?: unknown; readonly fix?: string | undefined } = {},
): DriverError {
  return new DriverError('UNAVAILABLE', message, { brief, ...options })
}

/** Returns the SQLSTATE of an error that the server answered. */
export function stateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'severity' in error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** An error of our own code, such as a TypeError, says nothing about the connection. */
function isOurs(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  )
}

/**
 * Returns whether the connection is of no more use: it broke, the server ends it or can no longer be written to, or it holds a
 * plan for a table that a migration has changed since.
 */
export function isLost(error: unknown): boolean {
  if (error === undefined) return false
  const state = stateOf(error)
  if (state === undefined) return !isOurs(error) && !isDriverError(error)
  return (
    state.startsWith('08') || state.startsWith('57P') || ['25006', '25P03', '25P04', '0A000'].includes(state)
  )
}

/** Returns whether transactions collided: a deadlock, or a serialisation failure. */
export function isCollision(error: unknown): boolean {
  const state = stateOf(error)
  return state === '40001' || state === '40P01'
}

export const grants =
  'As the owner: GRANT USAGE ON SCHEMA reveille, and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA reveille, to this role.'

const sentences: Readonly<Record<string, readonly [message: string, fix?: string]>> = {
  '57014': ['the database took too long for a statement'],
  '55P03': ['another transaction holds what this one waits for, for too long'],
  '42501': ['the database role lacks a privilege', grants],
  '42P01': ['a table of the store is missing in the database'],
  '3F000': ['the schema reveille is missing in the database'],
}

/** Makes the error that a caller gets. */
export function driverErrorOf(error: unknown): DriverError {
  if (isDriverError(error)) return error
  const state = stateOf(error)
  if (state === '53100')
    return new DriverError('FULL', "the database's disk is full", { cause: error, brief: 'its disk is full' })
  const [message, fix] = sentences[state ?? ''] ?? []
  if (message !== undefined) return unavailable(message, { cause: error, fix })
  if (isRefusal(error, state)) {
    const reason = state === '23505' ? 'an id or a key of it is taken' : reasonOf(error)
    return new DriverError('REFUSED', `the database refuses this entry: ${reason}`, { cause: error })
  }
  if (isLost(error))
    return unavailable(`the connection to the database was lost: ${reasonOf(error)}`, { cause: error })
  return unavailable(`the database cannot be used: ${reasonOf(error)}`, { cause: error })
}

/** Values that do not fit, keys that are taken, and statements that are wrong. */
function isRefusal(error: unknown, state: string | undefined): boolean {
  return state === undefined ? isOurs(error) : ['22', '23', '42', '54'].includes(state.slice(0, 2))
}

/** Only the reasons of the operating system and of the client are shown: what a server says may quote values. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const state = stateOf(error)
  return state === undefined ? (first instanceof Error ? first.message : error.message) : `SQLSTATE ${state}`
}

function serverAt({ host, port }: ClientConfig): string {
  return `the server at ${host}:${port}`
}

export function tooOld(at: ClientConfig, version: number, minVersion: number): DriverError {
  return unavailable(`${serverAt(at)} is PostgreSQL ${version}, and the store needs ${minVersion} or newer`, {
    fix: 'Upgrade the server, or name another one.',
  })
}

export function readOnly(at: ClientConfig): DriverError {
  return unavailable(`${serverAt(at)} can only be read from: it is a standby, or was made read-only`, {
    fix: 'Name the primary, or all hosts, of which the first that can be written to is taken: postgres://user@host1,host2/database',
  })
}

const password =
  'Correct the password in the address, postgres://user:password@host/database. Characters such as @, / and % have to be written as %40, %2F and %25 there.'

/** Advice for a connection that could not be opened, by SQLSTATE, by the codes of Node.js and by the messages of the client. */
const advice: Readonly<Record<string, string>> = {
  '28P01': password,
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string': password,
  '28000':
    'The role has to exist, and pg_hba.conf has to let it in from this machine. Where it does so only over TLS, add sslmode=verify-full to the address.',
  '3D000': 'Create it: CREATE DATABASE … OWNER …; or correct its name in the address.',
  '42501': 'Allow it: GRANT CONNECT ON DATABASE … TO …;',
  '53300': `Raise max_connections there, or the limit of the role or the database. A node needs ${maxConnections}.`,
  '57P03': 'Try again in a moment.',
  ENOTFOUND: 'Correct the name of the host in the address, or make it known to this machine.',
  ECONNREFUSED: 'Start the database, or correct host and port in the address.',
  ETIMEDOUT: 'Correct host and port in the address, or open the way to it: a firewall may be in between.',
  CERT_HAS_EXPIRED: 'Renew it on the server.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Write the host into the address as the certificate names it.',
  'timeout exceeded when trying to connect':
    'Find out what the database is slow at, or which lock it waits for.',
  'The server does not support SSL connections':
    'Switch TLS on there (ssl = on), or add sslmode=disable to the address if the network is encrypted.',
}

/** What Node.js says of a certificate that no known authority has signed. */
const untrusted = /^(DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_)/

/** Says why a connection was not made. What the server says before that quotes no values. */
export function obstacleOf(error: unknown, at: ClientConfig): DriverError {
  if (isDriverError(error)) return error
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const { code = '', message = '' } = first as NodeJS.ErrnoException
  const fix = untrusted.test(code)
    ? 'Name the file of the authority in the address: sslrootcert=/path/ca.pem'
    : (advice[code] ?? advice[message])
  return unavailable(`${serverAt(at)} cannot be used: ${message || code}`, { cause: error, fix })
}
