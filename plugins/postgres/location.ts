/** Reads the address of a database. */

import { readFileSync } from 'node:fs'
import type { DriverError } from '@reveille/kit'
import type { ClientConfig } from 'pg'
import { unavailable } from './errors.ts'

/**
 * Makes the settings of a connection for each host of an address. Connections are encrypted and the server's certificate is verified,
 * except on this machine and where the address says `sslmode=disable`.
 * @throws DriverError `UNAVAILABLE`
 */
export function parseLocation(location: string): ClientConfig[] {
  const [, hosts = ''] = /^postgres(?:ql)?:\/\/(?:[^@/?#]*@)?([^/?#]*)/.exec(location) ?? []
  // The rest of a password must not be shown as a host or a parameter.
  const rest = location.slice(location.indexOf(hosts) + hosts.length)
  if (hosts.includes('@') || /[/#][^?]*@|[?&][^=&]*@/.test(rest))
    throw unreadable('Characters such as @, / and ? in a password have to be written as %40, %2F and %3F.')
  return hosts.split(',').map((host) => configOf(location, hosts, host))
}

function configOf(location: string, hosts: string, host: string): ClientConfig {
  const url = URL.parse(location.replace(hosts, () => host))
  if (url === null) throw unreadable('Write it as postgres://user:password@host:5432/database')
  const parameters = url.searchParams
  for (const [name, value] of parameters) checkParameter(name, value)
  const name = parameters.get('host') ?? decodeURIComponent(url.hostname).replace(/^\[|\]$/g, '')
  const isNear = name === '' || name.startsWith('/') || isLoopback(name)
  const root = parameters.get('sslrootcert')
  const mode = parameters.get('sslmode') ?? (isNear && root === null ? 'disable' : 'verify-full')
  return {
    host: name || '127.0.0.1',
    port: Number(url.port || 5432),
    user: decoded(url.username) || 'postgres',
    ...(url.password !== '' && { password: decoded(url.password) }),
    database: decoded(url.pathname.slice(1)) || 'postgres',
    ssl:
      mode === 'disable'
        ? false
        : { rejectUnauthorized: true, ...(root !== null && { ca: certificate(root) }) },
  }
}

/** The parameters that an address may have, with their values; none where any text is good. */
const knownParameters: Readonly<Record<string, readonly string[]>> = {
  sslmode: ['verify-full', 'disable'],
  sslrootcert: [],
  host: [],
  // Only a server that can be written to is of use.
  target_session_attrs: ['read-write', 'primary'],
}

function checkParameter(name: string, value: string): void {
  const allowed = knownParameters[name]
  if (allowed === undefined)
    throw unavailable(`the address of the database has the unknown parameter ${name}`, {
      fix: `It may have ${Object.keys(knownParameters).join(', ')}.`,
    })
  if (allowed.length > 0 && !allowed.includes(value))
    throw unavailable(`the address of the database has ${name}=${value}`, {
      fix: `It may be ${allowed.join(' or ')}.`,
    })
}

function unreadable(fix: string): DriverError {
  return unavailable('the address of the database cannot be read', { fix })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw unreadable('A % that is meant as such has to be written as %25.')
  }
}

function certificate(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unavailable(`the file of sslrootcert cannot be read: ${(error as Error).message}`, {
      cause: error,
      fix: 'Name a file with the certificate of the authority in PEM.',
    })
  }
}

function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}
