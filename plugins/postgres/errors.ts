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

/** Message and advice for a connection that could not be opened, by SQLSTATE and by the codes of Node.js. */
const obstacles: Readonly<Record<string, (at: ClientConfig) => readonly [message: string, fix: string]>> = {
  '28P01': (at) => [
    `${serverAt(at)} refuses the password of the role ${at.user}`,
    at.password === undefined
      ? 'Write it into the address: postgres://user:password@host/database'
      : 'Correct it in the address. Characters such as @, / and % have to be written as %40, %2F and %25 there.',
  ],
  '28000': (at) => [
    `${serverAt(at)} does not let the role ${at.user} in`,
    at.ssl === false
      ? 'The role has to exist, and pg_hba.conf has to let it in. Where it does so only over TLS, add sslmode=verify-full to the address.'
      : 'The role has to exist, and pg_hba.conf has to let it in from this machine.',
  ],
  '3D000': (at) => [
    `${serverAt(at)} has no database ${at.database}`,
    `Create it: CREATE DATABASE ${at.database} OWNER ${at.user}; or correct its name in the address.`,
  ],
  '42501': (at) => [
    `${serverAt(at)} does not let the role ${at.user} connect to the database ${at.database}`,
    `Allow it: GRANT CONNECT ON DATABASE ${at.database} TO ${at.user};`,
  ],
  '53300': (at) => [
    `${serverAt(at)} has no connection left for the role ${at.user}`,
    `Raise max_connections there, or the limit of the role or the database. A node needs ${maxConnections}.`,
  ],
  '57P03': (at) => [`${serverAt(at)} is starting, stopping or recovering`, 'Try again in a moment.'],
  ENOTFOUND: ({ host }) => [
    `the host ${host} is unknown`,
    'Correct its name in the address, or make it known to this machine.',
  ],
  ECONNREFUSED: ({ host, port }) => [
    `nothing takes connections at ${host}:${port}`,
    'Start the database, or correct host and port in the address.',
  ],
  ETIMEDOUT: (at) => [
    `${serverAt(at)} does not answer`,
    'Correct host and port in the address, or open the way to it: a firewall may be in between.',
  ],
  busy: (at) => [
    `all connections to ${serverAt(at)} are in use`,
    'Find out what the database is slow at, or which lock it waits for.',
  ],
  unencrypted: (at) => [
    `${serverAt(at)} does not encrypt connections`,
    'Switch TLS on there (ssl = on), or add sslmode=disable to the address if the network is encrypted.',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: (at) => [
    `the certificate of ${serverAt(at)} does not name ${at.host}`,
    'Write the host into the address as the certificate names it.',
  ],
  CERT_HAS_EXPIRED: (at) => [`the certificate of ${serverAt(at)} has expired`, 'Renew it on the server.'],
  untrusted: (at) => [
    `the certificate of ${serverAt(at)} is not signed by an authority that is trusted here`,
    'Name the file of the authority in the address: sslrootcert=/path/ca.pem',
  ],
}

/** Codes and words that mean the same as one of `obstacles`. */
const alike: Readonly<Record<string, keyof typeof obstacles>> = {
  EAI_AGAIN: 'ENOTFOUND',
  ENOENT: 'ECONNREFUSED',
  EHOSTUNREACH: 'ETIMEDOUT',
  ENETUNREACH: 'ETIMEDOUT',
  'timeout expired': 'ETIMEDOUT',
  'Connection terminated due to connection timeout': 'ETIMEDOUT',
  'timeout exceeded when trying to connect': 'busy',
  'The server does not support SSL connections': 'unencrypted',
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string': '28P01',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
}

/** Says why a connection was not made. */
export function obstacleOf(error: unknown, at: ClientConfig): DriverError {
  if (isDriverError(error)) return error
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const { code = '', message = '' } = first as NodeJS.ErrnoException
  const obstacle = obstacles[alike[code] ?? alike[message] ?? code]?.(at)
  if (obstacle === undefined)
    return unavailable(`${serverAt(at)} cannot be used: ${reasonOf(error)}`, { cause: error })
  return unavailable(obstacle[0], { cause: error, fix: obstacle[1] })
}
